"""Newton's method on the dual in numpy: the reference for `kernels_numba`."""

from __future__ import annotations

import numpy as np

from osp_birkhoff.newton.dual import EntropicRows, EuclideanRows, minimise
from osp_core.errors import Array


def newton_entropic(
    scores: Array, potentials: Array, floor: Array, tol: float, max_iter: int
) -> tuple[Array, Array, Array, float, int]:
    """Minimise the entropic dual; see `dual.minimise`."""
    return minimise(EntropicRows(softmax_rows), scores, potentials, floor, tol, max_iter)


def newton_euclidean(
    scores: Array, potentials: Array, floor: Array, tol: float, max_iter: int
) -> tuple[Array, Array, Array, float, int]:
    """Minimise the Euclidean dual; see `dual.minimise`."""
    return minimise(EuclideanRows(sparsemax_rows), scores, potentials, floor, tol, max_iter)


def softmax_rows(scores: Array, potentials: Array, thresholds: Array) -> tuple[Array, Array, float]:
    """Return the softmax of every row of scores − potentials, the log-partitions and their sum."""
    plan = scores - potentials
    largest = plan.max(axis=1, keepdims=True)
    plan = np.exp(plan - largest)
    totals = plan.sum(axis=1, keepdims=True)
    levels = (largest + np.log(totals))[:, 0]
    return plan / totals, levels, float(levels.sum())


def sparsemax_rows(scores: Array, potentials: Array, thresholds: Array) -> tuple[Array, Array, float]:
    """Return the sparsemax of every row of scores − potentials, its thresholds and Σ max ⟨p, z⟩ − ½‖p‖².

    `thresholds` are a guess, e.g. those of nearby potentials; this twin sorts and does not need it.
    """
    shifted = scores - potentials
    largest = shifted.max(axis=1, keepdims=True)
    ordered = -np.sort(largest - shifted, axis=1)
    sums = np.cumsum(np.where(np.isfinite(ordered), ordered, 0.0), axis=1)
    candidates = (sums - 1.0) / np.arange(1, scores.shape[1] + 1)
    support = (ordered > candidates).sum(axis=1)
    levels = np.take_along_axis(candidates, support[:, np.newaxis] - 1, axis=1) + largest
    plan = np.maximum(shifted - levels, 0.0)
    return plan, levels[:, 0], float(levels.sum() + 0.5 * np.square(plan).sum())
