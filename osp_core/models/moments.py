"""The running mean and spread of features: one text for a number, for an array, and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

SMALLEST_SPREAD = 1e-50  # its inverse has a square within float64
RELATIVE_SPREAD = 1e-10  # a feature that varies less than this is constant up to rounding

Numbers = Any  # a number, or an array with one entry per feature


def welford(x: Numbers, count: int, mean: Numbers, squares: Numbers) -> tuple[Numbers, Numbers]:
    """Mean and sum of squared deviations after x, the input number `count`, by Welford's method."""
    off = x - mean
    new_mean = mean + off / count
    return new_mean, squares + off * (x - new_mean)


def inverse_spread(squares: Numbers, count: int, mean: Numbers) -> Numbers:
    """One over the standard deviation; 0 for a feature that never varied."""
    spread = np.sqrt(squares / count)
    varies = spread > np.maximum(SMALLEST_SPREAD, RELATIVE_SPREAD * np.abs(mean))
    return varies * (1.0 / np.where(varies, spread, 1.0))
