"""Isotonic regression in plain Python and numpy."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array


def isotonic_decreasing(rows: Array) -> Array:
    """Return, for every row, the nearest non-increasing vector, by pooling adjacent violators: O(d) a row."""
    return np.array([_fit(row) for row in rows.tolist()], dtype=np.float64).reshape(rows.shape)


def _fit(values: list[float]) -> Array:
    lengths: list[float] = []
    totals: list[float] = []
    for value in values:
        total, length = value, 1.0
        # Means compared without dividing.
        while totals and totals[-1] * length <= total * lengths[-1]:
            total += totals.pop()
            length += lengths.pop()
        totals.append(total)
        lengths.append(length)
    return np.repeat(np.array(totals) / np.array(lengths), np.array(lengths, dtype=np.intp))
