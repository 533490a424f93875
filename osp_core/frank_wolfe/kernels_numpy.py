"""The engine's inner loops in plain numpy; `kernels_numba` has the same functions, compiled.

The triangular factor T is packed row by row: row i occupies the entries i(i+1)/2 … i(i+1)/2 + i, so that
appending a row never moves the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtpmv

from osp_core.errors import Array


def atom_products(indices: NDArray[np.int32], bounds: NDArray[np.int64], vector: Array) -> Array:
    """Return the sum of `vector` over the positions of every atom."""
    sums = np.zeros(bounds.size - 1)
    filled = bounds[1:] > bounds[:-1]  # reduceat has no notion of an empty sum
    if filled.any():
        sums[filled] = np.add.reduceat(vector[indices], bounds[:-1][filled])
    return sums


def atom_slopes(indices: NDArray[np.int32], bounds: NDArray[np.int64], gradient: Array) -> Array:
    """Return `atom_products` up to a common constant, exact to the differences of a large gradient.

    A large constant in the gradient would drown everything else, although it is the same for all vertices
    with equally many ones: it is taken out, and put back times the difference of the counts.
    """
    shift = float(gradient.sum()) / gradient.size
    counts = bounds[1:] - bounds[:-1]
    slopes: Array = atom_products(indices, bounds, gradient - shift) + shift * (counts - counts[0])
    return slopes


def atom_combination(
    indices: NDArray[np.int32], bounds: NDArray[np.int64], weights: Array, dim: int
) -> Array:
    """Return Σ wᵢ vᵢ for atoms given by the positions of their ones."""
    mass = np.repeat(weights, np.diff(bounds))
    return np.bincount(indices, weights=mass, minlength=dim).astype(np.float64, copy=False)


def advance(weights: Array, step: Array) -> tuple[Array, float]:
    """Return weights + γ·step with the largest γ ≤ 1 that leaves no weight negative, and γ."""
    ratios = np.full(weights.size, np.inf)
    np.divide(weights, -step, out=ratios, where=step < 0.0)
    length = min(1.0, float(ratios.min()))
    moved = np.maximum(weights + length * step, 0.0)
    if length < 1.0:
        moved[ratios == length] = 0.0
    return moved, length


def solve(packed: Array, size: int, rhs: Array) -> tuple[Array, Array]:
    """Return T rhs and TᵀT rhs."""
    if size == 0:
        return np.empty(0), np.empty(0)
    half: Array = dtpmv(size, packed, rhs, trans=1)
    full: Array = dtpmv(size, packed, half)
    return half, full


def delete_column(packed: Array, size: int, index: int) -> Array:
    """Rotate column `index` of T into the last row, then remove both, in place.

    Returns the last row: column `index` of TᵀT, divided by the root of its diagonal entry. One rotation
    follows another, so the row they carry down is a normalised running sum, and no loop is needed.
    """
    rows = np.zeros((size - index, size))
    for below in range(index, size):
        rows[below - index, : below + 1] = _row(packed, below)
    column = rows[:, index]
    norms = np.sqrt(np.cumsum(column**2))
    carried = np.cumsum(column[:, None] * rows, axis=0) / norms[:, None]
    cosines, sines = column[1:] / norms[1:], norms[:-1] / norms[1:]
    freed = cosines[:, None] * carried[:-1] - sines[:, None] * rows[1:]
    for below in range(index + 1, size):
        target, source = _row(packed, below - 1), freed[below - index - 1]
        target[:index] = source[:index]
        target[index:] = source[index + 1 : below + 1]
    last: Array = carried[-1]
    return last


def _row(packed: Array, row: int) -> Array:
    start = row * (row + 1) // 2
    return packed[start : start + row + 1]
