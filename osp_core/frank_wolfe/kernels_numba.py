"""The engine's inner loops, compiled; see `kernels_numpy` for what the functions do."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from osp_core.errors import Array


@njit(cache=True)
def atom_products(indices: NDArray[np.int32], bounds: NDArray[np.int64], vector: Array) -> Array:
    sums = np.empty(bounds.size - 1)
    for atom in range(sums.size):
        total = 0.0
        for position in range(bounds[atom], bounds[atom + 1]):
            total += vector[indices[position]]
        sums[atom] = total
    return sums


@njit(cache=True)
def atom_combination(
    indices: NDArray[np.int32], bounds: NDArray[np.int64], weights: Array, dim: int
) -> Array:
    mean = np.zeros(dim)
    for atom in range(weights.size):
        for position in range(bounds[atom], bounds[atom + 1]):
            mean[indices[position]] += weights[atom]
    return mean


@njit(cache=True, fastmath={"reassoc", "contract"})
def solve_lower(packed: Array, size: int, rhs: Array) -> Array:
    solution = np.empty(size)
    start = 0
    for row in range(size):
        total = 0.0
        for column in range(row):
            total += packed[start + column] * solution[column]
        solution[row] = (rhs[row] - total) / packed[start + row]
        start += row + 1
    return solution


@njit(cache=True)
def solve_upper(packed: Array, size: int, rhs: Array) -> Array:
    solution = rhs.copy()
    start = size * (size + 1) // 2
    for row in range(size - 1, -1, -1):
        start -= row + 1
        value = solution[row] / packed[start + row]
        solution[row] = value
        for column in range(row):
            solution[column] -= packed[start + column] * value
    return solution


@njit(cache=True)
def delete_row(packed: Array, size: int, index: int, carried: Array) -> None:
    tail = size - 1 - index
    cosines, sines = np.empty(tail), np.empty(tail)
    for i in range(tail + 1):
        # Row by row: every row meets the rotations of the rows above, then defines its own. The last
        # "row" is `carried`.
        row = index + 1 + i
        start, target = row * (row + 1) // 2, row * (row - 1) // 2
        if i < tail:
            for column in range(index):
                packed[target + column] = packed[start + column]
            left = packed[start + index]
        else:
            left = carried[index]
        for j in range(i):
            right = packed[start + index + j + 1] if i < tail else carried[index + j + 1]
            rotated = cosines[j] * left + sines[j] * right
            left = cosines[j] * right - sines[j] * left
            if i < tail:
                packed[target + index + j] = rotated
            else:
                carried[index + j] = rotated
        if i < tail:
            right = packed[start + row]
            radius = np.hypot(left, right)
            cosines[i], sines[i] = left / radius, right / radius
            packed[target + index + i] = radius
        else:
            carried[index + tail] = left
