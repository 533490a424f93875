"""Entropic prediction on plans: Sinkhorn sweeps, then Newton's method on the dual, then exact feasibility."""

from __future__ import annotations

import numpy as np

from osp_birkhoff.certificates import Certified, certified, oracle_gap, unused_capacity
from osp_birkhoff.newton.dual import SMALL, EntropicRows, minimise
from osp_birkhoff.reduction import Reduced, reduce_by_assignment, reduce_rows
from osp_birkhoff.support import Support
from osp_core.errors import Array
from osp_core.kernels import load

SWEEP_TOLERANCE = 1e-12
NEWTON_TOLERANCE = 1e-15
MAX_ITERATIONS = 300
MODERATE_RANGE = 100.0
"""Scores of a larger range start from the potentials of an assignment instead of from sweeps."""
TINY = 1e-300


def entropic_plans(scores: Array, support: Support | None = None) -> list[Certified]:
    """Return argmin Σ y ln y − ⟨scores, y⟩ over the plans, for every matrix of a batch.

    Parameters
    ----------
    scores : array of shape (batch, m, n), m ≤ n
        −∞ for a forbidden entry; what is allowed must be in some assignment.
    support : Support, optional
        What is allowed, where not everything is.

    Returns
    -------
    Points as m×n matrices, with certificates. Every allowed entry is positive: one that underflows is set to
    1e−300, so that the gradient ln y is finite and the gap is a Frank–Wolfe gap.
    """
    kernels = load("osp_birkhoff")
    rows, columns = scores.shape[1:]
    cap = np.inf if rows == columns else 1.0
    factors, left, right, errors, _ = kernels.sinkhorn(
        scores, MODERATE_RANGE, cap, SWEEP_TOLERANCE, 30 + 4000 // columns
    )
    answers = []
    for item, error in enumerate(errors.tolist()):
        if error == np.inf:
            answers.append(_by_newton(reduce_by_assignment(scores[item]), np.zeros(columns), support))
        elif error > SWEEP_TOLERANCE:
            answers.append(_by_newton(reduce_rows(scores[item]), -np.log(right[item]), support))
        elif support is None:
            point = factors[item]
            gap = kernels.scale_to_point(point, left[item], right[item], cap)
            answers.append(certified(point, gap, lambda item=item: reduce_rows(scores[item]), _oracle_gap))
        else:
            plan = left[item][:, np.newaxis] * factors[item] * right[item]
            duals = -np.log(left[item]), -np.log(right[item])
            answers.append(_finish(reduce_rows(scores[item]), plan, *duals, support))
    return answers


def _by_newton(problem: Reduced, start: Array, support: Support | None) -> Certified:
    return _finish(problem, *_newton(problem, start), support)


def _newton(problem: Reduced, start: Array) -> tuple[Array, Array, Array]:
    """Return the plan, its levels and its potentials."""
    kernels = load("osp_birkhoff.newton")
    limits = NEWTON_TOLERANCE, MAX_ITERATIONS
    if len(start) <= SMALL:
        return kernels.newton_entropic(problem.scores, start, problem.floor, *limits)[:3]  # type: ignore[no-any-return]
    return minimise(EntropicRows(kernels.softmax_rows), problem.scores, start, problem.floor, *limits)[:3]


def _finish(
    problem: Reduced, plan: Array, levels: Array, potentials: Array, support: Support | None
) -> Certified:
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
    return certified(point, gap, lambda: problem, _oracle_gap)


def _oracle_gap(problem: Reduced, point: Array) -> float:
    allowed = problem.scores > -np.inf
    gradient = np.log(np.where(allowed, point, 1.0)) - np.where(allowed, problem.scores, 0.0)
    return oracle_gap(np.where(allowed, gradient, np.inf), point, problem.floor)
