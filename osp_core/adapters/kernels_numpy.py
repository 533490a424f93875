"""The running standardisation of inputs, in numpy."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array

SMALLEST_SPREAD = 1e-50
RELATIVE_SPREAD = 1e-10  # a column that varies less than this is constant up to rounding


def observe(row: Array, count: int, mean: Array, squares: Array) -> tuple[Array, Array, Array]:
    """One step of Welford's method: the mean, the sum of squares and the factors after `count` rows."""
    difference = row - mean
    new_mean = mean + difference / count
    new_squares = squares + difference * (row - new_mean)
    spread = np.sqrt(new_squares / count)
    varies = spread > np.maximum(SMALLEST_SPREAD, RELATIVE_SPREAD * np.abs(new_mean))
    return new_mean, new_squares, np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)


def standardise(row: Array, mean: Array, factors: Array, intercept: bool) -> Array:
    """(1, (row − mean)·factors) divided by its norm."""
    scaled = np.ones(row.size + intercept)
    scaled[intercept:] = (row - mean) * factors
    norm = float(np.sqrt(scaled @ scaled))
    return scaled / norm if norm > 0 else scaled


def largest(row: Array) -> float:
    """The greatest absolute value; NaN where there is one."""
    return float(np.abs(row).max()) if row.size else 0.0
