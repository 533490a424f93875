"""Isotonic regression, compiled; see `kernels_numpy` for the contract."""

from __future__ import annotations

import numpy as np
from numba import njit

from osp_core.errors import Array


@njit(cache=True)
def isotonic_decreasing(rows: Array) -> Array:
    fitted = np.empty(rows.shape)
    size = rows.shape[1]
    ends, lengths, totals = np.empty(size, dtype=np.int64), np.empty(size), np.empty(size)
    for row in range(rows.shape[0]):
        blocks = 0
        for place in range(size):
            total, length = rows[row, place], 1.0
            # Means compared without dividing.
            while blocks > 0 and totals[blocks - 1] * length <= total * lengths[blocks - 1]:
                blocks -= 1
                total += totals[blocks]
                length += lengths[blocks]
            ends[blocks], lengths[blocks], totals[blocks] = place + 1, length, total
            blocks += 1
        start = 0
        for block in range(blocks):
            mean = totals[block] / lengths[block]
            for place in range(start, ends[block]):
                fitted[row, place] = mean
            start = ends[block]
    return fitted
