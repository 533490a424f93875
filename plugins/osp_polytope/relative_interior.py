"""The relative interior of a polyhedron: a point in it, the columns that cannot move, independent rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_polytope.canonical import StandardForm
from osp_polytope.linear_program import LinearProgram

MOST_COLUMNS = 4000
_MOVED = 1e-9


@dataclass(frozen=True, eq=False)
class RelativeInterior:
    """What every method that needs room to move asks for.

    Attributes
    ----------
    point : array
        Columns x; every column that can leave its bounds has left them.
    free : array of bool
        The columns that can move.
    matrix : array
        Independent rows of A, restricted to the free columns.
    """

    point: Array
    free: Any
    matrix: Array


def relative_interior(form: StandardForm) -> RelativeInterior:
    """Find a point in the relative interior: the mean of points that move every column that can move."""
    if len(form.low) > MOST_COLUMNS:
        raise UnsupportedError(
            f"The set has {len(form.low)} columns, too many for entropies and conic solvers; use "
            "psi=SquaredNorm()."
        )
    program = LinearProgram(form.relaxed())
    points = [program.columns(np.zeros(len(form.low)))]
    stuck = form.low < form.high
    for bound, sign in ((form.low, -1.0), (form.high, 1.0)):
        while (wanted := stuck & _always_at(bound, points)).any():
            # All of them at once: usually a handful of solves instead of one per column.
            points.append(program.columns(sign * wanted, _box(points, form)))
            if not (wanted & (np.abs(points[-1] - bound) > _MOVED)).any():
                stuck = stuck & ~wanted
    free = (form.low < form.high) & ~_always_at(form.low, points) & ~_always_at(form.high, points)
    matrix, held = _independent_rows(form.matrix[:, free].toarray())
    if held.any():  # by the equations, not by their bounds
        free[free] = ~held
        matrix, _ = _independent_rows(form.matrix[:, free].toarray())
    return RelativeInterior(np.mean(points, axis=0), free, matrix)


def _always_at(bound: Array, points: list[Array]) -> Any:
    return np.isfinite(bound) & (np.abs(np.array(points) - bound) <= _MOVED).all(axis=0)


def _box(points: list[Array], form: StandardForm) -> tuple[Array, Array]:
    """Bounds that are finite everywhere, since auxiliary columns need not be bounded."""
    rows = np.array(points)
    return np.maximum(form.low, rows.min(axis=0) - 1.0), np.minimum(form.high, rows.max(axis=0) + 1.0)


def _independent_rows(matrix: Array) -> tuple[Array, Any]:
    """Rows that span the others, and which columns no solution of matrix @ x = 0 can move."""
    from scipy.linalg import qr

    if not matrix.size:
        return matrix[:0], np.zeros(matrix.shape[1], dtype=bool)
    row_space, triangle, order = qr(matrix.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > 1e-10 * max(1.0, sizes[0])).sum())
    # A unit vector inside the row space is orthogonal to all solutions.
    held = np.square(row_space[:, :rank]).sum(axis=1) > 1.0 - 1e-12
    return np.asarray(matrix[np.sort(order[:rank])]), held
