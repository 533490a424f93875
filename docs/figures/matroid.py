"""Draw the pictures of the matroid pages: a prediction and the outputs it is a mixture of.

python docs/figures/matroid.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyBboxPatch

import osp_core as osp

HERE = Path(__file__).parent
INK, PALE = "#1b4b82", "#dfe5ec"
Draw = Callable[[Any, np.ndarray], None]


def main() -> None:
    """Write one SVG per matroid next to this file."""
    plt.rcParams.update({"svg.hashsalt": "osp", "font.size": 10, "svg.fonttype": "none"})
    for name, make in FIGURES.items():
        space, theta, draw = make()
        picture(space, theta, draw).savefig(HERE / f"{name}.svg", metadata={"Date": None})
        plt.close()


def picture(space: Any, theta: np.ndarray, draw: Draw, outputs: int = 3) -> Any:
    """ŷ on the left, then the likeliest outputs of a random draw of mean ŷ."""
    point = space.predict(theta).point
    mixture = space.decompose(point)
    heaviest = np.argsort(-mixture.weights, kind="stable")[:outputs]
    figure, axes = plt.subplots(1, outputs + 1, figsize=(2.4 * (outputs + 1), 2.5), layout="constrained")
    panels = [("prediction ŷ", point)]
    panels += [(f"with probability {mixture.weights[i]:.2f}", mixture.vertices[i]) for i in heaviest]
    for axis, (title, values) in zip(axes, panels, strict=False):
        axis.set_title(title, fontsize=10)
        axis.set_aspect("equal")
        axis.axis("off")
        draw(axis, values)
    for axis in axes[len(panels) :]:
        axis.axis("off")
    return figure


def shade(value: float) -> Any:
    """From pale (0) to ink (1)."""
    pale, ink = (np.array(matplotlib.colors.to_rgb(color)) for color in (PALE, INK))
    return pale + float(np.clip(value, 0.0, 1.0)) * (ink - pale)


def dots(axis: Any, places: np.ndarray, values: np.ndarray, names: Any) -> None:
    """Elements as discs with their names inside."""
    for (x, y), value, name in zip(places, values, names, strict=True):
        axis.add_patch(
            plt.Circle((x, y), 0.32, facecolor=shade(value), edgecolor=INK, linewidth=0.8, zorder=3)
        )
        axis.text(x, y, str(name), ha="center", va="center", fontsize=8, zorder=4,
                  color="white" if value > 0.5 else "black")  # fmt: skip
    axis.set_xlim(places[:, 0].min() - 0.8, places[:, 0].max() + 0.8)
    axis.set_ylim(places[:, 1].min() - 0.8, places[:, 1].max() + 0.8)


def box(axis: Any, low: tuple[float, float], high: tuple[float, float], text: str) -> None:
    """A rounded frame around elements, with its capacity in the corner."""
    size = (high[0] - low[0], high[1] - low[1])
    style = "round,pad=0,rounding_size=0.25"
    axis.add_patch(FancyBboxPatch(low, *size, boxstyle=style, facecolor="none", edgecolor="#8a949e"))
    axis.text(high[0] - 0.1, high[1] - 0.08, text, fontsize=7, ha="right", va="top", color="#5a646e")


def graphic() -> tuple[Any, np.ndarray, Draw]:
    space = osp.make_space("graphic_matroid", graph=5)
    angles = np.pi / 2 + 2 * np.pi * np.arange(5) / 5
    places = np.column_stack([np.cos(angles), np.sin(angles)])

    def draw(axis: Any, values: np.ndarray) -> None:
        for (u, v), value in zip(space.elements, values, strict=True):
            ends = places[[u, v]]
            axis.plot(*ends.T, color=shade(value), linewidth=1 + 4 * value, zorder=1 + value)
        axis.scatter(*places.T, s=60, color="white", edgecolor=INK, zorder=3)
        axis.set_xlim(-1.2, 1.2)
        axis.set_ylim(-1.1, 1.2)

    return space, np.random.default_rng(3).normal(0.0, 0.5, 10), draw


def partition() -> tuple[Any, np.ndarray, Draw]:
    space = osp.make_space(
        "partition_matroid", blocks=[list("abcd"), list("efg"), list("hi")], capacities=[2, 1, 1]
    )
    places = np.array([(x, -1.3 * row) for row, size in enumerate((4, 3, 2)) for x in range(size)])

    def draw(axis: Any, values: np.ndarray) -> None:
        for row, (size, capacity) in enumerate(((4, 2), (3, 1), (2, 1))):
            box(axis, (-0.55, -1.3 * row - 0.5), (size + 0.1, -1.3 * row + 0.5), f"{capacity}")
        dots(axis, places, values, space.elements)
        axis.set_xlim(-0.8, 4.4)

    return space, np.random.default_rng(1).normal(0.5, 0.5, 9), draw


def linear() -> tuple[Any, np.ndarray, Draw]:
    matrix = np.array([[1.0, 0.9, 0.3, -0.5, -1.0], [0.1, 0.7, 1.0, 0.9, 0.2]])
    space = osp.make_space("linear_matroid", matrix=matrix, elements=list("abcde"))

    def draw(axis: Any, values: np.ndarray) -> None:
        for name, (x, y), value in zip(space.elements, matrix.T, values, strict=True):
            arrow = {"arrowstyle": "->", "color": shade(value), "linewidth": 1 + 2.5 * value}
            axis.annotate("", (x, y), (0, 0), arrowprops=arrow, zorder=1 + value)
            axis.text(1.15 * x, 1.15 * y, name, ha="center", va="center", fontsize=8)
        axis.set_xlim(-1.3, 1.3)
        axis.set_ylim(-0.2, 1.3)

    return space, np.array([0.5, 0.2, 0.6, 0.3, 0.4]), draw


def transversal() -> tuple[Any, np.ndarray, Draw]:
    jobs = [["ann", "bob"], ["bob", "cyd"], ["cyd", "dan", "eve"]]
    space = osp.make_space("transversal_matroid", sets=jobs)
    people = np.array([(0.0, -float(row)) for row in range(5)])
    tasks = np.array([(2.4, -0.5), (2.4, -2.0), (2.4, -3.5)])

    def draw(axis: Any, values: np.ndarray) -> None:
        for task, able in zip(tasks, jobs, strict=True):
            for name in able:
                axis.plot(
                    *zip(people[space.elements.index(name)], task, strict=True),
                    color="#8a949e",
                    linewidth=0.8,
                )
            axis.scatter(*task, marker="s", s=110, color="white", edgecolor=INK, zorder=3)
        dots(axis, people, values, space.elements)
        axis.set_xlim(-0.8, 3.2)

    return space, np.array([0.4, 0.3, 0.5, 0.2, 0.3]), draw


def laminar() -> tuple[Any, np.ndarray, Draw]:
    family = [list("abcdef"), list("abc"), list("de")]
    space = osp.make_space("laminar_matroid", family=family, capacities=[3, 1, 2], elements=list("abcdef"))
    places = np.array([(0, 0), (1, 0), (2, 0), (0, -1.5), (1, -1.5), (2.7, -1.5)])

    def draw(axis: Any, values: np.ndarray) -> None:
        box(axis, (-0.8, -2.2), (3.4, 1.0), "3")
        box(axis, (-0.55, -0.5), (2.65, 0.55), "1")
        box(axis, (-0.55, -2.0), (1.65, -0.95), "2")
        dots(axis, places.astype(float), values, space.elements)
        axis.set_xlim(-1.0, 3.6)
        axis.set_ylim(-2.4, 1.2)

    return space, np.array([0.3, 0.5, 0.2, 0.6, 0.4, 0.5]), draw


def fano() -> tuple[Any, np.ndarray, Draw]:
    lines = ({0, 1, 3}, {1, 2, 4}, {0, 2, 5}, {0, 4, 6}, {1, 5, 6}, {2, 3, 6}, {3, 4, 5})
    space = osp.make_space("matroid", ground=range(7), independent=lambda s: len(s) <= 3 and s not in lines)
    corners = np.array([(0.0, 2.6), (-1.5, 0.0), (1.5, 0.0)])
    middles = (corners[[0, 1, 0]] + corners[[1, 2, 2]]) / 2
    places = np.vstack([corners, middles, corners.mean(axis=0)])

    def draw(axis: Any, values: np.ndarray) -> None:
        for ends in ((0, 1), (1, 2), (0, 2), (0, 4), (1, 5), (2, 3)):
            axis.plot(*places[list(ends)].T, color="#8a949e", linewidth=0.8)
        axis.add_patch(plt.Circle(places[6], 2.6 / 3, fill=False, edgecolor="#8a949e", linewidth=0.8))
        dots(axis, places, values, space.elements)

    return space, np.array([0.3, 0.8, 0.1, 0.5, 0.6, 0.2, 0.4]), draw


FIGURES = {
    "graphic_matroid": graphic,
    "partition_matroid": partition,
    "linear_matroid": linear,
    "transversal_matroid": transversal,
    "laminar_matroid": laminar,
    "matroid": fano,
}

if __name__ == "__main__":
    main()
