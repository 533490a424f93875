"""Better integer points without branch and bound: change one entry, or two, while it pays."""

from __future__ import annotations

from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.frank_wolfe import VertexCache
from osp_polytope.canonical import StandardForm

_MOST_PAIRS = 2_000_000  # pairs of changes times constraints that are looked at in one step
_STEPS = 200


class ImprovingCache(VertexCache):
    """Remembers integer points, and improves the one it recalls by local search.

    The engine asks it before the oracle, so branch and bound is left with what local search cannot find, and
    with the certificate.
    """

    def __init__(self, form: StandardForm, capacity: int = 1000) -> None:
        super().__init__(capacity)
        self._search = None if form.hidden.any() else _LocalSearch(form)

    def cheapest(self, cost: Array) -> Array | None:
        """Return a known integer point of low cost, or None when nothing is known."""
        vertex = super().cheapest(cost)
        if vertex is None or self._search is None:
            return vertex
        improved = self._search.improve(vertex, cost)
        if improved is not vertex:
            self.add(improved)
        return improved


class _LocalSearch:
    """Steepest descent over changes of one or two entries by ±1 that respect the constraints."""

    def __init__(self, form: StandardForm) -> None:
        columns = form.column_of
        n_equal = len(form.rhs) - form.n_slacks
        rows = form.matrix[:, columns].toarray()
        # Equations hold in both directions: as two inequalities, all rows read alike.
        self._rows = np.vstack([rows, -rows[:n_equal]])
        self._rhs = np.concatenate([form.rhs, -form.rhs[:n_equal]])
        self._low, self._high = form.low[columns], form.high[columns]

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
        single = np.where((use <= slack[:, np.newaxis]).all(axis=0), prices, 0.0)
        best = int(np.argmin(single)) if len(single) else 0
        value = float(single[best]) if len(single) else 0.0
        pair = self._best_pair(prices, use, slack, min(value, least))
        chosen: Any = pair if pair is not None else ([best] if value < least else None)
        if chosen is None:
            return None
        change = np.zeros(len(point))
        np.add.at(change, where[chosen], signs[chosen])
        inside = ((point + change >= self._low) & (point + change <= self._high)).all()
        return change if change.any() and inside else None

    def _best_pair(self, prices: Array, use: Array, slack: Array, bound: float) -> list[int] | None:
        """The two changes that save most together, if they save more than `bound`."""
        count = len(prices)
        if count * count * max(1, len(slack)) > _MOST_PAIRS:
            return None
        total = np.add.outer(prices, prices)
        allowed = total < bound
        np.fill_diagonal(allowed, False)
        for amounts, room in zip(use, slack, strict=True):
            allowed &= np.add.outer(amounts, amounts) <= room
        if not allowed.any():
            return None
        flat = int(np.argmin(np.where(allowed, total, np.inf)))
        return [flat // count, flat % count]
