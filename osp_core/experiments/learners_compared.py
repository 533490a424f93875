"""Four learners on stationary and on drifting data, each beside its own bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.experiments.drawing import common_legend
from osp_core.experiments.result import Row
from osp_core.learners import OGD, AdaptiveOGD, OnlineLearner, ParameterFree, PolyakOGD
from osp_core.online.comparator import Comparator, best_comparator
from osp_core.online.predictor import OnlinePredictor, run
from osp_core.registry.registry import make_space, make_stream
from osp_core.spaces import OutputSpace
from osp_core.surrogates.a_and_b import surrogate_gap

N_FEATURES = 8


def rows(*, quick: bool, seed: int) -> Iterator[Row]:
    """One row per space, number of segments and learner.

    The learners on a ball are given the smallest one that holds the comparator, which favours them.
    """
    rounds = 150 if quick else 3000
    spaces = {"multiclass": make_space("simplex", d=5), "multilabel": make_space("hypercube", d=20)}
    for title, space in spaces.items():
        for segments in (1, 10):
            X, Y = make_stream(
                "drifting_teacher",
                space=space,
                rounds=rounds,
                n_features=N_FEATURES,
                segments=segments,
                noise=0.1,
                seed=seed,
            ).arrays()
            parts = _segment_comparators(space, X, Y, segments)
            norm = max(float(np.linalg.norm(part.weights)) for part in parts)
            learners = (OGD(), AdaptiveOGD(2 * norm), ParameterFree(), PolyakOGD(2 * norm))
            for learner in learners:
                yield {"space": title, "segments": segments, **_compare(space, learner, X, Y, parts, seed)}


def _segment_comparators(space: OutputSpace, X: Array, Y: list[Array], segments: int) -> list[Comparator]:
    certificate, edges = surrogate_gap(space), [len(Y) * s // segments for s in range(segments + 1)]
    return [
        best_comparator(space, X[low:high], Y[low:high], certificate, time_limit=10.0)
        for low, high in pairwise(edges)
    ]


def _compare(
    space: OutputSpace, learner: OnlineLearner, X: Array, Y: list[Array], parts: list[Comparator], seed: int
) -> Row:
    predictor = OnlinePredictor(space, N_FEATURES, learner=learner, seed=seed)
    expected = float(run(predictor, X, Y).expected_loss.sum())
    if isinstance(learner, PolyakOGD):
        path = sum(float(np.linalg.norm(b.weights - a.weights)) for a, b in pairwise(parts))
        norm = max(float(np.linalg.norm(part.weights)) for part in parts)
        bound = predictor.guarantee("nonstationary", norm_U=norm, path_length=path)
        comparator_loss = sum(part.surrogate_loss for part in parts)
    else:
        # No theorem lets these follow a moving comparator: the best fixed one in the smallest ball.
        fixed = (
            parts[0]
            if len(parts) == 1
            else best_comparator(space, X, Y, predictor.certificate, time_limit=10.0)
        )
        bound = predictor.guarantee(norm_U=float(np.linalg.norm(fixed.weights)))
        comparator_loss = fixed.surrogate_loss
    return {
        "learner": type(learner).__name__,
        "expected_loss": expected,
        "comparator_loss": comparator_loss,
        "bound": bound.value,
        "holds": expected <= comparator_loss + bound.value,
    }


def draw(figure: Any, rows: Sequence[Row]) -> None:
    """ΣE L of every learner; one panel per space, one group of bars per kind of data."""
    titles = list(dict.fromkeys(row["space"] for row in rows))
    panels = figure.subplots(1, len(titles), squeeze=False).ravel()
    for panel, title in zip(panels, titles, strict=True):
        for offset, segments in enumerate(dict.fromkeys(row["segments"] for row in rows)):
            mine = [row for row in rows if row["space"] == title and row["segments"] == segments]
            label = "stationary" if segments == 1 else f"{segments} segments, a new teacher in each"
            places = np.arange(len(mine)) + 0.4 * offset
            panel.bar(places, [row["expected_loss"] for row in mine], width=0.36, label=label)
        panel.set(title=title, ylabel="expected loss, summed over rounds")
        panel.set_xticks(np.arange(len(mine)) + 0.2, [row["learner"] for row in mine], rotation=15)
    common_legend(figure, panels[0], 2)
