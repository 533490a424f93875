"""The O(d) gap: randomized decoding against uniform exploration, [SBTO24, Sec. 4]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from osp_core.experiments.drawing import common_legend, log_axes
from osp_core.experiments.result import Row
from osp_core.online.comparator import best_comparator
from osp_core.online.predictor import OnlinePredictor, run
from osp_core.registry.registry import make_space, make_stream
from osp_core.surrogates.decoders import Decoder, RandomizedDecoder, UniformExploration

N_FEATURES = 8


def rows(*, quick: bool, seed: int) -> Iterator[Row]:
    """One row per number of classes and decoder, each with the step its own theorem asks for."""
    rounds = 200 if quick else 3000
    for d in (2, 8, 32) if quick else (2, 4, 8, 16, 32, 64, 128):
        space = make_space("simplex", d=d)
        X, Y = make_stream(
            "linear_teacher", space=space, rounds=rounds, n_features=N_FEATURES, noise=0.1, seed=seed
        ).arrays()
        decoders: tuple[Decoder, ...] = (RandomizedDecoder(space), UniformExploration(space))
        for decoder in decoders:
            predictor = OnlinePredictor(space, N_FEATURES, decoder=decoder, seed=seed)
            expected = float(run(predictor, X, Y).expected_loss.sum())
            comparator = best_comparator(space, X, Y, predictor.certificate, time_limit=10.0)
            yield {
                "classes": d,
                "decoder": type(decoder).__name__,
                "a": predictor.certificate.certified and float(predictor.certificate.require_gap()),
                "coefficient": predictor.certificate.coefficient,
                "expected_loss": expected,
                "right_hand_side": comparator.right_hand_side,
                "holds": expected <= comparator.right_hand_side,
            }


def draw(figure: Any, rows: Sequence[Row]) -> None:
    """The coefficient of ‖U‖², and the measured loss, over the number of classes."""
    panels = figure.subplots(1, 2)
    for name in dict.fromkeys(row["decoder"] for row in rows):
        mine = [row for row in rows if row["decoder"] == name]
        classes = np.array([row["classes"] for row in mine])
        panels[0].plot(classes, [row["coefficient"] for row in mine], "o-", label=name)
        panels[1].plot(classes, [row["expected_loss"] for row in mine], "o-", label=name)
    panels[0].set(xlabel="classes d", ylabel="coefficient of ‖U‖² in the bound")
    panels[1].set(xlabel="classes d", ylabel="expected loss, summed over rounds", ylim=(0, None))
    log_axes(panels[0])
    log_axes(panels[1], y=False)
    common_legend(figure, panels[0], 2)
