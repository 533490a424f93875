"""Certificates of predictions on plans: a bound for free, the oracle where that is too loose."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from osp_birkhoff.reduction import Reduced
from osp_core.errors import Array
from osp_core.geometry.status import Status

TOLERANCE = 1e-9
RELATIVE = 1e-11
"""A gap is optimal up to TOLERANCE per row, plus RELATIVE per unit of the score range."""


class Certified(NamedTuple):
    """A feasible m×n matrix with what a prediction says of it."""

    point: Array
    gap: float
    status: Status
    lmo_calls: int


def certified(
    point: Array, bound: float, problem: Callable[[], Reduced], oracle: Callable[[Reduced, Array], float]
) -> Certified:
    """Judge a point by a bound of its Frank–Wolfe gap.

    The dual variables of the solver already bound the cost of every assignment from below; an oracle
    call gives the gap itself, and is spent only when that bound is loose.
    """
    rows = len(point)
    # Entries and dual variables are known to a few units in the last place.
    rounding = 1e-15 * rows
    if bound <= TOLERANCE * rows:
        return Certified(point, max(bound, 0.0) + rounding, Status.OPTIMAL, 0)
    reduced = problem()
    tolerance = rows * (TOLERANCE + RELATIVE * reduced.range)
    calls = 0
    if bound > tolerance:
        bound, calls = min(bound, oracle(reduced, point)), 1
    gap = max(bound, 0.0) + rounding
    return Certified(point, gap, Status.OPTIMAL if gap <= tolerance else Status.STALLED, calls)


def oracle_gap(gradient: Array, point: Array, floor: Array) -> float:
    """Return max_v ⟨gradient, point − v⟩ over assignments v.

    `gradient` is that for the reduced scores, +∞ where an entry is forbidden. Prices that were taken out
    of columns that need not be full, −floor, are put back here.
    """
    from scipy.optimize import linear_sum_assignment

    costs = gradient + np.where(np.isfinite(floor), floor, 0.0)
    chosen = linear_sum_assignment(costs)
    paid = np.where(np.isfinite(costs), costs, 0.0) * point
    return float(paid.sum() - costs[chosen].sum())


def unused_capacity(point: Array, potentials: Array, floor: Array) -> float:
    """What a column with a price may still take: the part of the gap that the reduced scores do not show."""
    if np.isinf(floor[0]):
        return 0.0
    return float((potentials - floor) @ np.maximum(1.0 - point.sum(axis=0), 0.0))
