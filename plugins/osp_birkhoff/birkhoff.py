"""The Birkhoff polytope: rankings as permutation matrices, [SBTO24, Sec. 2.3]."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from osp_birkhoff.couplings import PlanSpace
from osp_core.errors import Array, InvalidInputError, NotAVertexError, UnsupportedError, as_count
from osp_core.regularizers import GibbsEntropy, NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_core.spaces.label_names import names_or_numbers, place_of
from osp_core.spaces.pictures import Columns
from osp_core.spaces.size_parameters import sized_by_names

LARGEST_LISTED = 7


class Birkhoff(PlanSpace):
    """All rankings of n items: n×n permutation matrices, rows are items and columns positions, row by row.

    A label is the sequence of items from the first position to the last, a dict from items to positions
    (0, …, n−1), or a permutation matrix.

    Parameters
    ----------
    n : int, optional
        Number of items, called 0, …, n−1.
    items : sequence, optional
        Names of the items instead.
    backend : {"scipy", "networkx"}
        Who solves the assignment problems; the answers are the same.
    psi : Regularizer
        NegativeEntropy(1) by default, the paper's Ψ = −H/μ is NegativeEntropy(1/μ). SquaredNorm gives
        sparse predictions.
    norm : float
        1 by default, as in the paper.
    """

    size_parameters = sized_by_names("items", instead=("n",))
    nu1 = 4.0  # two rankings differ in two rows at least, and in two entries of each

    def __init__(
        self,
        n: int | None = None,
        *,
        items: Sequence[Hashable] | None = None,
        backend: str = "scipy",
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        if (n is None) == (items is None):
            raise InvalidInputError("birkhoff takes either n, the number of items, or items, their names.")
        self.items = names_or_numbers(n, items, "n", "items", most=10**4)
        self.n = as_count(len(self.items), "the number of items")
        self._index = {item: i for i, item in enumerate(self.items)}
        self._set_cells((self.n, self.n), None, backend)
        self.diameter1 = 2.0 * self.n if self.n > 1 else 0.0

    def __repr__(self) -> str:
        return f"Birkhoff({self.n})"

    def from_label(self, label: Any) -> Array:
        if isinstance(label, np.ndarray) and (label.ndim == 2 or label.size == self.dim > self.n):
            return super().from_label(label.ravel())
        if isinstance(label, Mapping):
            label = self._ranking(label)
        if isinstance(label, str) or not isinstance(label, Sequence | np.ndarray) or len(label) != self.n:
            raise NotAVertexError(
                f"An output of {self!r} is a sequence of all {self.n} items from first to last, a dict "
                f"from items to positions or a permutation matrix, got {label!r}."
            )
        columns = np.full(self.n, -1)
        for position, item in enumerate(label):
            place = place_of(item, self._index, self.items)
            if place is None:
                raise NotAVertexError(f"{item!r} is not one of the {self.n} items of {self!r}.")
            if columns[place] >= 0:
                raise NotAVertexError(f"The item {item!r} is ranked twice in {label!r}.")
            columns[place] = position
        return self.vertex(columns)

    def _ranking(self, positions: Mapping[Any, Any]) -> list[Any]:
        if sorted(positions.values(), key=repr) != sorted(range(self.n), key=repr):
            raise NotAVertexError(
                f"A dict must give every item one of the positions 0, …, {self.n - 1}, "
                f"got {dict(positions)!r}."
            )
        return sorted(positions, key=lambda item: positions[item])

    def to_label(self, vertex: Array) -> Any:
        """The items from first to last."""
        return tuple(self.items[i] for i in self.matrix(vertex).argmax(axis=0))

    def draw(self, point: Array) -> Columns:
        return Columns(self.items, [f"place {i + 1}" for i in range(self.n)], self.matrix(point))

    def vertices(self) -> Array:
        if self.n > LARGEST_LISTED:
            raise UnsupportedError(f"{self!r} has {self.n}! outputs, too many to list.")
        outputs = np.zeros((math.factorial(self.n), self.n, self.n))
        for output, columns in zip(outputs, itertools.permutations(range(self.n)), strict=True):
            output[np.arange(self.n), columns] = 1.0
        return outputs.reshape(-1, self.dim)

    def project_direction(self, direction: Array) -> Array:
        """Differences of rankings span the matrices whose rows and columns sum to 0."""
        matrix = self.matrix(direction)
        centred = matrix - matrix.mean(axis=1, keepdims=True)
        return (centred - centred.mean(axis=0, keepdims=True)).ravel()

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(3),
            cls(items=["salt", "oil", "bread", "wine"], psi=NegativeEntropy(0.5)),
            cls(4, psi=SquaredNorm(1.0), norm=2),
            cls(5, psi=NegativeEntropy(2.0), norm=1.5),
            cls(3, psi=GibbsEntropy(1.0)),
            cls(2),
            cls(1),
        )
