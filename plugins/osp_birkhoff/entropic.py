"""Entropic prediction on plans: Sinkhorn sweeps, then Newton's method on the dual, then exact feasibility."""

from __future__ import annotations

from functools import partial

import numpy as np

from osp_birkhoff.certificates import certified, oracle_gap, unused_capacity
from osp_birkhoff.newton.dual import SMALL, EntropicRows, minimise
from osp_birkhoff.reduction import Reduced, column_floor, reduce_by_assignment
from osp_birkhoff.support import Support
from osp_core.errors import Array
from osp_core.kernels import load
from osp_core.predictions import Prediction

SWEEP_TOLERANCE = 1e-12
NEWTON_TOLERANCE = 1e-15
MAX_ITERATIONS = 300
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
    kernels = load("osp_birkhoff")
    rows, columns = scores.shape[1:]
    cap = np.inf if rows == columns else 1.0
    floor = column_floor(rows, columns)
    shifted, lowest = kernels.shift_rows(scores)
    moderate = lowest >= -MODERATE_RANGE
    factors = np.exp(shifted if moderate.all() else shifted[moderate])
    left, right, errors, _ = kernels.sinkhorn(factors, cap, SWEEP_TOLERANCE, 30 + 4000 // columns)
    predictions = []
    at = -1
    for item, is_moderate in enumerate(moderate.tolist()):
        if not is_moderate:
            problem = reduce_by_assignment(scores[item])
            predictions.append(_finish(problem, *_newton(problem, np.zeros(columns)), support))
            continue
        at += 1
        problem = Reduced(shifted[item], floor)
        if errors[at] > SWEEP_TOLERANCE:
            solution = _newton(problem, -np.log(right[at]))
            predictions.append(_finish(problem, *solution, support))
        elif support is None:
            point, gap = kernels.scaled_point(factors[at], problem.scores, left[at], right[at], cap)
            predictions.append(certified(point, gap, problem, partial(_oracle_gap, problem, point)))
        else:
            plan = left[at][:, np.newaxis] * factors[at] * right[at]
            levels, potentials = -np.log(left[at]), -np.log(right[at])
            predictions.append(_finish(problem, plan, levels, potentials, support))
    return predictions


def _newton(problem: Reduced, start: Array) -> tuple[Array, Array, Array]:
    """Return the plan, its levels and its potentials."""
    kernels = load("osp_birkhoff.newton")
    limits = NEWTON_TOLERANCE, MAX_ITERATIONS
    if len(start) <= SMALL:
        return kernels.newton_entropic(problem.scores, start, problem.floor, *limits)[:3]  # type: ignore[no-any-return]
    return minimise(EntropicRows(kernels.softmax_rows), problem.scores, start, problem.floor, *limits)[:3]


def _finish(
    problem: Reduced, plan: Array, levels: Array, potentials: Array, support: Support | None
) -> Prediction:
    """Make the plan feasible to rounding, and certify it."""
    kernels = load("osp_birkhoff")
    # Both ways only raise entries, up to a common factor: one that is too small would cost a large gap.
    if support is None:
        point = plan.copy()
        kernels.cap_and_fill(point)
        np.maximum(point, TINY, out=point)
    else:
        point = np.where(support.live, np.maximum(support.repair(plan), TINY), 0.0)
    gap = kernels.entropic_gap(point, plan, problem.scores, levels, potentials)
    gap += unused_capacity(point, potentials, problem.floor)
    return certified(point, gap, problem, partial(_oracle_gap, problem, point))


def _oracle_gap(problem: Reduced, point: Array) -> float:
    allowed = problem.scores > -np.inf
    gradient = np.log(np.where(allowed, point, 1.0)) - np.where(allowed, problem.scores, 0.0)
    return oracle_gap(np.where(allowed, gradient, np.inf), point, problem.floor)
