"""Figures as plain data: what the HTML page and matplotlib both draw."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Scale = Literal["linear", "log", "symlog"]
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Line:
    """A curve with an optional band.

    Attributes
    ----------
    name : str
        What the legend calls it; an empty name stays out of the legend.
    x, y : tuple of float
    low, high : tuple of float
        The band, empty for none.
    colour : str
        A role of `COLOURS`.
    dashed, dots : bool
        Dashes instead of a solid line; dots at the points.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    colour: str = "blue"
    dashed: bool = False
    dots: bool = False


@dataclass(frozen=True)
class Plot:
    """Lines over an axis."""

    name: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    y_range: tuple[float, float] | None = None
    caption: str = ""


@dataclass(frozen=True)
class Stroke:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    colour: str = "ink"
    width: float = 1.5
    dashed: bool = False
    opacity: float = 1.0


@dataclass(frozen=True)
class Box:
    """A filled or outlined rectangle with round corners; a circle when `round` is half of its side."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    outline: str = ""
    round: float = 0.0
    line_width: float = 1.5
    opacity: float = 1.0


@dataclass(frozen=True)
class Words:
    """A piece of text; (x, y) is the middle of its height."""

    x: float
    y: float
    text: str
    colour: str = "ink"
    anchor: Anchor = "middle"
    size: float = 12.0


Shape = Stroke | Box | Words


@dataclass(frozen=True)
class Sketch:
    """Shapes on a canvas of `width` × `height` units, y pointing down."""

    name: str
    title: str
    width: float
    height: float
    shapes: tuple[Shape, ...]
    caption: str = ""


Figure = Plot | Sketch

# A role, its colour on a white page, and its colour on a dark one. Told apart without red and green.
COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#1f2933", "#e6e9ee"),
    "muted": ("#5f6b7a", "#9aa7b8"),
    "faint": ("#d5dbe3", "#3a4453"),
    "paper": ("#ffffff", "#161b22"),
    "blue": ("#1f6fb4", "#6db3f2"),
    "orange": ("#c45a00", "#ffa657"),
    "green": ("#1a7f5a", "#56d4a0"),
    "violet": ("#7a4fb5", "#c3a3f5"),
}


def dot(x: float, y: float, radius: float, *, fill: str = "", outline: str = "", width: float = 1.5) -> Box:
    """A circle."""
    side = 2.0 * radius
    return Box(x - radius, y - radius, side, side, fill, outline, round=radius, line_width=width)


def printable(text: str) -> str:
    """Text with U+FFFD for what no page and no picture can hold: control characters, half characters.

    XML has no way to write them, not even escaped.
    """
    return _UNPRINTABLE.sub("\ufffd", text)


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def numbers(values: Iterable[float]) -> tuple[float, ...]:
    """Plain floats, as figures keep them."""
    return tuple(float(value) for value in values)
