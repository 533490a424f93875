"""The running standardisation of inputs, compiled: one pass over the features each."""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from osp_core.errors import Array
from osp_core.models.moments import inverse_spread, welford

register_jitable(welford)
register_jitable(inverse_spread)


@njit(cache=True)
def observe(row: Array, count: int, mean: Array, squares: Array) -> tuple[Array, Array, Array]:
    """One step of Welford's method: the mean, the sum of squares and the factors after `count` rows."""
    size = row.size
    new_mean, new_squares, factors = np.empty(size), np.empty(size), np.empty(size)
    for j in range(size):
        new_mean[j], new_squares[j] = welford(row[j], count, mean[j], squares[j])
        factors[j] = inverse_spread(new_squares[j], count, new_mean[j])
    return new_mean, new_squares, factors


@njit(cache=True)
def standardise(row: Array, mean: Array, factors: Array, intercept: bool) -> Array:
    """(1, (row − mean)·factors) divided by its norm."""
    first = 1 if intercept else 0
    scaled = np.ones(row.size + first)
    total = 1.0 if intercept else 0.0
    for j in range(row.size):
        value = (row[j] - mean[j]) * factors[j]
        scaled[first + j] = value
        total += value * value
    if total > 0.0:
        scaled /= np.sqrt(total)
    return scaled


@njit(cache=True)
def largest(row: Array) -> float:
    """The greatest absolute value; NaN where there is one."""
    most = 0.0
    for value in row:
        if not abs(value) <= most:
            most = abs(value)
            if most != most:
                break
    return float(most)
