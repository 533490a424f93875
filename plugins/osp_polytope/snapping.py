"""Vertices to exact numbers: fractions with small denominators where they are, else a fixed grid."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array

PRECISION = 1e-10
"""Entries this near to a fraction become it; others are rounded to multiples of this."""
LARGEST_DENOMINATOR = 1000


def snap(vertex: Array) -> Array:
    """Return the vertex with entries made exact, so that equal vertices have equal bytes."""
    rounded = np.round(vertex)
    scale = np.maximum(1.0, np.abs(vertex))
    off = np.abs(vertex - rounded) > PRECISION * scale
    if off.any():
        rounded[off] = _fractions(vertex[off])
    return rounded + 0.0  # no −0.0


def _fractions(values: Array) -> Array:
    """The nearest fraction by continued fractions, where it is within PRECISION; the grid otherwise."""
    result = np.round(values / PRECISION) * PRECISION
    scale = np.maximum(1.0, np.abs(values))
    found = np.zeros(values.shape, dtype=bool)
    below, current = np.ones_like(values), np.floor(values)  # numerators
    q_below, q_current = np.zeros_like(values), np.ones_like(values)
    rest = values - current
    for _ in range(20):
        ratio = current / q_current
        hit = ~found & (np.abs(ratio - values) <= PRECISION * scale)
        result[hit], found = ratio[hit], found | hit
        inverse = 1.0 / np.where(rest > 1e-13, rest, np.inf)
        whole = np.floor(inverse)
        alive = ~found & (whole > 0) & (whole * q_current + q_below <= LARGEST_DENOMINATOR)
        if not alive.any():
            break
        below, current = np.where(alive, current, below), np.where(alive, whole * current + below, current)
        q_below, q_current = (
            np.where(alive, q_current, q_below),
            np.where(alive, whole * q_current + q_below, q_current),
        )
        rest = np.where(alive, inverse - whole, 0.0)
    return result
