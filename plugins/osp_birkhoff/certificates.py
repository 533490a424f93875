"""Certificates of predictions on plans: a bound for free, the oracle where that is too loose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from osp_core.errors import Array
from osp_core.frank_wolfe.result import Status
from osp_core.predictions import Prediction

TOLERANCE = 1e-9
"""Gaps above this, per row, are not optimal."""


def certified(point: Array, bound: float, oracle: Callable[[], float]) -> Prediction:
    """Make a prediction of a point and a bound of its Frank–Wolfe gap.

    The dual variables of the solver already bound the cost of every assignment from below; an oracle
    call gives the gap itself, and is spent only when that bound is loose.
    """
    rows = len(point)
    calls = 0
    if bound > TOLERANCE * rows:
        bound, calls = min(bound, oracle()), 1
    # Entries and dual variables are known to a few units in the last place.
    gap = max(bound, 0.0) + 1e-15 * rows
    status = Status.OPTIMAL if gap <= TOLERANCE * rows else Status.STALLED
    return Prediction(point, gap=gap, status=status, lmo_calls=calls)


def oracle_gap(gradient: Array, point: Array) -> float:
    """Return max_v ⟨gradient, point − v⟩ over assignments v; +∞ in the gradient forbids an entry."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(gradient)
    allowed = np.isfinite(gradient)
    return float((np.where(allowed, gradient, 0.0) * point).sum() - gradient[rows, columns].sum())
