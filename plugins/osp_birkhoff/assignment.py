"""Assignments of rows to distinct columns: the rectangular relative of the Birkhoff polytope."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from osp_birkhoff.couplings import PlanSpace
from osp_core.errors import Array, InvalidInputError, NotAVertexError, UnsupportedError, as_count
from osp_core.regularizers import NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_core.spaces.label_names import names_or_numbers, place_of
from osp_core.spaces.pictures import Columns
from osp_core.spaces.size_parameters import LabelParts, SizeParameters, natural_order

MOST_LISTED = 5040


def _sides(labels: LabelParts) -> dict[str, Any]:
    """The rows and the columns that edges (row, column) name."""
    pairs = [edge for edge in labels.parts if len(edge) == 2]
    rows, columns = ({edge[side] for edge in pairs} for side in (0, 1))
    return {"rows": sorted(rows, key=natural_order), "columns": sorted(columns, key=natural_order)}


class Assignment(PlanSpace):
    """All ways to give each of m rows a column of its own out of n ≥ m: m×n matrices, row by row.

    A label is a dict from rows to columns, the sequence of the columns of all rows, or a 0/1 matrix.

    Parameters
    ----------
    m, n : int, optional
        Numbers of rows and columns, called 0, …, m−1 and 0, …, n−1.
    rows, columns : sequence, optional
        Their names instead.
    backend : {"scipy", "networkx"}
        Who solves the assignment problems; the answers are the same.
    psi : Regularizer
        NegativeEntropy(1) by default; SquaredNorm gives sparse predictions.
    norm : float
        1 by default.
    """

    size_parameters = SizeParameters("edges", _sides, (("m", "rows"), ("n", "columns")))

    def __init__(
        self,
        m: int | None = None,
        n: int | None = None,
        *,
        rows: Sequence[Hashable] | None = None,
        columns: Sequence[Hashable] | None = None,
        backend: str = "scipy",
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        self.row_names = _names(m, rows, "m", "rows")
        self.column_names = _names(n, columns, "n", "columns")
        self.m, self.n = len(self.row_names), len(self.column_names)
        if self.m > self.n:
            raise InvalidInputError(
                f"assignment needs at least as many columns as rows, got m = {self.m} and n = {self.n}; "
                "exchange the roles of rows and columns."
            )
        self._row_index = {name: i for i, name in enumerate(self.row_names)}
        self._column_index = {name: j for j, name in enumerate(self.column_names)}
        self._set_cells((self.m, self.n), None, backend)
        # One row can move to a free column; without free columns two rows have to change places.
        self.nu1 = 4.0 if self.m == self.n else 2.0
        self.diameter1 = 2.0 * self.m if self.n > 1 else 0.0

    def __repr__(self) -> str:
        return f"Assignment({self.m}, {self.n})"

    def from_label(self, label: Any) -> Array:
        if isinstance(label, np.ndarray) and (label.ndim == 2 or label.size == self.dim > self.m):
            return super().from_label(label.ravel())
        if isinstance(label, str) or not isinstance(label, Mapping | Sequence | np.ndarray):
            raise NotAVertexError(self._expected(label))
        if len(label) != self.m:
            raise NotAVertexError(self._expected(label))
        pairs = label.items() if isinstance(label, Mapping) else zip(self.row_names, label, strict=True)
        chosen = np.full(self.m, -1)
        for row, column in pairs:
            i = place_of(row, self._row_index, self.row_names)
            if i is None:
                raise NotAVertexError(f"{row!r} is not one of the {self.m} rows of {self!r}.")
            j = place_of(column, self._column_index, self.column_names)
            if j is None:
                raise NotAVertexError(f"{column!r} is not one of the {self.n} columns of {self!r}.")
            chosen[i] = j
        if len(set(chosen.tolist())) < self.m:
            raise NotAVertexError(f"Two rows share a column in {label!r}.")
        return self.vertex(chosen)

    def _expected(self, label: Any) -> str:
        return (
            f"An output of {self!r} is a dict from its {self.m} rows to distinct columns, the sequence "
            f"of their columns or a 0/1 matrix, got {label!r}."
        )

    def to_label(self, vertex: Array) -> Any:
        """A dict from rows to columns."""
        pairs = zip(self.row_names, self.columns(vertex), strict=True)
        return {row: self.column_names[column] for row, column in pairs}

    def draw(self, point: Array) -> Columns:
        return Columns(self.row_names, self.column_names, self.matrix(point))

    def vertices(self) -> Array:
        count = math.perm(self.n, self.m)
        if count > MOST_LISTED:
            raise UnsupportedError(f"{self!r} has {count} outputs, too many to list.")
        outputs = np.zeros((count, self.m, self.n))
        for output, chosen in zip(outputs, itertools.permutations(range(self.n), self.m), strict=True):
            output[np.arange(self.m), chosen] = 1.0
        return outputs.reshape(-1, self.dim)

    def project_direction(self, direction: Array) -> Array:
        """Differences span the matrices whose rows sum to 0; for m = n the columns must, too."""
        matrix = self.matrix(direction)
        centred = matrix - matrix.mean(axis=1, keepdims=True)
        if self.m == self.n:
            centred = centred - centred.mean(axis=0, keepdims=True)
        return centred.ravel()

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(2, 4),
            cls(rows=["ann", "bob"], columns=["early", "late", "night"], psi=NegativeEntropy(0.5)),
            cls(3, 4, psi=SquaredNorm(1.0), norm=2),
            cls(3, 3, psi=SquaredNorm(2.0), norm=2),
            cls(2, 2),
            cls(1, 3),
            cls(1, 1),
        )


def _names(
    count: int | None, names: Sequence[Hashable] | None, count_name: str, list_name: str
) -> list[Hashable]:
    if (count is None) == (names is None):
        raise InvalidInputError(f"assignment takes either {count_name}, a number, or {list_name}, names.")
    listed = names_or_numbers(count, names, count_name, list_name, most=10**4)
    as_count(len(listed), f"the number of {list_name}")
    return listed
