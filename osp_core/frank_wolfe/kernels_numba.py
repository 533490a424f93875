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
def atom_slopes(indices: NDArray[np.int32], bounds: NDArray[np.int64], gradient: Array) -> Array:
    shift = gradient.sum() / gradient.size
    slopes = np.empty(bounds.size - 1)
    for atom in range(slopes.size):
        total = 0.0
        for position in range(bounds[atom], bounds[atom + 1]):
            total += gradient[indices[position]] - shift
        slopes[atom] = total + shift * (bounds[atom + 1] - bounds[atom] - bounds[1])
    return slopes


@njit(cache=True)
def atom_combination(
    indices: NDArray[np.int32], bounds: NDArray[np.int64], weights: Array, dim: int
) -> Array:
    mean = np.zeros(dim)
    for atom in range(weights.size):
        for position in range(bounds[atom], bounds[atom + 1]):
            mean[indices[position]] += weights[atom]
    return mean


@njit(cache=True)
def advance(weights: Array, step: Array) -> tuple[Array, float]:
    length = 1.0
    for atom in range(weights.size):
        if step[atom] < 0.0:
            length = min(length, -weights[atom] / step[atom])
    moved = np.empty(weights.size)
    for atom in range(weights.size):
        blocked = length < 1.0 and step[atom] < 0.0 and -weights[atom] / step[atom] == length
        moved[atom] = 0.0 if blocked else max(weights[atom] + length * step[atom], 0.0)
    return moved, length


@njit(cache=True, fastmath={"reassoc", "contract"})
def solve(packed: Array, size: int, rhs: Array) -> tuple[Array, Array]:
    half, full = np.empty(size), np.zeros(size)
    start = 0
    for row in range(size):
        # Both products in one pass: T is larger than the caches, and reading it is the whole cost.
        total = 0.0
        for column in range(row + 1):
            total += packed[start + column] * rhs[column]
        half[row] = total
        for column in range(row + 1):
            full[column] += packed[start + column] * total
        start += row + 1
    return half, full


@njit(cache=True)
def delete_column(packed: Array, size: int, index: int) -> Array:
    carried = np.zeros(size)
    start = index * (index + 1) // 2
    carried[: index + 1] = packed[start : start + index + 1]
    for below in range(index + 1, size):
        target, start = start, start + below
        above, value = carried[index], packed[start + index]
        radius = np.hypot(above, value)
        cosine, sine = value / radius, above / radius
        for column in range(index):
            old, new = carried[column], packed[start + column]
            carried[column] = sine * old + cosine * new
            packed[target + column] = cosine * old - sine * new
        carried[index] = radius
        for column in range(index + 1, below + 1):
            old, new = carried[column], packed[start + column]
            carried[column] = sine * old + cosine * new
            packed[target + column - 1] = cosine * old - sine * new
    return carried
