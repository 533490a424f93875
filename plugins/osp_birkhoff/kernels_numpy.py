"""The inner loops of the Birkhoff family in numpy: the reference for `kernels_numba`.

Plans are m×n matrices with m ≤ n. A row's *level* is its dual variable α (log-partition or threshold);
*potentials* are the dual variables β of the columns. Forbidden entries have score −∞.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array

TINY = 1e-300


def sinkhorn(
    scores: Array, widest: float, cap: float, tol: float, max_sweeps: int
) -> tuple[Array, Array, Array, Array, NDArray[np.int64]]:
    """Scale exp(scores) of a batch until all rows sum to 1 and all columns to 1 (or at most 1).

    Parameters
    ----------
    scores : array of shape (batch, m, n)
        The rounded maximum of every row is taken out first: whole numbers leave no rounding errors.
    widest : float
        Matrices with a row of a larger range are left alone.
    cap : float
        Greatest column factor: 1 where columns need not be full, else infinity.
    tol : float
        Largest error of a column sum.
    max_sweeps : int
        Sweeps end earlier where their rate shows that this many would not be enough.

    Returns
    -------
    The exponentials; row factors, column factors, errors and numbers of sweeps, one of each per matrix.
    Rows sum to 1. The error is infinite for a matrix that was left alone.
    """
    batch, rows, columns = scores.shape
    shifted = scores - np.rint(scores.max(axis=2, keepdims=True))
    lowest = np.where(shifted > -np.inf, shifted, 0.0).min(axis=(1, 2), initial=0.0)
    factors = np.exp(shifted, out=shifted)
    left, right = np.ones((batch, rows)), np.ones((batch, columns))
    errors, sweeps = np.full(batch, np.inf), np.zeros(batch, np.int64)
    active = np.flatnonzero(lowest >= -widest)
    while active.size:
        kernel, v = factors[active], right[active]
        u = 1.0 / np.einsum("bij,bj->bi", kernel, v)
        sums = np.einsum("bij,bi->bj", kernel, u)
        scaled = np.minimum(cap, 1.0 / sums)
        error = (np.abs(scaled - v) * sums).max(axis=1)
        left_over = max_sweeps - sweeps[active]
        expected = error * np.minimum(error / errors[active], 1.0) ** left_over
        left[active], errors[active] = u, error
        stay = (error > tol) & (left_over > 0) & ~((sweeps[active] >= 6) & (expected > tol))
        active, scaled = active[stay], scaled[stay]
        right[active] = scaled
        sweeps[active] += 1
    return factors, left, right, errors, sweeps


def cap_and_fill(plan: Array) -> None:
    """Make a plan whose rows sum to 1 feasible, in place: cap full columns, fill with a rank-one matrix.

    What is missing by no more than rounding stays missing: the dust would cost more than it mends.
    """
    plan /= np.maximum(plan.sum(axis=0), 1.0)
    missing_row = np.maximum(1.0 - plan.sum(axis=1), 0.0)
    missing_column = np.maximum(1.0 - plan.sum(axis=0), 0.0)
    if missing_row.sum() > 4e-16 * len(plan) and missing_column.any():
        plan += np.outer(missing_row, missing_column / missing_column.sum())


def entropic_gap(point: Array, plan: Array, scores: Array, levels: Array, potentials: Array) -> float:
    """Return ⟨g, point⟩ − Σᵢ minⱼ gᵢⱼ with g = ln point − (scores − potentials − levels).

    g is the gradient of Σ y ln y − ⟨scores, y⟩ up to terms that are constant over rows and columns, so this
    bounds the Frank–Wolfe gap: no assignment has a cost below the sum of the row minima. `plan` is
    exp(scores − potentials − levels), which saves the compiled twin most logarithms.
    """
    allowed = scores > -np.inf
    exponents = np.where(allowed, scores - potentials - levels[:, np.newaxis], 0.0)
    slopes = np.where(allowed, np.log(np.where(allowed, point, 1.0)) - exponents, np.inf)
    return float((point * np.where(allowed, slopes, 0.0)).sum() - slopes.min(axis=1).sum())


def scale_to_point(factors: Array, left: Array, right: Array, cap: float) -> float:
    """Turn `factors`, whose scaled rows sum to 1, into a feasible point, in place; return its gap bound."""
    plan = np.maximum(left[:, np.newaxis] * factors * right, TINY)
    factors[...] = plan
    cap_and_fill(factors)
    slopes = np.log1p((factors - plan) / plan)
    gap = float((factors * slopes).sum() - slopes.min(axis=1).sum())
    if cap < np.inf:
        gap -= float(np.log(right) @ np.maximum(1.0 - factors.sum(axis=0), 0.0))
    return gap


def all_distances(lengths: Array) -> None:
    """Replace edge lengths by shortest-path lengths, in place (Floyd–Warshall)."""
    for via in range(len(lengths)):
        np.minimum(lengths, lengths[:, via : via + 1] + lengths[via], out=lengths)


def euclidean_gap(point: Array, scores: Array, levels: Array, potentials: Array) -> float:
    """Return the same bound for ½‖y − scores‖², with g = point − (scores − potentials − levels)."""
    allowed = scores > -np.inf
    moved = np.where(allowed, scores - potentials - levels[:, np.newaxis], 0.0)
    slopes = np.where(allowed, point - moved, np.inf)
    return float((point * np.where(allowed, slopes, 0.0)).sum() - slopes.min(axis=1).sum())


def is_plan(matrix: Array) -> bool:
    """Whether the entries are 0 and 1, with one 1 in every row and at most one in every column."""
    whole = ((matrix == 0) | (matrix == 1)).all()
    return bool(whole and (matrix.sum(axis=1) == 1).all() and (matrix.sum(axis=0) <= 1).all())


def violation(matrix: Array) -> float:
    """How far entries are below 0, rows are from 1, and columns from 1 (above 1 where m < n), at most."""
    excess = matrix.sum(axis=0) - 1.0
    columns_off = np.abs(excess).max() if matrix.shape[0] == matrix.shape[1] else excess.max()
    return float(max(-matrix.min(), np.abs(matrix.sum(axis=1) - 1.0).max(), columns_off))
