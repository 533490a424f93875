"""Euclidean projection on plans: semismooth Newton on the dual, exact once the support is found."""

from __future__ import annotations

import numpy as np

from osp_birkhoff.certificates import Certified, certified, oracle_gap, unused_capacity
from osp_birkhoff.newton.dual import SMALL, EuclideanRows, minimise
from osp_birkhoff.reduction import Reduced, reduce_by_assignment, reduce_rows
from osp_birkhoff.support import Support
from osp_core.errors import Array, NumericalError
from osp_core.kernels import load

TOLERANCE = 1e-15
MAX_ITERATIONS = 300
SMALL_RANGE = 8.0
"""Scores of a larger range start from the potentials of an assignment."""

LARGEST_RANGE = 1e30
"""Beyond it Newton's method would divide zero by zero."""


def euclidean_plan(scores: Array, support: Support | None = None) -> Certified:
    """Return the point of the polytope nearest to `scores`, an m×n matrix with −∞ for forbidden entries."""
    kernels, newton = load("osp_birkhoff"), load("osp_birkhoff.newton")
    rows, columns = scores.shape
    lowest = scores.min() if support is None else scores[support.live].min()
    if scores.max() - lowest > LARGEST_RANGE:
        raise NumericalError(
            f"Scores that differ by {scores.max() - lowest:.3g} cannot be projected; scale them down."
        )
    problem = reduce_rows(scores) if scores.max() - lowest <= SMALL_RANGE else reduce_by_assignment(scores)
    inputs = problem.scores, np.zeros(columns), problem.floor, TOLERANCE * rows, MAX_ITERATIONS
    if columns <= SMALL:
        point, levels, potentials, error, _ = newton.newton_euclidean(*inputs)
    else:
        point, levels, potentials, error, _ = minimise(EuclideanRows(newton.sparsemax_rows), *inputs)
    # A plan that is right to rounding keeps its zeros; filling would put dust on every entry.
    if error > 1e-13 * rows:
        if support is None:
            kernels.cap_and_fill(point)
        else:
            point = support.repair(point)
    gap = kernels.euclidean_gap(point, problem.scores, levels, potentials)
    gap += unused_capacity(point, potentials, problem.floor)
    return certified(point, gap, lambda: problem, _oracle_gap)


def _oracle_gap(problem: Reduced, point: Array) -> float:
    allowed = problem.scores > -np.inf
    gradient = point - np.where(allowed, problem.scores, 0.0)
    return oracle_gap(np.where(allowed, gradient, np.inf), point, problem.floor)
