"""Regret against bound for the examples of the paper and for matroids, [SBTO24, Thm 7]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from osp_core.experiments.drawing import common_legend, log_axes
from osp_core.experiments.paper_spaces import example_spaces
from osp_core.experiments.result import Row
from osp_core.online.comparator import best_comparator
from osp_core.online.predictor import OnlinePredictor, run
from osp_core.registry.registry import make_stream
from osp_core.spaces import OutputSpace

N_FEATURES = 6


def rows(*, quick: bool, seed: int) -> Iterator[Row]:
    """One row per space and number of rounds: E L with its band over seeds beside ΣS(U) + bound."""
    rounds = (30, 120) if quick else (30, 100, 300, 1000)
    seeds = range(seed, seed + (2 if quick else 5))
    for title, space in example_spaces().items():
        results = [_run(space, rounds, one) for one in seeds]
        for index, T in enumerate(rounds):
            expected, right, bound = np.array([result[index] for result in results]).T
            yield {
                "space": title,
                "rounds": T,
                "expected_loss": float(expected.mean()),
                "lowest": float(expected.min()),
                "highest": float(expected.max()),
                "comparator_loss": float((right - bound).mean()),
                "bound": float(bound.mean()),
                "right_hand_side": float(right.mean()),
                "holds": bool((expected <= right).all()),
            }


def _run(space: OutputSpace, rounds: Sequence[int], seed: int) -> list[tuple[float, float, float]]:
    stream = make_stream(
        "linear_teacher", space=space, rounds=max(rounds), n_features=N_FEATURES, noise=0.3, seed=seed
    )
    X, Y = stream.arrays()
    predictor = OnlinePredictor(space, N_FEATURES, seed=seed)
    total = np.cumsum(run(predictor, X, Y).expected_loss)
    results = []
    for T in rounds:
        comparator = best_comparator(space, X[:T], Y[:T], predictor.certificate, time_limit=15.0, max_iter=60)
        results.append((float(total[T - 1]), comparator.right_hand_side, comparator.bound.value))
    return results


def draw(figure: Any, rows: Sequence[Row]) -> None:
    """ΣE L with its band, and the right-hand side, over the rounds; one panel per space."""
    titles = list(dict.fromkeys(row["space"] for row in rows))
    panels = figure.subplots(2, (len(titles) + 1) // 2, squeeze=False, sharex=True, sharey=True).ravel()
    for panel, title in zip(panels, titles, strict=False):
        mine = [row for row in rows if row["space"] == title]
        T, low, high = ([row[key] for row in mine] for key in ("rounds", "lowest", "highest"))
        promised = [row["right_hand_side"] for row in mine]
        panel.plot(T, promised, "k--", label="promised: ΣS(U) + bound, for the best U")
        panel.plot(T, [row["expected_loss"] for row in mine], "C0", label="expected target loss ΣE L")
        panel.fill_between(T, low, high, color="C0", alpha=0.3, label="lowest to highest seed")
        panel.set_title(title)
        log_axes(panel)
        panel.xaxis.set_tick_params(labelbottom=True)
        panel.set_xlabel("rounds")
    for panel in panels[len(titles) :]:
        panel.set_axis_off()
    figure.supylabel("loss, summed over rounds", fontsize="medium")
    common_legend(figure, panels[0], 3)
