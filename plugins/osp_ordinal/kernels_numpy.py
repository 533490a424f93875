"""Isotonic regression in plain Python and numpy."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array


def isotonic_decreasing(rows: Array) -> Array:
    """Return, for every row, the nearest non-increasing vector, by pooling adjacent violators: O(d) a row."""
    return np.array([_fit(row) for row in rows.tolist()], dtype=np.float64).reshape(rows.shape)


def _fit(values: list[float]) -> Array:
    ends: list[int] = []
    totals: list[float] = []
    means: list[float] = []
    for place, value in enumerate(values):
        total = mean = value
        while means and means[-1] <= mean:
            means.pop()
            ends.pop()
            total += totals.pop()
            mean = total / (place + 1 - (ends[-1] if ends else 0))
        ends.append(place + 1)
        totals.append(total)
        means.append(mean)
    return np.repeat(means, np.diff(ends, prepend=0))
