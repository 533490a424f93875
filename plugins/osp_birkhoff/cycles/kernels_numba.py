"""Cycle cancelling, compiled; see `kernels_numpy` for what the functions do."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from osp_core.errors import Array

SNAP = 1e-13


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
