"""The inner loops of the Birkhoff family, compiled; see `kernels_numpy` for what the functions do."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from osp_core.errors import Array

TINY = 1e-300
LONGEST_STEP = 4.0
SHORTEST_STEP = 1e-12
CLOSE = 1e-12


@njit(cache=True, fastmath={"reassoc", "contract"})
def sinkhorn(
    kernels: Array, cap: float, tol: float, max_sweeps: int
) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    batch, rows, columns = kernels.shape
    left, right = np.ones((batch, rows)), np.ones((batch, columns))
    errors, sweeps = np.full(batch, np.inf), np.zeros(batch, np.int64)
    sums = np.empty(columns)
    for item in range(batch):
        kernel, u, v = kernels[item], left[item], right[item]
        while True:
            sums[:] = 0.0
            for i in range(rows):
                total = 0.0
                for j in range(columns):
                    total += kernel[i, j] * v[j]
                factor = 1.0 / total
                u[i] = factor
                for j in range(columns):
                    sums[j] += factor * kernel[i, j]
            error = 0.0
            for j in range(columns):
                error = max(error, abs(min(cap, 1.0 / sums[j]) - v[j]) * sums[j])
            left_over = max_sweeps - sweeps[item]
            rate = min(error / errors[item], 1.0)
            hopeless = sweeps[item] >= 6 and error * rate**left_over > tol
            errors[item] = error
            # The rows sum to 1 here: leaving before the columns are rescaled keeps it so.
            if error <= tol or left_over <= 0 or hopeless:
                break
            for j in range(columns):
                v[j] = min(cap, 1.0 / sums[j])
            sweeps[item] += 1
    return left, right, errors, sweeps


@njit(cache=True)
def cap_and_fill(plan: Array) -> None:
    rows, columns = plan.shape
    sums, missing_row = np.zeros(columns), np.empty(rows)
    for i in range(rows):
        for j in range(columns):
            sums[j] += plan[i, j]
    capacity, deficit = 0.0, 0.0
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            if sums[j] > 1.0:
                plan[i, j] /= sums[j]
            total += plan[i, j]
        missing_row[i] = 1.0 - total
        if missing_row[i] < 0.0:
            missing_row[i] = 0.0
        deficit += missing_row[i]
    for j in range(columns):
        sums[j] = max(0.0, 1.0 - sums[j])
        capacity += sums[j]
    if deficit <= 4e-16 * rows or capacity <= 0.0:
        return
    for i in range(rows):
        share = missing_row[i] / capacity
        if share > 0.0:
            for j in range(columns):
                plan[i, j] += share * sums[j]


@njit(cache=True)
def entropic_gap(point: Array, plan: Array, scores: Array, levels: Array, potentials: Array) -> float:
    rows, columns = point.shape
    gap = 0.0
    for i in range(rows):
        lowest = np.inf
        for j in range(columns):
            if scores[i, j] == -np.inf:
                continue
            ratio = point[i, j] / plan[i, j] if plan[i, j] > TINY else np.inf
            if abs(ratio - 1.0) < 1e-5:
                # ln(1 + x) to machine precision without calling the logarithm.
                excess = ratio - 1.0
                slope = excess - 0.5 * excess * excess + excess * excess * excess / 3.0
            else:
                slope = np.log(point[i, j]) - (scores[i, j] - potentials[j] - levels[i])
            gap += point[i, j] * slope
            lowest = min(lowest, slope)
        gap -= lowest
    return gap


@njit(cache=True, fastmath={"nnan", "nsz", "reassoc"})
def shift_rows(scores: Array) -> tuple[Array, Array]:
    batch, rows, columns = scores.shape
    shifted, lowest = np.empty(scores.shape), np.zeros(batch)
    for item in range(batch):
        least = 0.0
        for i in range(rows):
            row, target = scores[item, i], shifted[item, i]
            largest = row[0]
            for j in range(1, columns):
                largest = max(largest, row[j])
            largest = np.rint(largest)
            for j in range(columns):
                target[j] = row[j] - largest
                least = min(least, target[j] if target[j] > -np.inf else 0.0)
        lowest[item] = least
    return shifted, lowest


@njit(cache=True)
def scaled_point(factors: Array, scores: Array, left: Array, right: Array, cap: float) -> tuple[Array, float]:
    rows, columns = factors.shape
    point, sums = np.empty((rows, columns)), np.zeros(columns)
    for i in range(rows):
        for j in range(columns):
            point[i, j] = left[i] * factors[i, j] * right[j]
            sums[j] += point[i, j]
    shrink, spare = 1.0 / np.maximum(sums, 1.0), np.maximum(1.0 - sums, 0.0)
    missing = np.empty(rows)
    for i in range(rows):
        missing[i] = max(0.0, 1.0 - _inner(point[i], shrink))
    capacity = spare.sum()
    fill = 1.0 / capacity if missing.sum() > 4e-16 * rows and capacity > 0.0 else 0.0
    gap = 0.0
    excess = np.empty(columns)
    for i in range(rows):
        row = point[i]
        change = _finish_row(row, shrink, spare, missing[i] * fill, excess)
        if change < 1e-5:
            gap += _nearly_optimal_row(row, excess)
            continue
        level, lowest = np.log(left[i]), np.inf
        for j in range(columns):
            slope = np.log(row[j]) - (scores[i, j] + np.log(right[j]) + level)
            gap += row[j] * slope
            lowest = min(lowest, slope)
        gap -= lowest
    if cap < np.inf:
        for j in range(columns):
            gap -= np.log(right[j]) * max(0.0, 1.0 - point[:, j].sum())
    return point, gap


@njit(cache=True, fastmath={"reassoc", "contract"})
def _inner(first: Array, second: Array) -> float:
    total = 0.0
    for j in range(first.size):
        total += first[j] * second[j]
    return total


@njit(cache=True, fastmath={"reassoc", "contract"})
def _finish_row(row: Array, shrink: Array, spare: Array, share: float, excess: Array) -> float:
    """Cap and fill one row; return its largest relative change, and all of them in `excess`."""
    largest = 0.0
    for j in range(row.size):
        entry = max(row[j] * shrink[j] + share * spare[j], TINY)
        # Below TINY the change is said to be large, and the caller takes logarithms instead.
        excess[j] = entry / max(row[j], TINY * 1e-5) - 1.0
        row[j] = entry
        largest = max(largest, abs(excess[j]))
    return largest


@njit(cache=True, fastmath={"reassoc", "contract"})
def _nearly_optimal_row(row: Array, excess: Array) -> float:
    """The row's part of the gap, with ln(1 + x) to machine precision and no logarithm."""
    total, lowest = 0.0, np.inf
    for j in range(row.size):
        x = excess[j]
        slope = x * (1.0 - x * (0.5 - x / 3.0))
        total += row[j] * slope
        lowest = min(lowest, slope)
    return total - lowest


@njit(cache=True)
def all_distances(lengths: Array) -> None:
    size = lengths.shape[0]
    for via in range(size):
        for i in range(size):
            first = lengths[i, via]
            if first == np.inf:
                continue
            for j in range(size):
                length = first + lengths[via, j]
                if length < lengths[i, j]:
                    lengths[i, j] = length


@njit(cache=True)
def euclidean_gap(point: Array, scores: Array, levels: Array, potentials: Array) -> float:
    rows, columns = point.shape
    gap = 0.0
    for i in range(rows):
        lowest = np.inf
        for j in range(columns):
            if scores[i, j] > -np.inf:
                slope = point[i, j] - (scores[i, j] - potentials[j] - levels[i])
                gap += point[i, j] * slope
                lowest = min(lowest, slope)
        gap -= lowest
    return gap
