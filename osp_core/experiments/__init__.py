"""Experiments anyone can rerun: each answers one question with a table and a figure.

>>> from osp_core import experiments
>>> result = experiments.run("tightness", quick=True)
>>> result.holds
True
"""

from __future__ import annotations

from importlib import import_module

from osp_core.errors import UnknownNameError, as_count
from osp_core.experiments.result import ExperimentResult

_MODULES = {
    "regret_vs_bound": "regret against bound, over rounds and seeds",
    "exploration_gap": "randomized decoding against uniform exploration, as the classes grow",
    "why_mix": "why the decoder mixes: nearest-only and random-only fail",
    "coverage": "how often the high-probability bounds hold",
    "online_to_batch": "the risk of the averaged weights, over rounds",
    "lower_bound": "measured regret against the floor no learner beats",
    "learners_compared": "four learners on stationary and drifting data",
    "tightness": "how tight the constant of Lemma 4 is",
}


def list_experiments() -> dict[str, str]:
    """Return the names of the experiments with the question each answers."""
    return dict(_MODULES)


def run(name: str, *, quick: bool = False, seed: int = 0) -> ExperimentResult:
    """Run an experiment.

    Parameters
    ----------
    name : str
        See `list_experiments`.
    quick : bool
        A version for tests: seconds instead of minutes, with fewer rounds and seeds.
    seed : int
        Of everything random in it.
    """
    if name not in _MODULES:
        raise UnknownNameError(f"There is no experiment {name!r}; there are: {', '.join(_MODULES)}.")
    module = import_module(f"osp_core.experiments.{name}")
    rows = module.rows(quick=quick, seed=as_count(seed, "seed", least=0))
    return ExperimentResult(name, _MODULES[name], tuple(rows), module.draw)


__all__ = ["ExperimentResult", "list_experiments", "run"]
