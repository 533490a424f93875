"""Entropic prediction on plans: Sinkhorn sweeps, then Newton's method on the dual, then exact feasibility."""

from __future__ import annotations

import numpy as np

from osp_birkhoff.certificates import certified, oracle_gap
from osp_birkhoff.dual import DualSolution, EntropicRows, minimise_dual
from osp_birkhoff.reduction import Reduced, reduce_by_assignment, reduce_rows
from osp_birkhoff.support import Support
from osp_core.errors import Array
from osp_core.kernels import load
from osp_core.predictions import Prediction

SWEEP_TOLERANCE = 1e-12
NEWTON_TOLERANCE = 1e-13
MODERATE_RANGE = 100.0
"""Scores of a larger range start from the potentials of an assignment instead of from sweeps."""
TINY = 1e-300


def entropic_plans(scores: Array, support: Support | None = None) -> list[Prediction]:
    """Return argmin Σ y ln y − ⟨scores, y⟩ over the plans, for every matrix of a batch.

    Parameters
    ----------
    scores : array of shape (batch, m, n), m ≤ n
        −∞ for a forbidden entry; what is allowed must be in some assignment.
    support : Support, optional
        What is allowed, where not everything is.

    Returns
    -------
    Predictions whose points are m×n matrices. Every allowed entry is positive: one that underflows is set to
    1e−300, so that the gradient ln y is finite and the gap is a Frank–Wolfe gap.
    """
    kernels = load(__package__)
    rows, columns = scores.shape[1:]
    shifted = scores - np.rint(scores.max(axis=2, keepdims=True))  # whole numbers leave no rounding behind
    lowest = (
        shifted.min(axis=(1, 2))
        if support is None
        else np.where(shifted > -np.inf, shifted, 0.0).min(axis=(1, 2))
    )
    moderate = lowest >= -MODERATE_RANGE
    factors = np.exp(shifted if moderate.all() else shifted[moderate])
    cap = np.inf if rows == columns else 1.0
    left, right, errors, _ = kernels.sinkhorn(factors, cap, SWEEP_TOLERANCE, 30 + 4000 // columns)
    position = iter(range(len(factors)))
    predictions = []
    for item in range(len(scores)):
        if not moderate[item]:
            predictions.append(_newton(reduce_by_assignment(scores[item]), None, support))
            continue
        at = next(position)
        if errors[at] > SWEEP_TOLERANCE:
            predictions.append(_newton(reduce_rows(scores[item]), -np.log(right[at]), support))
            continue
        plan = left[at][:, np.newaxis] * factors[at] * right[at]
        levels, potentials = -np.log(left[at]), -np.log(right[at])
        solution = DualSolution(plan, levels, potentials, float(errors[at]))
        floor = np.full(columns, -np.inf) if rows == columns else np.zeros(columns)
        predictions.append(_finish(Reduced(shifted[item], floor), solution, support))
    return predictions


def _newton(problem: Reduced, potentials: Array | None, support: Support | None) -> Prediction:
    start = np.zeros(len(problem.floor)) if potentials is None else potentials
    solution = minimise_dual(EntropicRows(), problem.scores, start, problem.floor, NEWTON_TOLERANCE)
    return _finish(problem, solution, support)


def _finish(problem: Reduced, solution: DualSolution, support: Support | None) -> Prediction:
    """Make the plan feasible to rounding, and certify it."""
    kernels = load(__package__)
    # Both ways only raise entries, up to a common factor: one that is too small would cost a large gap.
    if support is None:
        point = solution.plan.copy()
        kernels.cap_and_fill(point)
        np.maximum(point, TINY, out=point)
    else:
        point = support.repair(solution.plan)
        point = np.where(problem.scores > -np.inf, np.maximum(point, TINY), 0.0)
    gap = kernels.entropic_gap(point, solution.plan, problem.scores, solution.levels, solution.potentials)
    gap += unused_capacity(point, solution.potentials, problem.floor)
    return certified(point, gap, lambda: _oracle_gap(problem, point))


def _oracle_gap(problem: Reduced, point: Array) -> float:
    floor = np.where(np.isfinite(problem.floor), problem.floor, 0.0)
    allowed = problem.scores > -np.inf
    gradient = np.log(np.where(allowed, point, 1.0)) - np.where(allowed, problem.scores, 0.0) + floor
    return oracle_gap(np.where(allowed, gradient, np.inf), point)


def unused_capacity(point: Array, potentials: Array, floor: Array) -> float:
    """What a column with a price may still take: the part of the gap that the reduced scores do not show."""
    if not np.isfinite(floor[0]):
        return 0.0
    return float((potentials - floor) @ np.maximum(1.0 - point.sum(axis=0), 0.0))
