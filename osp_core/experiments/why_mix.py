"""Why the decoder mixes: either half alone leaves no surrogate gap, [SBTO24, Sec. 3].

Nearest-only fails on both binary examples. Random-only fails on the Euclidean one, where S falls like Δ² and
E L like Δ; with the logistic loss, where both fall like Δ, it has the gap 1 − ln 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.experiments.drawing import common_legend, log_axes
from osp_core.experiments.result import Row
from osp_core.registry.registry import make_space
from osp_core.spaces import OutputSpace
from osp_core.surrogates.a_and_b import surrogate_gap
from osp_core.surrogates.decoders import Decoder, NearestDecoder, RandomizedDecoder, SamplingDecoder
from osp_core.surrogates.fenchel_young import FenchelYoungLoss


def rows(*, quick: bool, seed: int) -> Iterator[Row]:
    """E L/S on the two binary examples, y the first class (the 0), for scores that lean the wrong way."""
    count = 9 if quick else 61
    logistic, line = make_space("simplex", d=2), make_space("hypercube", d=1)
    excess = np.geomspace(1e-4, 3.0, count)
    scores = [np.array([1.0, 1.0 + np.log(2.0 ** (1 + e) - 1.0)]) for e in excess]
    yield from _ratios("logistic", logistic, np.array([1.0, 0.0]), excess, scores)
    # Just beyond 1/2 the nearest output is the wrong one.
    positions = np.sort(np.append(np.geomspace(1e-3, 0.999, count), 0.5 + 1e-6))
    yield from _ratios("euclidean", line, np.array([0.0]), positions, [np.array([t]) for t in positions])


def _ratios(
    title: str, space: OutputSpace, y: Array, positions: Array, scores: Sequence[Array]
) -> Iterator[Row]:
    target = space.target_loss()
    certificate = surrogate_gap(
        space, loss=FenchelYoungLoss(space, space.paper_loss_scale), constants="paper"
    )
    decoders: tuple[Decoder, ...] = (RandomizedDecoder(space), NearestDecoder(space), SamplingDecoder(space))
    for decoder in decoders:
        for position, theta in zip(positions, scores, strict=True):
            law = decoder.law(space.predict(theta))
            value, _ = certificate.loss.at(theta, law.prediction, y)
            ratio = law.expected_loss(target, y) / value
            row = {
                "example": title,
                "decoder": type(decoder).__name__,
                "position": float(position),
                "ratio": ratio,
            }
            if isinstance(decoder, RandomizedDecoder):
                assert certificate.a is not None
                row |= {"constant": 1.0 - certificate.a, "holds": ratio <= (1.0 - certificate.a) * (1 + 1e-9)}
            yield row


def draw(figure: Any, rows: Sequence[Row]) -> None:
    """E L/S over the position of the scores; one panel per example."""
    names = {
        "RandomizedDecoder": "Algorithm 1: mix",
        "NearestDecoder": "nearest only",
        "SamplingDecoder": "random only",
    }
    panels = figure.subplots(1, 2)
    for panel, example in zip(panels, ("logistic", "euclidean"), strict=True):
        for name, label in names.items():
            mine = [row for row in rows if row["example"] == example and row["decoder"] == name]
            shown = [row for row in mine if row["ratio"] > 0]  # no loss at all has no place on this axis
            style = {"lw": 3, "alpha": 0.6} if name == "RandomizedDecoder" else {}
            panel.plot(
                [row["position"] for row in shown], [row["ratio"] for row in shown], label=label, **style
            )
            if "constant" in mine[0] and mine[0]["constant"] != "":
                panel.axhline(mine[0]["constant"], color="k", ls="--", label="Lemma 4")
        panel.set(title=f"{example} loss", ylabel="expected target loss / surrogate loss")
        log_axes(panel)
    panels[0].set_xlabel("ε: how far the scores lean the wrong way")
    panels[1].set_xlabel("θ: the score")
    common_legend(figure, panels[0], 4)
