"""The formulas of [SBTO24, Algorithm 1]: one text for a number, for an array, and for compiled rounds.

Plain Python and numpy within what numba can compile, where every argument but `rng` is a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NEGLIGIBLE = 1e-12  # distances below this are rounding: ŷ is a vertex

Numbers = Any  # a number, or an array of them


def significant(distance: Numbers) -> Numbers:
    """The distance Δ* of ŷ from its nearest output; 0 where it is rounding."""
    return distance * (distance >= NEGLIGIBLE)


def probability(distance: Numbers, nu: float) -> Numbers:
    """p = min(1, 2Δ*/ν), the probability of randomising at a distance Δ* from the nearest output."""
    return np.minimum(1.0, 2.0 * distance / nu)


def mixture(p: Numbers, nearest: Numbers, y_hat: Numbers) -> Numbers:
    """The mean of what is played, (1 − p)·y* + p·ŷ."""
    return (1.0 - p) * nearest + p * y_hat


def randomises(p: float, rng: np.random.Generator) -> bool:
    """Toss the coin of a round: one uniform number, and none where y* is certain."""
    return p > 0.0 and rng.random() < p
