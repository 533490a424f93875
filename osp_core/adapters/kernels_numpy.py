"""The running standardisation of inputs, in numpy."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array
from osp_core.models.moments import inverse_spread, welford


def observe(row: Array, count: int, mean: Array, squares: Array) -> tuple[Array, Array, Array]:
    """One step of Welford's method: the mean, the sum of squares and the factors after `count` rows."""
    new_mean, new_squares = welford(row, count, mean, squares)
    return new_mean, new_squares, inverse_spread(new_squares, count, new_mean)


def standardise(row: Array, mean: Array, factors: Array, intercept: bool) -> Array:
    """(1, (row − mean)·factors) divided by its norm."""
    scaled = np.ones(row.size + intercept)
    scaled[intercept:] = (row - mean) * factors
    norm = float(np.sqrt(scaled @ scaled))
    return scaled / norm if norm > 0 else scaled


def largest(row: Array) -> float:
    """The greatest absolute value; NaN where there is one."""
    return float(np.abs(row).max()) if row.size else 0.0
