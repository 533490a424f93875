"""The inner loops of the Birkhoff family, compiled; see `kernels_numpy` for what the functions do."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from osp_core.errors import Array

SNAP = 1e-13
TINY = 1e-300


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
def softmax_rows(scores: Array, potentials: Array, thresholds: Array) -> tuple[Array, Array, float]:
    rows, columns = scores.shape
    plan, levels, value = np.empty((rows, columns)), np.empty(rows), 0.0
    for i in range(rows):
        largest = -np.inf
        for j in range(columns):
            plan[i, j] = scores[i, j] - potentials[j]
            largest = max(largest, plan[i, j])
        total = 0.0
        for j in range(columns):
            plan[i, j] = np.exp(plan[i, j] - largest)
            total += plan[i, j]
        for j in range(columns):
            plan[i, j] /= total
        levels[i] = largest + np.log(total)
        value += levels[i]
    return plan, levels, value


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
def support_laplacian(plan: Array) -> Array:
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
    if deficit <= 0.0 or capacity <= 0.0:
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
def round_by_cycles(matrix: Array, uniforms: Array) -> int:
    rows, columns = matrix.shape
    nodes = rows + columns
    neighbours, degree = np.empty((nodes, max(rows, columns)), np.int32), np.zeros(nodes, np.int32)
    place = np.empty((2, rows, columns), np.int32)
    for i in range(rows):
        for j in range(columns):
            if matrix[i, j] > 0.0 and matrix[i, j] < 1.0:
                for node, other, side in ((i, rows + j, 0), (rows + j, i, 1)):
                    neighbours[node, degree[node]] = other
                    place[side, i, j] = degree[node]
                    degree[node] += 1
    path, depth = np.empty(nodes + 1, np.int64), np.full(nodes, -1, np.int64)
    used, first = 0, 0
    while True:
        while first < rows and degree[first] == 0:
            first += 1
        if first == rows:
            return used
        path[0], depth[first], length = first, 0, 1
        while length > 0:
            node = path[length - 1]
            came_from = path[length - 2] if length > 1 else -1
            target = -1
            if degree[node] > 0:
                target = neighbours[node, 0]
                if target == came_from:
                    target = neighbours[node, 1] if degree[node] > 1 else -1
            if target < 0:
                # A lone fractional entry is a whole number up to rounding.
                if degree[node] > 0:
                    _settle(matrix, neighbours, degree, place, rows, node, came_from, 0.5)
                depth[node] = -1
                length -= 1
                continue
            if depth[target] < 0:
                path[length], depth[target] = target, length
                length += 1
                continue
            start = depth[target]
            rise, fall = np.inf, np.inf
            for k in range(start, length):
                a, b = path[k], path[k + 1] if k + 1 < length else target
                entry = matrix[a, b - rows] if a < rows else matrix[b, a - rows]
                up, down = (1.0 - entry, entry) if (k - start) % 2 == 0 else (entry, 1.0 - entry)
                rise, fall = min(rise, up), min(fall, down)
            # Raising the even edges by `rise` with this probability leaves every mean as it was.
            shift = rise if uniforms[used] * (rise + fall) < fall else -fall
            used += 1
            for k in range(start, length):
                a, b = path[k], path[k + 1] if k + 1 < length else target
                i, j = (a, b - rows) if a < rows else (b, a - rows)
                matrix[i, j] += shift if (k - start) % 2 == 0 else -shift
            for k in range(start, length):
                a, b = path[k], path[k + 1] if k + 1 < length else target
                _settle(matrix, neighbours, degree, place, rows, a, b, SNAP)
            for k in range(start + 1, length):
                depth[path[k]] = -1
            length = start + 1


@njit(cache=True)
def _settle(
    matrix: Array,
    neighbours: NDArray[np.int32],
    degree: NDArray[np.int32],
    place: NDArray[np.int32],
    rows: int,
    a: int,
    b: int,
    tol: float,
) -> None:
    """Fix the entry between nodes a and b, and forget its edge, when it is within `tol` of a whole number."""
    i, j = (a, b - rows) if a < rows else (b, a - rows)
    entry = matrix[i, j]
    if tol < entry < 1.0 - tol:
        return
    matrix[i, j] = 1.0 if entry > 0.5 else 0.0
    for side in range(2):
        node = i if side == 0 else rows + j
        last = neighbours[node, degree[node] - 1]
        hole = place[side, i, j]
        neighbours[node, hole] = last
        if side == 0:
            place[0, i, last - rows] = hole
        else:
            place[1, last, j] = hole
        degree[node] -= 1
