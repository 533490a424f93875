"""The lower-bound stream: measured regret between the floor and the bound, [SBTO24, Thm 13]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from osp_core.experiments.drawing import common_legend, log_axes
from osp_core.experiments.result import Row
from osp_core.guarantees import multiclass_regret_floor
from osp_core.online.predictor import OnlinePredictor, run
from osp_core.registry.registry import make_space, make_stream


def rows(*, quick: bool, seed: int) -> Iterator[Row]:
    """One row per number of classes and of hard rounds."""
    seeds = range(seed, seed + (6 if quick else 40))
    for d in (2, 5) if quick else (2, 3, 5, 10, 20):
        space = make_space("simplex", d=d)
        for hard in (20,) if quick else (15, 30, 60, 120):
            regrets, bounds = np.array([_regret(space, hard, one) for one in seeds]).T
            floor = multiclass_regret_floor(d, hard)
            yield {
                "classes": d,
                "hard_rounds": hard,
                "floor": floor,
                "claimed_floor": hard / 4,
                "regret": float(regrets.mean()),
                "bound": float(bounds.mean()),
                "holds": bool(floor <= regrets.mean() and (regrets <= bounds).all()),
            }


def _regret(space: Any, hard: int, seed: int) -> tuple[float, float]:
    stream = make_stream("lower_bound", space=space, rounds=4 * hard, hard_rounds=hard, seed=seed)
    predictor = OnlinePredictor(space, stream.n_features, seed=seed)
    X, Y = stream.arrays()
    expected = float(run(predictor, X, Y).expected_loss.sum())
    assert stream.comparator is not None
    values, _ = predictor.loss.values_and_gradients(X @ stream.comparator.T, np.array(Y))
    bound = predictor.guarantee(norm_U=float(np.linalg.norm(stream.comparator)))
    return expected - float(values.sum()), bound.value


def draw(figure: Any, rows: Sequence[Row]) -> None:
    """Regret, floor and bound over the hard rounds; one panel per number of classes."""
    classes = list(dict.fromkeys(row["classes"] for row in rows))
    panels = figure.subplots(1, len(classes), sharey=True, squeeze=False).ravel()
    for panel, d in zip(panels, classes, strict=True):
        mine = [row for row in rows if row["classes"] == d]
        hard = [row["hard_rounds"] for row in mine]
        panel.plot(hard, [row["bound"] for row in mine], "k--", label="upper bound (Thm 7)")
        panel.plot(hard, [row["regret"] for row in mine], "C0o-", label="expected regret of OGD")
        panel.plot(hard, [row["claimed_floor"] for row in mine], "C3-.", lw=1, label="floor as printed")
        panel.plot(hard, [row["floor"] for row in mine], "C1:", lw=2, label="floor, corrected")
        panel.set(title=f"d = {d} classes", xlabel="hard rounds")
        log_axes(panel)
    panels[0].set_ylabel("regret")
    common_legend(figure, panels[0], 4)
