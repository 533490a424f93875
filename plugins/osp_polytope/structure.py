"""What the matrices tell without solving anything: integral vertices, and assignment problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_polytope.canonical import StandardForm
from osp_polytope.linear_program import LinearProgram


def has_integral_vertices(form: StandardForm) -> bool:
    """Whether every vertex is certainly integral: integral data and a totally unimodular matrix.

    Total unimodularity is recognised for network matrices [Heller & Tompkins 1956], their transposes and
    interval matrices. False means unknown.
    """
    data = (form.rhs, form.low[np.isfinite(form.low)], form.high[np.isfinite(form.high)], form.offset)
    if not all(np.array_equal(values, np.round(values)) for values in (*data, form.outputs.data)):
        return False
    columns = form.matrix[:, : len(form.low) - form.n_slacks].tocsc()
    if not np.isin(columns.data, (-1.0, 1.0)).all():
        return False
    return _is_network(columns) or _is_network(columns.T.tocsc()) or _has_intervals(columns.tocsr())


def row_colours(matrix: Any) -> Array | None:
    """Two colours for the rows of a matrix with at most two entries ±1 a column; None if there are none.

    Entries of equal sign in a column need different colours, entries of opposite sign the same.
    """
    counts = np.diff(matrix.indptr)
    if (counts > 2).any():
        return None
    starts = matrix.indptr[:-1][counts == 2]
    first, second = matrix.indices[starts], matrix.indices[starts + 1]
    differ = matrix.data[starts] == matrix.data[starts + 1]
    neighbours: list[list[tuple[int, bool]]] = [[] for _ in range(matrix.shape[0])]
    for one, other, flip in zip(first.tolist(), second.tolist(), differ.tolist(), strict=True):
        neighbours[one].append((other, flip))
        neighbours[other].append((one, flip))
    colours = np.full(matrix.shape[0], -1)
    for root in range(matrix.shape[0]):
        if colours[root] >= 0:
            continue
        colours[root], stack = 0, [root]
        while stack:
            row = stack.pop()
            for other, flip in neighbours[row]:
                wanted = colours[row] ^ int(flip)
                if colours[other] < 0:
                    colours[other] = wanted
                    stack.append(other)
                elif colours[other] != wanted:
                    return None
    return colours


def _is_network(matrix: Any) -> bool:
    return row_colours(matrix) is not None


def _has_intervals(matrix: Any) -> bool:
    """Whether the entries of every row are of one sign and next to one another."""
    for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        indices, values = np.sort(matrix.indices[begin:end]), matrix.data[begin:end]
        if len(indices) and (indices[-1] - indices[0] + 1 != len(indices) or np.ptp(values) > 0):
            return False
    return True


class AssignmentProgram(LinearProgram):
    """A linear program that is an assignment problem: solved by scipy's matching instead of HiGHS."""

    def __init__(self, form: StandardForm, rows: Any, columns: Any) -> None:
        super().__init__(form)
        self._rows, self._columns = rows, columns
        self._costs = np.full((int(rows.max()) + 1, int(columns.max()) + 1), np.inf)
        self._cell = np.full(self._costs.shape, -1)
        self._cell[rows, columns] = np.arange(len(rows))

    def minimize(self, cost: Array) -> Array:
        from scipy.optimize import linear_sum_assignment

        self.calls += 1
        self._costs[self._rows, self._columns] = cost
        y = np.zeros(self.form.dim)
        y[self._cell[linear_sum_assignment(self._costs)]] = 1.0
        return y


def recognise_assignment(form: StandardForm) -> AssignmentProgram | None:
    """The faster program, if every output is a cell (i, j), row sums are 1 and column sums 1 or at most 1."""
    cells = form.column_of
    if cells is None or form.hidden.any() or form.integer.any() or len(np.unique(cells)) != len(cells):
        return None
    matrix = form.matrix[:, cells].tocsc()
    n_equal = len(form.rhs) - form.n_slacks
    unit = (matrix.data == 1.0).all() and (form.rhs == 1.0).all() and (np.diff(matrix.indptr) == 2).all()
    if not unit or form.low[cells].any() or (form.high[cells] < 1.0).any():
        return None
    colours = row_colours(matrix)
    if colours is None:
        return None
    ends = matrix.indices.reshape(-1, 2)
    if (colours[n_equal:] == 0).any():
        colours = 1 - colours  # inequalities belong to the columns of the table
    if (colours[n_equal:] == 0).any():
        return None
    side = colours[ends]
    if (side.sum(axis=1) != 1).any():
        return None
    return _assignment(form, ends, side, colours, n_equal)


def _assignment(
    form: StandardForm, ends: Any, side: Any, colours: Any, n_equal: int
) -> AssignmentProgram | None:
    number = np.zeros(len(colours), dtype=int)
    for colour in (0, 1):
        number[colours == colour] = np.arange(int((colours == colour).sum()))
    rows = number[ends[np.arange(len(ends)), np.argmin(side, axis=1)]]
    columns = number[ends[np.arange(len(ends)), np.argmax(side, axis=1)]]
    n_rows, n_columns = int((colours == 0).sum()), int((colours == 1).sum())
    must_fill = int((colours[:n_equal] == 1).sum())
    if must_fill not in (0, n_columns) or (must_fill and n_rows != n_columns) or n_rows > n_columns:
        return None
    if len(np.unique(rows * n_columns + columns)) != len(rows):
        return None
    return AssignmentProgram(form, rows, columns)
