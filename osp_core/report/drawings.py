"""Outputs drawn as what they are: rankings, matchings, trees, label sets, classes, levels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import east_asian_width

import numpy as np

from osp_core.errors import Array
from osp_core.report.figures import Box, Shape, Sketch, Stroke, Words, dot
from osp_core.spaces import OutputSpace

WIDTH = 250.0
ROW = 22.0
MOST_ROWS, MOST_CHIPS, MOST_NODES = 14, 24, 24


@dataclass(frozen=True, eq=False)
class Example:
    """A prediction to draw: ŷ, what was played, and the truth, as vectors."""

    y_hat: Array
    played: Array
    truth: Array
    title: str = ""
    caption: str = ""


def draw_output(space: OutputSpace, example: Example, name: str = "output") -> Sketch:
    """Draw what was played beside the truth, with the weights of ŷ.

    The way of drawing goes with the class of the space, or with one it derives from; an output of any other
    space, and one too large to draw, is a bar chart of its coordinates. What was played is blue, the truth
    orange, and green what is both.
    """
    ways = (_WAYS[kind.__name__] for kind in type(space).__mro__ if kind.__name__ in _WAYS)
    drawn = next(ways, _bars)(space, example) or _bars(space, example)
    height, shapes = drawn
    return Sketch(name, example.title, WIDTH, height, tuple(shapes), example.caption)


Drawn = tuple[float, list[Shape]]


def _short(name: Any, most: int = 12) -> str:
    """A name cut to the room there is, as if wide letters were two."""
    text = " ".join(str(name).split())
    widths = itertools.accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
    fitting = sum(width <= most for width in widths)
    return text if fitting == len(text) else text[: max(1, fitting - 1)] + "…"


# --- bars: a class, or any vertex ---------------------------------------------------------------------------


def _classes(space: Any, example: Example) -> Drawn:
    return _named_bars(space.classes, example)


def _bars(space: OutputSpace, example: Example) -> Drawn:
    return _named_bars([f"y{i + 1}" for i in range(space.dim)], example)


def _named_bars(names: Sequence[Any], example: Example) -> Drawn:
    shown = _most_telling(example, MOST_ROWS)
    left, right = 96.0, WIDTH - 40.0
    values = np.concatenate([example.y_hat, example.played, example.truth])
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    shapes: list[Shape] = [Stroke(((place(0.0), 2.0), (place(0.0), ROW * len(shown))), "muted", 1.0)]
    for row, i in enumerate(shown):
        y, value = ROW * row + ROW / 2, float(example.y_hat[i])
        start = min(place(0.0), place(value))
        shapes.append(Words(left - 8.0, y, _short(names[i]), anchor="end"))
        shapes.append(Box(start, y - 6.0, abs(place(value) - place(0.0)), 12.0, "muted", opacity=0.45))
        shapes.append(Words(WIDTH - 2.0, y, f"{value:.2f}", "muted", "end", 11.0))
        shapes += _marks(
            bool(example.played[i]) and (place(float(example.played[i])), y),
            bool(example.truth[i]) and (place(float(example.truth[i])), y),
        )
    left_out = len(example.y_hat) - len(shown)
    return _with_rest(ROW * len(shown), shapes, left_out, "entries")


def _marks(
    played: tuple[float, float] | Literal[False], true: tuple[float, float] | Literal[False]
) -> list[Shape]:
    """A dot where something was played, a ring where the truth is."""
    colours = ("green", "green") if played and played == true else ("blue", "orange")
    marks: list[Shape] = [dot(*played, 4.5, fill=colours[0])] if played else []
    return marks + ([dot(*true, 7.5, outline=colours[1], width=2.0)] if true else [])


def _most_telling(example: Example, most: int) -> list[int]:
    """The coordinates to show, in their order: those played or true first, then those of the greatest ŷ."""
    weight = np.abs(example.y_hat) + 1e6 * (np.abs(example.played) + np.abs(example.truth) > 0)
    return sorted(int(i) for i in np.argsort(-weight, kind="stable")[:most])


def _with_rest(height: float, shapes: list[Shape], left_out: int, what: str) -> Drawn:
    if left_out > 0:
        shapes.append(Words(WIDTH / 2, height + ROW / 2, f"and {left_out} more {what}", "muted", size=11.0))
        height += ROW
    return height + 4.0, shapes


# --- chips: a set of labels ---------------------------------------------------------------------------------


def _labels(space: Any, example: Example) -> Drawn:
    return _chips(space.labels, example)


def _elements(space: Any, example: Example) -> Drawn:
    return _chips(["–".join(map(str, e)) if isinstance(e, tuple) else e for e in space.elements], example)


def _chips(names: Sequence[Any], example: Example) -> Drawn:
    shown = _most_telling(example, MOST_CHIPS)
    shapes: list[Shape] = []
    x, y, height = 3.0, 3.0, 24.0
    for i in shown:
        text = f"{_short(names[i])} {example.y_hat[i]:.2f}"
        width = 6.6 * len(text) + 18.0
        if x > 3.0 and x + width > WIDTH - 3.0:
            x, y = 3.0, y + height + 8.0
        played, true = example.played[i] != 0, example.truth[i] != 0
        fill = ("green" if true else "blue") if played else ""
        outline = fill or ("orange" if true else "faint")
        shapes.append(Box(x, y, width, height, fill, outline, height / 2, 3.0 if true else 1.5))
        shapes.append(Words(x + width / 2, y + height / 2, text, "paper" if played else "muted"))
        x += width + 8.0
    return _with_rest(y + height + 4.0, shapes, len(example.y_hat) - len(shown), "labels")


# --- a ladder: an ordered level -----------------------------------------------------------------------------


def _ladder(space: Any, example: Example) -> Drawn | None:
    """ŷ_i is the probability that the level is above rung i: its differences are those of the levels."""
    names, rungs = list(space.categories), space.dim + 1
    if rungs > MOST_ROWS:
        return None
    above = np.concatenate([[1.0], example.y_hat, [0.0]])
    chances = above[:-1] - above[1:]
    played, true = (int(np.rint(vertex.sum())) for vertex in (example.played, example.truth))
    left, right = 96.0, 150.0
    shapes: list[Shape] = [Stroke(((side, 4.0), (side, ROW * rungs)), "muted", 3.0) for side in (left, right)]
    for level in range(rungs):
        y = ROW * (rungs - 1 - level) + ROW / 2
        shapes.append(Stroke(((left, y), (right, y)), "muted", 2.0))
        shapes.append(Words(left - 10.0, y, _short(names[level]), anchor="end"))
        shapes.append(Box(right + 10.0, y - 5.0, 60.0 * float(chances[level]), 10.0, "muted", opacity=0.45))
        shapes.append(Words(WIDTH - 2.0, y, f"{chances[level]:.2f}", "muted", "end", 11.0))
        middle = ((left + right) / 2, y)
        shapes += _marks(level == played and middle, level == true and middle)
    return ROW * rungs + 4.0, shapes


# --- slopes: a ranking --------------------------------------------------------------------------------------


def _ranking(space: Any, example: Example) -> Drawn | None:
    truth, played = space.to_label(example.truth), space.to_label(example.played)
    if len(truth) > MOST_ROWS:
        return None
    left, right = 92.0, WIDTH - 92.0
    shapes: list[Shape] = [
        Words(left - 8.0, ROW / 2, "truth", "muted", "end", 11.0),
        Words(right + 8.0, ROW / 2, "played", "muted", "start", 11.0),
    ]
    for place, item in enumerate(truth):
        other = played.index(item)
        start, end = (ROW * (1 + row) + ROW / 2 for row in (place, other))
        line, true, guess = ("green",) * 3 if place == other else ("muted", "orange", "blue")
        shapes.append(Stroke(((left, start), (right, end)), line, 2.0))
        shapes += [dot(left, start, 4.0, fill=true), dot(right, end, 4.0, fill=guess)]
        shapes.append(Words(left - 8.0, start, f"{place + 1}. {_short(item, 8)}", anchor="end"))
        shapes.append(Words(right + 8.0, end, f"{other + 1}. {_short(item, 8)}", anchor="start"))
    return ROW * (1 + len(truth)) + 4.0, shapes


# --- two columns: a matching --------------------------------------------------------------------------------


def _positions(space: Any, example: Example) -> Drawn | None:
    return _two_columns(space, space.items, [f"place {i + 1}" for i in range(space.n)], example)


def _assigned(space: Any, example: Example) -> Drawn | None:
    return _two_columns(space, space.row_names, space.column_names, example)


def _matched(space: Any, example: Example) -> Drawn | None:
    return _two_columns(space, space.left, space.right, example)


def _two_columns(
    space: Any, left_names: Sequence[Any], right_names: Sequence[Any], example: Example
) -> Drawn | None:
    rows = max(len(left_names), len(right_names))
    if rows > MOST_ROWS:
        return None
    left, right, height = 92.0, WIDTH - 92.0, 27.0
    weights, played, truth = map(space.matrix, (example.y_hat, example.played, example.truth))

    def y(row: int, count: int) -> float:
        return height * (row + (rows - count) / 2) + height / 2

    cells = [(i, j, y(i, len(left_names)), y(j, len(right_names))) for i, j in np.ndindex(weights.shape)]
    shapes: list[Shape] = _weighted(((left, u), (right, v), weights[i, j]) for i, j, u, v in cells)
    shapes += _chosen((((left, u), (right, v)), played[i, j], truth[i, j]) for i, j, u, v in cells)
    for x, names, anchor, step in ((left, left_names, "end", -9.0), (right, right_names, "start", 9.0)):
        for row, name in enumerate(names):
            place = y(row, len(names))
            shapes.append(dot(x, place, 4.0, fill="ink"))
            shapes.append(Words(x + step, place, _short(name, 11), anchor=anchor))  # type: ignore[arg-type]
    return height * rows + 4.0, shapes


def _weighted(edges: Iterable[tuple[tuple[float, float], tuple[float, float], float]]) -> list[Shape]:
    """Grey lines as thick as the weights of ŷ."""
    return [
        Stroke((start, end), "muted", 1.0 + 9.0 * float(weight), opacity=0.3)
        for start, end, weight in edges
        if weight > 0.005
    ]


def _chosen(
    edges: Iterable[tuple[tuple[tuple[float, float], tuple[float, float]], float, float]],
) -> list[Shape]:
    """Edges that were played or are true; a true one that was missed is dashed."""
    return [
        Stroke(ends, "green" if played and true else "blue" if played else "orange", 2.5, dashed=not played)
        for ends, played, true in edges
        if played or true
    ]


# --- a graph: a spanning tree -------------------------------------------------------------------------------


def _tree(space: Any, example: Example) -> Drawn | None:
    nodes, tails, heads = space.graph.nodes, space.graph.tails, space.graph.heads
    if len(nodes) > MOST_NODES or len(tails) > 4 * MOST_NODES:
        return None
    middle, radius, height = WIDTH / 2, 76.0, 190.0
    turns = [2.0 * math.pi * i / len(nodes) - math.pi / 2 for i in range(len(nodes))]
    places = [
        (middle + 1.2 * radius * math.cos(turn), height / 2 + radius * math.sin(turn)) for turn in turns
    ]
    ends = [(places[tail], places[head]) for tail, head in zip(tails, heads, strict=True)]
    shapes: list[Shape] = [Stroke(pair, "faint", 1.0) for pair in ends]
    shapes += _weighted((*pair, weight) for pair, weight in zip(ends, example.y_hat, strict=True))
    shapes += _chosen(zip(ends, example.played, example.truth, strict=True))
    for (x, y), node in zip(places, nodes, strict=True):
        shapes.append(dot(x, y, 11.0, fill="paper", outline="ink"))
        shapes.append(Words(x, y, _short(node, 3), size=11.0))
    return height, shapes


_WAYS: dict[str, Callable[[Any, Example], Drawn | None]] = {
    "Simplex": _classes,
    "Hypercube": _labels,
    "KSubsets": _elements,
    "MatroidSpace": _elements,
    "GraphicMatroid": _tree,
    "Ordinal": _ladder,
    "Permutahedron": _ranking,
    "Birkhoff": _positions,
    "Assignment": _assigned,
    "Matching": _matched,
}
