"""Outputs drawn as what they are: rankings, matchings, trees, label sets, classes, levels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import east_asian_width

import numpy as np

from osp_core.errors import Array, PluginError
from osp_core.report.figures import Box, Shape, Sketch, Stroke, Words, dot
from osp_core.spaces import OutputSpace
from osp_core.spaces.pictures import Bars, Chips, Columns, Graph, Ladder, Picture, Ranking

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

    The space says what its outputs look like, see `OutputSpace.draw`; where it does not, and where that is
    too large to draw, the picture is a bar chart of the coordinates. What was played is blue, the truth
    orange, and green what is both.
    """
    points = (example.y_hat, example.played, example.truth)
    drawn = _draw(space, [space.draw(point) for point in points])
    if drawn is None:
        names = [f"y{i + 1}" for i in range(space.dim)]
        drawn = _bars(*(Bars(names, point) for point in points))
    height, shapes = drawn
    return Sketch(name, example.title, WIDTH, height, tuple(shapes), example.caption)


Drawn = tuple[float, list[Shape]]


def _draw(space: OutputSpace, pictures: Sequence[Picture | None]) -> Drawn | None:
    """The pictures of ŷ, of what was played and of the truth over one another; None without a picture."""
    kinds = {type(picture) for picture in pictures}
    if kinds == {type(None)}:
        return None
    kind = kinds.pop()
    if kinds or kind not in _WAYS:
        raise PluginError(
            f"{space!r}.draw must return a picture of one kind for all points, one of "
            f"{', '.join(known.__name__ for known in _WAYS)}; got {', '.join(map(repr, pictures))}."
        )
    return _WAYS[kind](*pictures)


def _short(name: Any, most: int = 12) -> str:
    """A name cut to the room there is, as if wide letters were two."""
    text = " ".join(str(name).split())
    widths = itertools.accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
    fitting = sum(width <= most for width in widths)
    return text if fitting == len(text) else text[: max(1, fitting - 1)] + "…"


# --- bars: a class, or any vertex ---------------------------------------------------------------------------


def _bars(y_hat: Bars, played: Bars, truth: Bars) -> Drawn:
    shown = _most_telling(y_hat.values, played.values, truth.values, MOST_ROWS)
    left, right = 96.0, WIDTH - 40.0
    values = np.concatenate([y_hat.values, played.values, truth.values])
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    shapes: list[Shape] = [Stroke(((place(0.0), 2.0), (place(0.0), ROW * len(shown))), "muted", 1.0)]
    for row, i in enumerate(shown):
        y, value = ROW * row + ROW / 2, float(y_hat.values[i])
        start = min(place(0.0), place(value))
        shapes.append(Words(left - 8.0, y, _short(y_hat.names[i]), anchor="end"))
        shapes.append(Box(start, y - 6.0, abs(place(value) - place(0.0)), 12.0, "muted", opacity=0.45))
        shapes.append(Words(WIDTH - 2.0, y, f"{value:.2f}", "muted", "end", 11.0))
        shapes += _marks(
            bool(played.values[i]) and (place(float(played.values[i])), y),
            bool(truth.values[i]) and (place(float(truth.values[i])), y),
        )
    return _with_rest(ROW * len(shown), shapes, len(y_hat.values) - len(shown), "entries")


def _marks(
    played: tuple[float, float] | Literal[False], true: tuple[float, float] | Literal[False]
) -> list[Shape]:
    """A dot where something was played, a ring where the truth is."""
    colours = ("green", "green") if played and played == true else ("blue", "orange")
    marks: list[Shape] = [dot(*played, 4.5, fill=colours[0])] if played else []
    return marks + ([dot(*true, 7.5, outline=colours[1], width=2.0)] if true else [])


def _most_telling(y_hat: Array, played: Array, truth: Array, most: int) -> list[int]:
    """The entries to show, in their order: those played or true first, then those of the greatest ŷ."""
    weight = np.abs(y_hat) + 1e6 * (np.abs(played) + np.abs(truth) > 0)
    return sorted(int(i) for i in np.argsort(-weight, kind="stable")[:most])


def _with_rest(height: float, shapes: list[Shape], left_out: int, what: str) -> Drawn:
    if left_out > 0:
        shapes.append(Words(WIDTH / 2, height + ROW / 2, f"and {left_out} more {what}", "muted", size=11.0))
        height += ROW
    return height + 4.0, shapes


# --- chips: a set of labels ---------------------------------------------------------------------------------


def _chips(y_hat: Chips, played: Chips, truth: Chips) -> Drawn:
    shown = _most_telling(y_hat.values, played.values, truth.values, MOST_CHIPS)
    shapes: list[Shape] = []
    x, y, height = 3.0, 3.0, 24.0
    for i in shown:
        name = y_hat.names[i]
        name = "–".join(map(str, name)) if isinstance(name, tuple) else name  # an edge
        text = f"{_short(name)} {y_hat.values[i]:.2f}"
        width = 6.6 * len(text) + 18.0
        if x > 3.0 and x + width > WIDTH - 3.0:
            x, y = 3.0, y + height + 8.0
        chosen, true = played.values[i] != 0, truth.values[i] != 0
        fill = ("green" if true else "blue") if chosen else ""
        outline = fill or ("orange" if true else "faint")
        shapes.append(Box(x, y, width, height, fill, outline, height / 2, 3.0 if true else 1.5))
        shapes.append(Words(x + width / 2, y + height / 2, text, "paper" if chosen else "muted"))
        x += width + 8.0
    return _with_rest(y + height + 4.0, shapes, len(y_hat.values) - len(shown), "labels")


# --- a ladder: an ordered level -----------------------------------------------------------------------------


def _ladder(y_hat: Ladder, played: Ladder, truth: Ladder) -> Drawn | None:
    chances, rungs = y_hat.values, len(y_hat.names)
    if rungs > MOST_ROWS:
        return None
    chosen, true = (int(np.argmax(picture.values)) for picture in (played, truth))
    left, right = 96.0, 150.0
    shapes: list[Shape] = [Stroke(((side, 4.0), (side, ROW * rungs)), "muted", 3.0) for side in (left, right)]
    for level in range(rungs):
        y = ROW * (rungs - 1 - level) + ROW / 2
        shapes.append(Stroke(((left, y), (right, y)), "muted", 2.0))
        shapes.append(Words(left - 10.0, y, _short(y_hat.names[level]), anchor="end"))
        shapes.append(Box(right + 10.0, y - 5.0, 60.0 * float(chances[level]), 10.0, "muted", opacity=0.45))
        shapes.append(Words(WIDTH - 2.0, y, f"{chances[level]:.2f}", "muted", "end", 11.0))
        middle = ((left + right) / 2, y)
        shapes += _marks(level == chosen and middle, level == true and middle)
    return ROW * rungs + 4.0, shapes


# --- slopes: a ranking --------------------------------------------------------------------------------------


def _ranking(y_hat: Ranking, played: Ranking, truth: Ranking) -> Drawn | None:
    if len(truth.items) > MOST_ROWS:
        return None
    left, right = 92.0, WIDTH - 92.0
    shapes: list[Shape] = [
        Words(left - 8.0, ROW / 2, "truth", "muted", "end", 11.0),
        Words(right + 8.0, ROW / 2, "played", "muted", "start", 11.0),
    ]
    for place, item in enumerate(truth.items):
        other = played.items.index(item)
        start, end = (ROW * (1 + row) + ROW / 2 for row in (place, other))
        line, true, guess = ("green",) * 3 if place == other else ("muted", "orange", "blue")
        shapes.append(Stroke(((left, start), (right, end)), line, 2.0))
        shapes += [dot(left, start, 4.0, fill=true), dot(right, end, 4.0, fill=guess)]
        shapes.append(Words(left - 8.0, start, f"{place + 1}. {_short(item, 8)}", anchor="end"))
        shapes.append(Words(right + 8.0, end, f"{other + 1}. {_short(item, 8)}", anchor="start"))
    return ROW * (1 + len(truth.items)) + 4.0, shapes


# --- two columns: pairs -------------------------------------------------------------------------------------


def _columns(y_hat: Columns, played: Columns, truth: Columns) -> Drawn | None:
    lefts, rights = y_hat.left, y_hat.right
    rows = max(len(lefts), len(rights))
    if rows > MOST_ROWS:
        return None
    left, right, height = 92.0, WIDTH - 92.0, 27.0

    def y(row: int, count: int) -> float:
        return height * (row + (rows - count) / 2) + height / 2

    ends = [((left, y(i, len(lefts))), (right, y(j, len(rights)))) for i, j in np.ndindex(y_hat.values.shape)]
    weights, chosen, true = (picture.values.ravel() for picture in (y_hat, played, truth))
    shapes = _weighted(zip(ends, weights, strict=True)) + _chosen(zip(ends, chosen, true, strict=True))
    for x, names, anchor, step in ((left, lefts, "end", -9.0), (right, rights, "start", 9.0)):
        for row, name in enumerate(names):
            place = y(row, len(names))
            shapes.append(dot(x, place, 4.0, fill="ink"))
            shapes.append(Words(x + step, place, _short(name, 11), anchor=anchor))  # type: ignore[arg-type]
    return height * rows + 4.0, shapes


Ends = tuple[tuple[float, float], tuple[float, float]]


def _weighted(edges: Iterable[tuple[Ends, float]]) -> list[Shape]:
    """Grey lines as thick as the weights of ŷ."""
    return [
        Stroke(ends, "muted", 1.0 + 9.0 * float(weight), opacity=0.3)
        for ends, weight in edges
        if weight > 0.005
    ]


def _chosen(edges: Iterable[tuple[Ends, float, float]]) -> list[Shape]:
    """Edges that were played or are true; a true one that was missed is dashed."""
    return [
        Stroke(ends, "green" if played and true else "blue" if played else "orange", 2.5, dashed=not played)
        for ends, played, true in edges
        if played or true
    ]


# --- a graph: a set of its edges ----------------------------------------------------------------------------


def _graph(y_hat: Graph, played: Graph, truth: Graph) -> Drawn | None:
    nodes, tails, heads = y_hat.nodes, y_hat.tails, y_hat.heads
    if len(nodes) > MOST_NODES or len(tails) > 4 * MOST_NODES:
        return None
    middle, radius, height = WIDTH / 2, 76.0, 190.0
    turns = [2.0 * math.pi * i / len(nodes) - math.pi / 2 for i in range(len(nodes))]
    places = [
        (middle + 1.2 * radius * math.cos(turn), height / 2 + radius * math.sin(turn)) for turn in turns
    ]
    ends = [(places[tail], places[head]) for tail, head in zip(tails, heads, strict=True)]
    shapes: list[Shape] = [Stroke(pair, "faint", 1.0) for pair in ends]
    shapes += _weighted(zip(ends, y_hat.values, strict=True))
    shapes += _chosen(zip(ends, played.values, truth.values, strict=True))
    for (x, y), node in zip(places, nodes, strict=True):
        shapes.append(dot(x, y, 11.0, fill="paper", outline="ink"))
        shapes.append(Words(x, y, _short(node, 3), size=11.0))
    return height, shapes


_WAYS: dict[type, Callable[..., Drawn | None]] = {
    Bars: _bars,
    Chips: _chips,
    Ladder: _ladder,
    Ranking: _ranking,
    Columns: _columns,
    Graph: _graph,
}
