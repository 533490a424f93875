"""Linear matroids: linearly independent columns of a matrix."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, as_positive, as_rows
from osp_core.regularizers import GibbsEntropy, NegativeEntropy, Regularizer
from osp_core.spaces import OutputSpace
from osp_matroids.space import Indices, MatroidSpace


class LinearMatroid(MatroidSpace):
    """Sets of columns of a matrix that are a basis of its column space, or linearly independent.

    Parameters
    ----------
    matrix : array of shape (k, m)
        One column per element.
    elements : sequence, optional
        Names of the columns; 0, …, m − 1 otherwise.
    bases : bool
        True: the bases of the column space. False: all linearly independent sets.
    tolerance : float
        A column depends on others when at most this part of its length is left outside their span. Columns
        that are almost dependent are not a matroid's business: the order of elimination would decide.
    psi, norm
        SquaredNorm(1) and ℓ2 by default.
    """

    def __init__(
        self,
        matrix: ArrayLike,
        *,
        elements: Sequence[Hashable] | None = None,
        bases: bool = True,
        tolerance: float = 1e-9,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        columns = _as_matrix(matrix)
        names = range(columns.shape[1]) if elements is None else elements
        super().__init__(names, bases=bases, psi=psi, norm=norm)
        if self.dim != columns.shape[1]:
            raise InvalidInputError(f"The matrix has {columns.shape[1]} columns, but {self.dim} are named.")
        self.tolerance = as_positive(tolerance, "tolerance")
        # Lengths do not matter for independence, so every column gets length 1; a zero column is a loop.
        sizes = np.abs(columns).max(axis=0, initial=0.0)
        scaled = columns / np.where(sizes > 0, sizes, 1.0)
        lengths = np.linalg.norm(scaled, axis=0)
        self._columns: Array = scaled / np.where(lengths > 0, lengths, 1.0)

    def greedy(self, order: Indices) -> Indices:
        """Gram–Schmidt on all columns at once: every step takes the first column that has something left."""
        rest = self._columns[:, order]
        directions = np.empty((len(rest), 0))
        kept: list[int] = []
        start = 0
        while start < len(order) and directions.shape[1] < len(rest):
            left = np.linalg.norm(rest[:, start:], axis=0) > self.tolerance
            if not left.any():
                break
            start += int(np.argmax(left))
            # What elimination has left is cleaned once more, lest rounding add up over many steps.
            direction = rest[:, start] - directions @ (directions.T @ rest[:, start])
            direction /= np.linalg.norm(direction)
            directions = np.column_stack([directions, direction])
            kept.append(start)
            start += 1
            rest[:, start:] -= np.outer(direction, direction @ rest[:, start:])
        return order[kept]

    def circuit(self, basis: Indices, element: int) -> Indices:
        """The columns of the basis with a coefficient other than 0 in the expansion of the element."""
        coefficients = np.linalg.lstsq(self._columns[:, basis], self._columns[:, element], rcond=None)[0]
        return basis[np.abs(coefficients) > self.tolerance]

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        rng = np.random.default_rng(0)
        plane = [[1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 0.0]]
        return (
            cls(plane, elements=["x", "y", "x+y", "2x"]),
            cls(rng.integers(-2, 3, (3, 6)).astype(float), psi=GibbsEntropy(1.0)),
            cls(plane, bases=False, norm=1),
            cls(plane, psi=NegativeEntropy(1.0), norm=1),
            cls([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
            cls([[0.0]]),
        )


def _as_matrix(matrix: ArrayLike) -> Array:
    columns = as_rows(matrix, None, "matrix")
    if not columns.shape[1]:
        raise InvalidInputError(
            f"matrix must have at least one column, got an array of shape {columns.shape}."
        )
    return columns
