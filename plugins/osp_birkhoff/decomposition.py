"""The Birkhoff–von Neumann decomposition, aware of rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array, NumericalError

NEGLIGIBLE = 1e-13
"""Entries below this are rounding; they are dropped and their mass goes to the last term."""
UNUSABLE = 1e9


def decompose_plan(plan: Array) -> tuple[NDArray[np.intp], Array]:
    """Write an m×n plan as a convex combination of assignments.

    Every term is the assignment with the greatest product of entries, which takes big steps: about half
    the number of terms that arbitrary assignments need.

    Parameters
    ----------
    plan : array of shape (m, n), m ≤ n
        Entries ≥ 0, rows sum to 1, columns to 1 (m = n) or at most 1.

    Returns
    -------
    Columns chosen by every term, of shape (k, m), and the weights, of shape (k,). Every term makes an
    entry (or a column's spare capacity) vanish, so k is at most the dimension of the polytope plus one:
    (n−1)² + 1 for m = n, m(n−1) + 1 otherwise.
    """
    from scipy.optimize import linear_sum_assignment

    spare = _Spare(plan)
    # The entries of row i that are left, flat, so that a term is one array of positions.
    rest = np.where(plan < NEGLIGIBLE, 0.0, plan).ravel()
    rows, starts = len(plan), np.arange(len(plan)) * plan.shape[1]
    terms, weights, left = [], [], 1.0
    with np.errstate(divide="ignore"):
        costs = -np.log(rest)
        while left > NEGLIGIBLE * rows:
            try:
                chosen = linear_sum_assignment(spare.priced(costs.reshape(plan.shape)))[1]
            except ValueError:  # rounding has left no assignment in the support
                break
            at = starts + chosen
            entries = rest[at]
            weight = min(float(entries.min()), spare.smallest(chosen), left)
            if weight <= 0.0:
                break
            terms.append(chosen)
            weights.append(weight)
            left -= weight
            entries -= weight
            entries[entries < NEGLIGIBLE] = 0.0
            rest[at], costs[at] = entries, -np.log(entries)
            spare.take(chosen, weight)
    if left > 1e-9 or not terms:
        raise NumericalError(f"The decomposition stopped with a mass of {left:.3g} left over.")
    weights[-1] += max(left, 0.0)
    total = np.array(weights)
    return np.array(terms), total / total.sum()


class _Spare:
    """The capacity that columns have left over; nothing to do where m = n."""

    def __init__(self, plan: Array) -> None:
        self.square = plan.shape[0] == plan.shape[1]
        self.left = np.maximum(1.0 - plan.sum(axis=0), 0.0)
        self.left[self.left < NEGLIGIBLE] = 0.0

    def priced(self, costs: Array) -> Array:
        """Costs that also count the product of the spare capacities of the columns left free."""
        if self.square:
            return costs
        bonus = np.log(self.left, where=self.left > 0, out=np.full(self.left.shape, -UNUSABLE))
        return np.asarray(costs + bonus)

    def smallest(self, chosen: NDArray[np.intp]) -> float:
        """The least spare capacity among the columns that a term leaves free."""
        if self.square:
            return np.inf
        return float(np.delete(self.left, chosen).min())

    def take(self, chosen: NDArray[np.intp], weight: float) -> None:
        """Use up spare capacity of the columns left free."""
        if not self.square:
            free = np.setdiff1d(np.arange(len(self.left)), chosen)
            self.left[free] -= weight
            self.left[self.left < NEGLIGIBLE] = 0.0
