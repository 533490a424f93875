"""Intervals of a line of n cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from osp_core import GibbsEntropy, NotAVertexError, OutputSpace, Regularizer, SquaredNorm, ZeroOneSpace
from osp_core.errors import Array, as_count
from osp_core.spaces.pictures import Chips
from osp_core.spaces.size_parameters import LabelParts, SizeParameters


def _enough_cells(labels: LabelParts) -> dict[str, int]:
    """As many cells as the last end of an interval needs; what is no number makes its row a bad one."""
    ends = [int(end) for pair in labels.parts for end in pair if str(end).isdecimal()]
    return {"n": 1 + max(ends, default=0)}


class Intervals(ZeroOneSpace):
    """The indicators 0…01…10…0 of the intervals of n cells, and of none; a label is (first, last) or ().

    A file has ``2-4`` for the interval from 2 to 4, which is read as the list of one pair.
    """

    size_parameters = SizeParameters("edges", _enough_cells, (("n",),))
    nu1 = 1.0  # an interval and the same with one cell more or less

    def __init__(self, n: int, *, psi: Regularizer | None = None, norm: float | None = None) -> None:
        self.dim = as_count(n, "n")
        super().__init__(psi=psi, norm=norm)

    def __repr__(self) -> str:
        return f"Intervals({self.dim})"

    def lmo(self, cost: Array) -> Array:
        # Kadane: the cheapest interval ends where the running sum lies deepest below its peak so far.
        sums = np.concatenate([[0.0], np.cumsum(cost)])
        stop = int(np.argmin(sums - np.maximum.accumulate(sums)))
        return self._indicator(int(np.argmax(sums[: stop + 1])), stop)

    def vertices(self) -> Array:
        pairs = [(start, stop) for start in range(self.dim) for stop in range(start + 1, self.dim + 1)]
        return np.array([self._indicator(0, 0), *(self._indicator(*pair) for pair in pairs)])

    def from_label(self, label: Any) -> Array:
        match label:
            case ():
                return self._indicator(0, 0)
            case (int(first), int(last)) if isinstance(label, tuple) and 0 <= first <= last < self.dim:
                return self._indicator(first, last + 1)
            case [(int(first), int(last)) as pair]:
                return self.from_label(pair)
            case tuple():
                raise NotAVertexError(f"{label} is no interval of the cells 0 to {self.dim - 1}.")
        return super().from_label(label)

    def to_label(self, vertex: Array) -> tuple[int, ...]:
        inside = np.flatnonzero(vertex)
        return (int(inside[0]), int(inside[-1])) if len(inside) else ()

    def draw(self, point: Array) -> Chips:
        return Chips([f"cell {i}" for i in range(self.dim)], point)

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return [cls(1), cls(4), cls(6, psi=SquaredNorm(0.5)), cls(5, norm=1), cls(3, psi=GibbsEntropy())]

    def _indicator(self, start: int, stop: int) -> Array:
        y = np.zeros(self.dim)
        y[start:stop] = 1.0
        return y
