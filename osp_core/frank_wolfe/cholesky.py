"""An inverse Cholesky factor that grows and shrinks with the active set."""

from __future__ import annotations

import numpy as np

from osp_core import kernels
from osp_core.errors import Array
from osp_core.frank_wolfe.atoms import with_room


class AffineFactor:
    """T = L⁻¹ for the Cholesky factor L of M = G + σ11ᵀ, where G is the Gram matrix of some vectors.

    Adding σ11ᵀ makes the matrix regular when the vectors are affinely, if not linearly, independent, and
    changes nothing on the directions whose entries sum to zero [Wolfe 1976].

    T rather than L, because M⁻¹r = Tᵀ(Tr) takes one pass over the factor where two triangular solves with L
    take two, and because the direction that follows an append is a row of T. What this loses in accuracy
    when M is badly conditioned, the caller wins back by iterative refinement.

    Parameters
    ----------
    sigma : float
        About the size of the diagonal of G.
    """

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma
        self.size = 0
        self._kernels = kernels.load("osp_core.frank_wolfe")
        self._packed: Array = np.empty(36)
        self._ones: Array = np.empty(0)  # M⁻¹1

    @classmethod
    def of(cls, gram: Array) -> AffineFactor | None:
        """Factor a whole Gram matrix, which is overwritten; None when it is close to singular."""
        from scipy.linalg.lapack import dpotrf, dtrtri

        factor = cls(float(gram.diagonal().max()))
        factor.size = gram.shape[0]
        # In place on the transpose, which LAPACK takes without a copy: there may be thousands of vectors.
        gram += factor.sigma
        lower, failed = dpotrf(gram.T, lower=1, overwrite_a=1)
        if failed or lower.diagonal().min() ** 2 < 1e-6 * factor.sigma:
            return None
        inverse, _ = dtrtri(lower, lower=1, overwrite_c=1)
        factor._packed = np.concatenate([inverse[row, : row + 1] for row in range(factor.size)])
        factor._ones = factor.solve(np.ones(factor.size))[1]
        return factor

    def solve(self, rhs: Array) -> tuple[Array, Array]:
        """Return T rhs, whose squared norm is ⟨rhs, M⁻¹rhs⟩, and M⁻¹rhs."""
        half, full = self._kernels.solve(self._packed[: self._length()], self.size, rhs)
        return half, full

    def append(self, coordinates: Array, pivot: float) -> None:
        """Add a vector with the new column m of M, given M⁻¹m and its Schur complement."""
        begin, end = self._length(), self._length() + self.size
        self._packed = with_room(self._packed, end + 1)
        row = self._packed[begin : end + 1]
        row[:-1] = coordinates
        row[-1] = -1.0
        row /= -np.sqrt(pivot)
        self._ones = np.append(self._ones, 0.0) + row.sum() * row
        self.size += 1

    def delete(self, index: int) -> None:
        """Remove one vector."""
        column = self._kernels.delete_column(self._packed, self.size, index)
        self.size -= 1
        # Block inversion: (M⁻¹ without the vector) = M⁻¹ − n nᵀ/nᵢ with n = M⁻¹eᵢ, and `column` is n/√nᵢ.
        self._ones = np.delete(self._ones - (self._ones[index] / column[index]) * column, index)

    def constrained(self, rhs: Array, total: float) -> Array:
        """Return the x with G x = rhs + μ1 and Σ x = total."""
        return self._with_total(self.solve(rhs)[1], total)

    def last_direction(self, value: float) -> Array:
        """Return `constrained` of (0, …, 0, value) with total 0."""
        row = self._packed[self._length() - self.size : self._length()]
        return self._with_total(value * row[-1] * row, 0.0)

    def _with_total(self, solution: Array, total: float) -> Array:
        missing = total - float(solution.sum())
        return solution + (missing / float(self._ones.sum())) * self._ones

    def _length(self) -> int:
        return self.size * (self.size + 1) // 2
