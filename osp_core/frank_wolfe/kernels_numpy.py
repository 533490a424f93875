"""The engine's inner loops in plain numpy; `kernels_numba` has the same functions, compiled.

Triangular factors are packed row by row: row i of L occupies entries i(i+1)/2 … i(i+1)/2 + i, so that
appending a row never moves the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtpsv

from osp_core.errors import Array


def atom_products(indices: NDArray[np.int32], bounds: NDArray[np.int64], vector: Array) -> Array:
    """Return the sum of `vector` over the positions of every atom."""
    if not indices.size:
        return np.zeros(bounds.size - 1)
    # reduceat reads one entry even where an atom has none; those sums are put right afterwards.
    sums = np.add.reduceat(vector[indices], np.minimum(bounds[:-1], indices.size - 1))
    sums[bounds[1:] == bounds[:-1]] = 0.0
    return sums


def atom_combination(
    indices: NDArray[np.int32], bounds: NDArray[np.int64], weights: Array, dim: int
) -> Array:
    """Return Σ wᵢ vᵢ for atoms given by the positions of their ones."""
    mass = np.repeat(weights, np.diff(bounds))
    return np.bincount(indices, weights=mass, minlength=dim).astype(np.float64, copy=False)


def solve_lower(packed: Array, size: int, rhs: Array) -> Array:
    """Solve L x = rhs."""
    solution: Array = dtpsv(size, packed, rhs, trans=1)
    return solution


def solve_upper(packed: Array, size: int, rhs: Array) -> Array:
    """Solve Lᵀ x = rhs."""
    solution: Array = dtpsv(size, packed, rhs)
    return solution


def delete_row(packed: Array, size: int, index: int, carried: Array) -> None:
    """Remove row and column `index` of L Lᵀ from the factor, in place, by Givens rotations.

    `carried` is rotated along as if it were one more row of L; its last entry becomes meaningless.
    """
    tail = size - 1 - index
    rows = np.zeros((tail + 1, tail + 1))
    for i in range(tail):
        start = _row_start(index + 1 + i)
        target = _row_start(index + i)
        rows[i, : i + 2] = packed[start + index : start + index + i + 2]
        packed[target : target + index] = packed[start : start + index]
    rows[tail] = carried[index:]
    for j in range(tail):
        radius = np.hypot(rows[j, j], rows[j, j + 1])
        cosine, sine = rows[j, j] / radius, rows[j, j + 1] / radius
        left, right = rows[j:, j].copy(), rows[j:, j + 1].copy()
        rows[j:, j] = cosine * left + sine * right
        rows[j:, j + 1] = cosine * right - sine * left
    for i in range(tail):
        target = _row_start(index + i) + index
        packed[target : target + i + 1] = rows[i, : i + 1]
    carried[index:] = rows[tail]


def _row_start(row: int) -> int:
    return row * (row + 1) // 2
