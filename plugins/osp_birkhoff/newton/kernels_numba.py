"""Newton's method on the dual, compiled; see `dual` and `kernels_numpy` for what the functions do."""

from __future__ import annotations

import numpy as np
from numba import njit

from osp_birkhoff.kernels_numba import exponentials, largest_entry
from osp_core.errors import Array

LONGEST_STEP = 4.0
SHORTEST_STEP = 1e-12
CLOSE = 1e-12


@njit(cache=True)
def newton_entropic(
    scores: Array, potentials: Array, floor: Array, tol: float, max_iter: int
) -> tuple[Array, Array, Array, float, int]:
    plan, levels, value = softmax_rows(scores, potentials, floor)
    value += potentials.sum()
    previous, steps = np.inf, 0
    for _ in range(max_iter):
        gradient, error = _column_errors(plan, potentials, floor)
        if error <= tol or (error <= CLOSE and error > 0.5 * previous):
            break
        previous = error
        direction = _newton_direction(_softmax_hessian(plan), gradient, error, potentials, floor)
        step = min(1.0, LONGEST_STEP / np.abs(direction).max())
        while step >= SHORTEST_STEP:
            trial = np.maximum(potentials + step * direction, floor)
            new_plan, new_levels, new_value = softmax_rows(scores, trial, levels)
            new_value += trial.sum()
            if _accepted(value, new_value, gradient, potentials, trial):
                break
            step *= 0.4
        if step < SHORTEST_STEP:
            break
        plan, levels, potentials, value = new_plan, new_levels, trial, new_value
        steps += 1
    return plan, levels, potentials, _column_errors(plan, potentials, floor)[1], steps


@njit(cache=True)
def newton_euclidean(
    scores: Array, potentials: Array, floor: Array, tol: float, max_iter: int
) -> tuple[Array, Array, Array, float, int]:
    plan, levels, value = sparsemax_rows(scores, potentials, np.full(scores.shape[0], np.inf))
    value += potentials.sum()
    previous, steps = np.inf, 0
    for _ in range(max_iter):
        gradient, error = _column_errors(plan, potentials, floor)
        if error <= tol or (error <= CLOSE and error > 0.5 * previous):
            break
        previous = error
        direction = _newton_direction(_support_laplacian(plan), gradient, error, potentials, floor)
        step = 1.0
        while step >= SHORTEST_STEP:
            trial = np.maximum(potentials + step * direction, floor)
            new_plan, new_levels, new_value = sparsemax_rows(scores, trial, levels)
            new_value += trial.sum()
            if _accepted(value, new_value, gradient, potentials, trial):
                break
            step *= 0.4
        if step < SHORTEST_STEP:
            break
        plan, levels, potentials, value = new_plan, new_levels, trial, new_value
        steps += 1
    return plan, levels, potentials, _column_errors(plan, potentials, floor)[1], steps


@njit(cache=True)
def softmax_rows(scores: Array, potentials: Array, thresholds: Array) -> tuple[Array, Array, float]:
    rows, columns = scores.shape
    plan, levels, value = np.empty((rows, columns)), np.empty(rows), 0.0
    moved, scratch = np.empty(columns), np.empty(columns)
    for i in range(rows):
        _subtract(scores[i], potentials, moved)
        largest = largest_entry(moved)
        exponentials(moved, largest, np.inf, plan[i], scratch)
        levels[i] = largest + np.log(_normalise(plan[i]))
        value += levels[i]
    return plan, levels, value


@njit(cache=True)
def _subtract(first: Array, second: Array, difference: Array) -> None:
    for j in range(first.size):
        difference[j] = first[j] - second[j]


@njit(cache=True, fastmath={"reassoc"})
def _normalise(row: Array) -> float:
    total = 0.0
    for j in range(row.size):
        total += row[j]
    share = 1.0 / total
    for j in range(row.size):
        row[j] *= share
    return total


@njit(cache=True)
def sparsemax_rows(scores: Array, potentials: Array, thresholds: Array) -> tuple[Array, Array, float]:
    rows, columns = scores.shape
    plan, levels, value = np.empty((rows, columns)), np.empty(rows), 0.0
    for i in range(rows):
        row = plan[i]
        largest = -np.inf
        for j in range(columns):
            row[j] = scores[i, j] - potentials[j]
            largest = max(largest, row[j])
        # Σ max(z − τ, 0) − 1 is convex and decreasing in τ: Newton's method ends exactly, from any start.
        level = thresholds[i] if largest - 1.0 < thresholds[i] < largest else largest - 1.0
        first = True
        while True:
            total, count = 0.0, 0
            for j in range(columns):
                if row[j] > level:
                    total += row[j] - largest
                    count += 1
            updated = largest + (total - 1.0) / count
            # From the second step on the thresholds rise; where they no longer do, rounding begins.
            if updated <= level and not first:
                break
            first, level = False, max(updated, largest - 1.0)
        levels[i] = level
        value += level
        for j in range(columns):
            row[j] = max(row[j] - level, 0.0)
            value += 0.5 * row[j] * row[j]
    return plan, levels, value


@njit(cache=True)
def _column_errors(plan: Array, potentials: Array, floor: Array) -> tuple[Array, float]:
    rows, columns = plan.shape
    gradient, error = np.ones(columns), 0.0
    for i in range(rows):
        for j in range(columns):
            gradient[j] -= plan[i, j]
    for j in range(columns):
        if potentials[j] > floor[j] or gradient[j] < 0.0:
            error = max(error, abs(gradient[j]))
    return gradient, error


@njit(cache=True)
def _newton_direction(
    hessian: Array, gradient: Array, error: float, potentials: Array, floor: Array
) -> Array:
    columns = gradient.size
    ridge = 1e-3 * min(1.0, error) + 1e-14
    for j in range(columns):
        hessian[j, j] += ridge * max(hessian[j, j], 1e-3)
        if gradient[j] > 0.0 and potentials[j] - floor[j] <= min(1e-6, gradient[j]):
            hessian[j, :] = 0.0
            hessian[:, j] = 0.0
            hessian[j, j] = 1.0
    return _solve_by_cholesky(hessian, -gradient)


@njit(cache=True)
def _accepted(value: float, new_value: float, gradient: Array, potentials: Array, trial: Array) -> bool:
    decrease = 0.0
    for j in range(gradient.size):
        decrease += gradient[j] * (trial[j] - potentials[j])
    return new_value <= value + 1e-4 * decrease + 1e-14 * (abs(value) + gradient.size)


@njit(cache=True, fastmath={"reassoc", "contract"})
def _softmax_hessian(plan: Array) -> Array:
    rows, columns = plan.shape
    hessian = np.zeros((columns, columns))
    for i in range(rows):
        for j in range(columns):
            entry = plan[i, j]
            for k in range(j):
                hessian[j, k] -= entry * plan[i, k]
    for j in range(columns):
        for k in range(j):
            hessian[k, j] = hessian[j, k]
            hessian[j, j] -= hessian[j, k]
            hessian[k, k] -= hessian[j, k]
    return hessian


@njit(cache=True)
def _support_laplacian(plan: Array) -> Array:
    rows, columns = plan.shape
    laplacian = np.zeros((columns, columns))
    support = np.empty(columns, np.int64)
    for i in range(rows):
        count = 0
        for j in range(columns):
            if plan[i, j] > 0.0:
                support[count] = j
                count += 1
        share = 1.0 / count
        for a in range(count):
            laplacian[support[a], support[a]] += 1.0
            for b in range(count):
                laplacian[support[a], support[b]] -= share
    return laplacian


@njit(cache=True, fastmath={"reassoc", "contract"})
def _solve_by_cholesky(matrix: Array, vector: Array) -> Array:
    # Written out: linking to LAPACK would take longer to compile than everything else here.
    size = vector.size
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[i, i] = np.sqrt(max(total, 1e-30))
            else:
                matrix[i, j] = total / matrix[j, j]
    for i in range(size):
        for k in range(i):
            vector[i] -= matrix[i, k] * vector[k]
        vector[i] /= matrix[i, i]
    for i in range(size - 1, -1, -1):
        vector[i] /= matrix[i, i]
        for k in range(i):
            vector[k] -= matrix[i, k] * vector[i]
    return vector
