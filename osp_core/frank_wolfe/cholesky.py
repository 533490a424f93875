"""A Cholesky factor that grows and shrinks with the active set."""

from __future__ import annotations

import numpy as np

from osp_core import kernels
from osp_core.errors import Array
from osp_core.frank_wolfe.atoms import _with_room


class AffineFactor:
    """L with L Lᵀ = G + σ11ᵀ, where G is the Gram matrix of affinely independent vectors.

    Adding σ11ᵀ makes the matrix regular even when the vectors are linearly dependent, and changes
    nothing on the directions with entries summing to zero. Besides L, the vector L⁻¹1 is kept up to date,
    which saves two of the four triangular solves of a direction [Wolfe 1976, §4].
    """

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma
        self.size = 0
        self._kernels = kernels.load("osp_core.frank_wolfe")
        self._packed: Array = np.empty(36)
        self._ones: Array = np.empty(8)

    @classmethod
    def of(cls, gram: Array, sigma: float) -> AffineFactor | None:
        """Factor a whole Gram matrix, or return None when it is not positive definite."""
        try:
            lower = np.linalg.cholesky(gram + sigma).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            return None
        factor = cls(sigma)
        factor.size = lower.shape[0]
        factor._packed = lower[np.tril_indices(factor.size)]
        factor._ones = factor._kernels.solve_lower(factor._packed, factor.size, np.ones(factor.size))
        return factor

    def least_pivot(self) -> float:
        """Return the least squared diagonal entry of L relative to the matrix: 0 means dependent vectors."""
        rows = np.arange(1, self.size + 1)
        diagonal = self._packed[rows * (rows + 1) // 2 - 1]
        return float((diagonal**2).min() / self.sigma)

    def column(self, row: Array) -> Array:
        """Return L⁻¹(row + σ): the new row of L for a vector with these inner products."""
        return self._lower(row + self.sigma)

    def append(self, column: Array, pivot: float) -> None:
        """Add a vector, given its row of L and the square of its diagonal entry."""
        begin = self._length()
        self._packed = _with_room(self._packed, begin + self.size + 1)
        self._packed[begin : begin + self.size] = column
        self._packed[begin + self.size] = np.sqrt(pivot)
        self._ones = _with_room(self._ones, self.size + 1)
        self._ones[self.size] = (1.0 - column @ self._ones[: self.size]) / np.sqrt(pivot)
        self.size += 1

    def delete(self, index: int) -> None:
        """Remove one vector."""
        ones = self._ones[: self.size]
        self._kernels.delete_row(self._packed, self.size, index, ones)
        self.size -= 1

    def solve(self, column: Array) -> Array:
        """Return L⁻ᵀ column."""
        solution: Array = self._kernels.solve_upper(self._packed[: self._length()], self.size, column)
        return solution

    def constrained(self, rhs: Array, total: float) -> Array:
        """Return the x with G x = rhs + μ1 and Σ x = total."""
        half = self._lower(rhs)
        ones = self._ones[: self.size]
        mu = (total - ones @ half) / (ones @ ones)
        return self.solve(half + mu * ones)

    def _lower(self, rhs: Array) -> Array:
        solution: Array = self._kernels.solve_lower(self._packed[: self._length()], self.size, rhs)
        return solution

    def _length(self) -> int:
        return self.size * (self.size + 1) // 2
