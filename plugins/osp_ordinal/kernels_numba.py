"""Isotonic regression, compiled; see `kernels_numpy` for the contract."""

from __future__ import annotations

import numpy as np
from numba import njit

from osp_core.errors import Array


@njit(cache=True)
def isotonic_decreasing(rows: Array) -> Array:
    fitted = np.empty(rows.shape)
    size = rows.shape[1]
    ends, totals, means = np.empty(size, dtype=np.int64), np.empty(size), np.empty(size)
    for row in range(rows.shape[0]):
        blocks = 0
        for place in range(size):
            total = mean = rows[row, place]
            while blocks > 0 and means[blocks - 1] <= mean:
                blocks -= 1
                total += totals[blocks]
                mean = total / (place + 1 - (ends[blocks - 1] if blocks > 0 else 0))
            ends[blocks], totals[blocks], means[blocks] = place + 1, total, mean
            blocks += 1
        start = 0
        for block in range(blocks):
            fitted[row, start : ends[block]] = means[block]
            start = ends[block]
    return fitted
