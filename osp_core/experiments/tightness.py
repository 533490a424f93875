"""How tight Lemma 4 is: exact on {0, 1}, up to 2.98692 on the paper's own example, elsewhere measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.experiments.drawing import common_legend, log_axes
from osp_core.experiments.paper_spaces import example_spaces
from osp_core.experiments.ratios import largest_ratio
from osp_core.experiments.result import Row
from osp_core.registry.registry import make_space
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import RandomizedDecoder

BEST_EXCESS = 0.2107  # where the paper's binary example asks for the largest constant


def rows(*, quick: bool, seed: int) -> Iterator[Row]:
    """The constant c in E L ≤ c·γ/(λν)·S that each example needs; Lemma 4 proves c = 4."""
    line = make_space("hypercube", d=1)
    for theta in np.linspace(0.05, 0.5, 4 if quick else 19):
        yield _row("{0, 1}, Euclidean", float(theta), 4.0 * _relative(line, np.array([theta]), np.zeros(1)))
    binary = make_space("simplex", d=2)
    for excess in sorted([BEST_EXCESS, *np.geomspace(1e-3, 3.0, 4 if quick else 30)]):
        theta = np.array([1.0, 1.0 + np.log(2.0 ** (1 + excess) - 1.0)])
        yield _row("two classes, logistic", float(excess), 4.0 * _relative(binary, theta, binary.unit(0)))
    rng = np.random.default_rng(seed)
    for title, space in example_spaces().items():
        target = space.target_loss()
        lemma = 4.0 * target.gamma(space) / (space.lam * space.nu)
        measured = largest_ratio(space, target, rng, samples=60 if quick else 400, climbs=10 if quick else 60)
        yield _row(f"{title}, searched", float("nan"), 4.0 * measured / lemma)


def _relative(space: OutputSpace, theta: Array, y: Array) -> float:
    """E L/S relative to 4γ/(λν)."""
    target, prediction = space.target_loss(), space.predict(theta)
    loss = float(space.psi.loss(space, theta, y, prediction))
    expected = RandomizedDecoder(space).law(prediction).expected_loss(target, y)
    return float(expected / loss) / (4.0 * target.gamma(space) / (space.lam * space.nu))


def _row(example: str, position: float, constant: float) -> Row:
    return {
        "example": example,
        "position": position,
        "constant": constant,
        "proven": 4.0,
        "holds": bool(constant <= 4.0 * (1 + 1e-9)),
    }


def draw(figure: Any, rows: Sequence[Row]) -> None:
    """The constant needed: along the two curves, and as found by search."""
    curves, bars = figure.subplots(1, 2)
    for title in dict.fromkeys(row["example"] for row in rows):
        mine = [row for row in rows if row["example"] == title]
        if title.endswith("searched"):
            bars.barh(title.removesuffix(", searched"), mine[0]["constant"], color="0.6")
        else:
            curves.plot(
                [row["position"] for row in mine], [row["constant"] for row in mine], lw=4, label=title
            )
    curves.axhline(4.0, color="k", ls="--", lw=1, zorder=3, label="4, proven to suffice")
    curves.set(xlabel="position of the scores: θ, or ε", ylabel="constant needed", ylim=(0, 4.4))
    log_axes(curves, y=False)
    bars.axvline(4.0, color="k", ls="--")
    bars.set(xlabel="constant needed, found by search")
    common_legend(figure, curves, 3)
