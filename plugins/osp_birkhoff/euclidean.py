"""Euclidean projection on plans: semismooth Newton on the dual, exact once the support is found."""

from __future__ import annotations

import numpy as np

from osp_birkhoff.certificates import certified, oracle_gap
from osp_birkhoff.dual import EuclideanRows, minimise_dual
from osp_birkhoff.entropic import unused_capacity
from osp_birkhoff.reduction import reduce_by_assignment, reduce_rows
from osp_birkhoff.support import Support
from osp_core.errors import Array
from osp_core.kernels import load
from osp_core.predictions import Prediction

TOLERANCE = 1e-14
SMALL_RANGE = 1.0
"""Scores of a larger range start from the potentials of an assignment."""


def euclidean_plan(scores: Array, support: Support | None = None) -> Prediction:
    """Return the point of the polytope nearest to `scores`, an m×n matrix with −∞ for forbidden entries."""
    rows, columns = scores.shape
    lowest = scores.min() if support is None else scores[scores > -np.inf].min()
    problem = reduce_rows(scores) if scores.max() - lowest <= SMALL_RANGE else reduce_by_assignment(scores)
    solution = minimise_dual(
        EuclideanRows(), problem.scores, np.zeros(columns), problem.floor, TOLERANCE * rows
    )
    point = solution.plan.copy()
    # A plan that is right to rounding keeps its zeros; filling would put dust on every entry.
    if solution.error > 1e-13 * rows:
        if support is None:
            load(__package__).cap_and_fill(point)
        else:
            point = support.repair(point)
    allowed = problem.scores > -np.inf
    moved = np.where(allowed, problem.scores, 0.0) - solution.potentials - solution.levels[:, np.newaxis]
    slopes = np.where(allowed, point - moved, np.inf)
    gap = float((np.where(allowed, slopes, 0.0) * point).sum() - slopes.min(axis=1).sum())
    gap += unused_capacity(point, solution.potentials, problem.floor)
    return certified(
        point, gap, lambda: oracle_gap(_gradient(slopes, solution.potentials, problem.floor), point)
    )


def _gradient(slopes: Array, potentials: Array, floor: Array) -> Array:
    """The gradient up to row constants: where columns need not be full, their prices count."""
    return slopes if not np.isfinite(floor[0]) else slopes - (potentials - floor)
