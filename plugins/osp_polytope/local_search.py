"""Better integer points without branch and bound: change up to three entries while it pays."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from osp_core.errors import Array
from osp_core.frank_wolfe import VertexCache
from osp_polytope.canonical import StandardForm

_MOST_COMBINATIONS = 200_000  # changes made together, times constraints, that are looked at in one step
_STEPS = 200


class ImprovingCache(VertexCache):
    """Remembers integer points, and improves the one it recalls by local search.

    The engine asks it before the oracle, so branch and bound is left with what local search cannot find, and
    with the certificate.
    """

    def __init__(
        self, form: StandardForm, relaxation: Callable[[Array], Array], capacity: int = 1000
    ) -> None:
        super().__init__(capacity)
        self._search = None if form.hidden.any() else _LocalSearch(form)
        self._relaxation = relaxation

    def cheapest(self, cost: Array) -> Array | None:
        """Return a known integer point of low cost, or None when nothing is known."""
        vertex = super().cheapest(cost)
        if vertex is None or self._search is None:
            return vertex
        rounded = np.floor(self._relaxation(cost))
        starts = [vertex, rounded] if self._search.allows(rounded) else [vertex]
        best = min(
            (self._search.improve(start, cost) for start in starts), key=lambda point: float(cost @ point)
        )
        if best is not vertex:
            self.add(best)
        return best


class _LocalSearch:
    """Descent over changes of one, two or three entries by ±1 that respect the constraints."""

    def __init__(self, form: StandardForm) -> None:
        columns = form.column_of
        n_equal = len(form.rhs) - form.n_slacks
        rows = form.matrix[:, columns].toarray()
        # Equations hold in both directions: as two inequalities, all rows read alike.
        self._rows = np.vstack([rows, -rows[:n_equal]])
        self._rhs = np.concatenate([form.rhs, -form.rhs[:n_equal]])
        self._low, self._high = form.low[columns], form.high[columns]

    def allows(self, point: Array) -> bool:
        """Whether a point satisfies the constraints."""
        inside = ((point >= self._low) & (point <= self._high)).all()
        return bool(inside and (self._rows @ point <= self._rhs + 1e-9 * (1.0 + np.abs(self._rhs))).all())

    def improve(self, vertex: Array, cost: Array) -> Array:
        """Return a point that costs less, or `vertex` itself."""
        current = vertex
        for _ in range(_STEPS):
            change = self._best_change(current, cost)
            if change is None:
                break
            current = current + change
        return current + 0.0 if current is not vertex else vertex

    def _best_change(self, point: Array, cost: Array) -> Array | None:
        up, down = np.flatnonzero(point < self._high), np.flatnonzero(point > self._low)
        where, signs = np.concatenate([up, down]), np.repeat([1.0, -1.0], [len(up), len(down)])
        prices = signs * cost[where]
        slack = self._rhs - self._rows @ point + 1e-9 * (1.0 + np.abs(self._rhs))
        use = signs * self._rows[:, where]
        least = -1e-12 * float(np.abs(cost).max(initial=0.0))
        for size in (1, 2, 3):
            if len(prices) ** size * max(1, len(slack)) > _MOST_COMBINATIONS:
                return None
            chosen = _cheapest_together(prices, use, slack, size, least)
            if chosen is not None:
                change = np.zeros(len(point))
                np.add.at(change, where[chosen], signs[chosen])
                changed = point + change
                return change if ((changed >= self._low) & (changed <= self._high)).all() else None
        return None


def _cheapest_together(prices: Array, use: Array, slack: Array, size: int, least: float) -> list[int] | None:
    """The `size` different changes that save most together, if the constraints allow any that save."""
    total = _sums(prices, size)
    allowed = total < least
    if size > 1:
        axes = np.indices(allowed.shape, sparse=True)
        for one, other in itertools.combinations(axes, 2):
            allowed &= one != other
    for amounts, room in zip(use, slack, strict=True):
        allowed &= _sums(amounts, size) <= room
    if not allowed.any():
        return None
    best = int(np.argmin(np.where(allowed, total, np.inf)))
    return [int(index) for index in np.unravel_index(best, allowed.shape)]


def _sums(values: Array, size: int) -> Array:
    total = values
    for _ in range(size - 1):
        total = np.add.outer(total, values)
    return total
