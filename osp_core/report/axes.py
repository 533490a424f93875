"""Axes: where a value lies between the ends of a scale, and which values get a tick."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from osp_core.report.figures import Plot, Scale


@dataclass(frozen=True)
class Axis:
    """A scale from `low` to `high`.

    "symlog" is linear near 0 and logarithmic on both sides: for a regret that may be negative beside a bound
    that is far above it. Both renderers place values with `place`, so that they draw the same figure.
    """

    scale: Scale
    low: float
    high: float

    def place(self, value: float) -> float:
        """The position of a value: 0 at the low end, 1 at the high end."""
        low, high = self._bent(self.low), self._bent(self.high)
        return (self._bent(value) - low) / (high - low)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Values with their text, inside the axis."""
        if self.scale == "log":
            values = _decades(self.low, self.high, most)
            if len(values) < 2:
                values = _round_values(self.low, self.high, most)
        elif self.scale == "symlog":
            reach = _decades(1.0, max(abs(self.low), abs(self.high), 1.0), (most + 1) // 2)
            values = [-value for value in reversed(reach)] + [0.0] + reach
        else:
            values = _round_values(self.low, self.high, most)
        return [(value, shown(value)) for value in values if self.low <= value <= self.high]

    def _bent(self, value: float) -> float:
        if self.scale == "log":
            return math.log10(max(value, self.low))
        if self.scale == "symlog":
            return math.copysign(math.log10(1.0 + abs(value)), value)
        return value


def axes_of(plot: Plot) -> tuple[Axis, Axis]:
    """The horizontal and the vertical axis that hold all lines of a plot."""
    horizontal = _fitted(plot.x_scale, (value for line in plot.lines for value in line.x), 0.0)
    if plot.y_range is not None:
        return horizontal, Axis(plot.y_scale, *plot.y_range)
    values = (value for line in plot.lines for value in (*line.y, *line.low, *line.high))
    return horizontal, _fitted(plot.y_scale, values, 0.06)


def shown(value: float) -> str:
    """A short text for a number: 1500 is 1.5k."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            divisor = 1e3 if letter == "k" else limit
            return f"{value / divisor:g}{letter}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def _fitted(scale: Scale, values: Iterable[float], margin: float) -> Axis:
    finite = [value for value in values if math.isfinite(value) and (scale != "log" or value > 0)]
    if not finite:
        return Axis(scale, 1.0, 10.0) if scale == "log" else Axis(scale, 0.0, 1.0)
    low, high = min(finite), max(finite)
    if scale == "log":
        # Four decades are enough to see a bound; the first rounds of a curve may start below them.
        low = max(low, high / 1e4)
        return Axis(scale, low / 1.15, high * 1.3)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if scale == "symlog":
        return Axis(scale, low * 1.3 if low < 0 else low, high * 1.3 if high > 0 else high)
    return Axis(scale, low - margin * (high - low), high + margin * (high - low))


def _round_values(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough)
    first = math.ceil(low / step - 1e-9)
    count = math.floor((high - first * step) / step + 1e-9) + 1
    return [round((first + i) * step, 12) for i in range(count)]


def _decades(low: float, high: float, most: int) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / most))
    factors = (1, 2, 5) if last - first <= 2 else (1,)
    values = [factor * 10.0**power for power in range(first, last + 1, every) for factor in factors]
    return [value for value in values if low <= value <= high]
