"""Rounds per second of `run` and of `step`, for spaces and learners, on dense inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import Case

import osp_core as osp

N_FEATURES = 20
SPACES: dict[str, tuple[str, dict[str, Any]]] = {
    "simplex 10": ("simplex", {"d": 10}),
    "hypercube 10": ("hypercube", {"d": 10}),
    "ordinal 10": ("ordinal", {"d": 10}),
    "permutahedron 10": ("permutahedron", {"d": 10}),
    "3 of 10": ("k_subsets", {"d": 10, "k": 3}),
    "birkhoff 5": ("birkhoff", {"n": 5}),
    "birkhoff 5, Euclidean": ("birkhoff", {"n": 5, "psi": osp.SquaredNorm()}),
    "spanning trees of K5": ("graphic_matroid", {"graph": 5}),
}
LEARNERS: dict[str, dict[str, Any]] = {
    "ogd": {},
    "adaptive_ogd": {"diameter": 20.0},
    "parameter_free": {},
    "polyak_ogd": {"diameter": 20.0},
}


def cases(short: bool) -> Iterator[Case]:
    """All learners on the simplex, two on the others; one learner in the short form."""
    for space_name in list(SPACES)[:6:2] if short else SPACES:
        names = list(LEARNERS) if space_name == "simplex 10" and not short else ["ogd", "adaptive_ogd"]
        for learner in names[:1] if short else names:
            yield _case(space_name, learner, 200 if short else 1000)


def _case(space_name: str, learner: str, rounds: int) -> Case:
    name, parameters = SPACES[space_name]
    space = osp.make_space(name, **parameters)
    inputs, outputs = _stream(space, rounds)

    def predictor() -> osp.OnlinePredictor:
        return osp.OnlinePredictor(
            space, N_FEATURES, learner=osp.make_learner(learner, **LEARNERS[learner]), seed=0
        )

    def run() -> Any:
        fresh = predictor()
        osp.run(fresh, inputs, outputs)
        return fresh.learner.weights

    def steps() -> Any:
        fresh = predictor()
        for x, y in zip(inputs, outputs, strict=True):
            fresh.step(x, y)
        return fresh.learner.weights

    reference = steps()

    def error(weights: Any) -> float:
        """Both must have learned the same, up to the order in which sums were taken."""
        return float(np.abs(weights - reference).max() / (1.0 + np.abs(reference).max()))

    return Case(f"rounds, {space_name}, {learner}", rounds, run, {"step": steps}, error, 1e-8, units=rounds)


def _stream(space: osp.OutputSpace, rounds: int) -> tuple[Any, Any]:
    """Inputs of length 1, and the outputs that a linear model would choose, with noise."""
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((rounds, N_FEATURES))
    inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    scores = inputs @ rng.standard_normal((N_FEATURES, space.dim)) + 0.1 * rng.standard_normal(
        (rounds, space.dim)
    )
    return inputs, np.array([space.lmo(-row) for row in scores])
