"""Cycle cancelling, compiled; see `kernels_numpy` for what the functions do.

Nodes are numbered as in the twin: rows first, then columns. The fractional entries of a row, and those of
a column, are doubly linked lists in ascending order; index 0 is both ends of a list, entry k is at k + 1.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from osp_core.errors import Array

SNAP = 1e-13
DUST = 1e-15
Links = NDArray[np.int32]


@njit(cache=True)
def round_by_cycles(matrix: Array, uniforms: Array) -> int:
    rows, columns = matrix.shape
    used = cancel_squares(matrix, uniforms)
    if _snap(matrix) == 0:
        return used
    forward, backward = _linked(matrix)
    path, depth = np.empty(rows + columns + 1, np.int64), np.full(rows + columns, -1, np.int64)
    first = 0
    while True:
        while first < rows and forward[0, first + 1, 0] == 0:
            first += 1
        if first == rows:
            return used
        path[0], depth[first], length = first, 0, 1
        while length > 0:
            node = path[length - 1]
            came_from = path[length - 2] if length > 1 else -1
            target = _neighbour(forward, rows, node, came_from)
            if target < 0:
                # A lone fractional entry is a whole number up to rounding.
                if _neighbour(forward, rows, node, -1) >= 0:
                    i, j = (node, came_from - rows) if node < rows else (came_from, node - rows)
                    _settle(matrix, forward, backward, i, j, 0.5)
                depth[node] = -1
                length -= 1
            elif depth[target] < 0:
                path[length], depth[target] = target, length
                length += 1
            else:
                start = depth[target]
                path[length] = target
                whole = _cancel(matrix, forward, backward, path[start : length + 1], uniforms[used])
                used += 1
                # The walk goes on from where its first edge has gone.
                for k in range(start + whole + 1, length):
                    depth[path[k]] = -1
                length = start + whole + 1


@njit(cache=True)
def sweep_dust(matrix: Array) -> int:
    count = 0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            if matrix[i, j] < DUST:
                matrix[i, j] = 0.0
            count += 0.0 < matrix[i, j] < 1.0
    return count


@njit(cache=True)
def cancel_squares(matrix: Array, uniforms: Array) -> int:
    rows, columns = matrix.shape
    mine = np.empty(columns, np.int64)
    used = 0
    for row in range(rows - 1):
        count = 0
        for j in range(columns):
            mine[count] = j
            count += 0.0 < matrix[row, j] < 1.0
        for other in range(row + 1, rows):
            if count < 2:
                break
            count, used = _meet(matrix[row], matrix[other], mine, count, uniforms, used)
        if count == 1 and matrix[row, mine[0]] > 0.5:
            _close(matrix, row, mine[0])
    return used


@njit(cache=True)
def _meet(
    upper: Array, lower: Array, mine: NDArray[np.int64], count: int, uniforms: Array, used: int
) -> tuple[int, int]:
    """Cancel the squares of two rows; `mine` lists the columns of the upper one.

    Coins cannot be predicted, so nothing here branches on one: both outcomes are computed.
    """
    held, kept, above, below = -1, 0, 0.0, 0.0
    for place in range(count):
        j = mine[place]
        if lower[j] <= 0.0:
            mine[kept] = j
            kept += 1
            continue
        if held < 0:
            held, above, below = j, upper[j], lower[j]
            continue
        rise, fall = min(upper[j], below), min(above, lower[j])
        shift = rise if uniforms[used] * (rise + fall) < fall else -fall
        used += 1
        a, b, c, d = above + shift, below - shift, upper[j] - shift, lower[j] + shift
        a, b = a if a > SNAP else 0.0, b if b > SNAP else 0.0
        c, d = c if c > SNAP else 0.0, d if d > SNAP else 0.0
        # One of the two columns has lost an entry; the other one is held from now on.
        lost = min(a, b) <= 0.0
        column = held if lost else j
        upper[column], lower[column] = a if lost else c, b if lost else d
        mine[kept] = column
        kept += upper[column] > 0.0
        held = j if lost else held
        above, below = c if lost else a, d if lost else b
        if min(above, below) <= 0.0:  # both columns at once
            upper[held], lower[held] = above, below
            mine[kept] = held
            kept += above > 0.0
            held = -1
    if held >= 0:
        upper[held], lower[held] = above, below
        mine[kept] = held
        kept += 1
    return kept, used


@njit(cache=True)
def _close(matrix: Array, row: int, column: int) -> None:
    matrix[row, column] = 1.0
    for other in range(row + 1, matrix.shape[0]):
        matrix[other, column] = 0.0


@njit(cache=True)
def _snap(matrix: Array) -> int:
    """Make entries close to 1 whole; return how many fractional ones are left."""
    count = 0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            if matrix[i, j] > 1.0 - SNAP:
                matrix[i, j] = 1.0
            count += 0.0 < matrix[i, j] < 1.0
    return count


@njit(cache=True)
def _linked(matrix: Array) -> tuple[Links, Links]:
    """Lists of the fractional entries: side 0 along rows, side 1 along columns."""
    rows, columns = matrix.shape
    forward = np.zeros((2, rows + 1, columns + 1), np.int32)
    backward = np.zeros((2, rows + 1, columns + 1), np.int32)
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            if 0.0 < matrix[i - 1, j - 1] < 1.0:
                last = backward[0, i, 0]
                forward[0, i, last], backward[0, i, j], backward[0, i, 0] = j, last, j
                last = backward[1, 0, j]
                forward[1, last, j], backward[1, i, j], backward[1, 0, j] = i, last, i
    return forward, backward


@njit(cache=True)
def _neighbour(forward: Links, rows: int, node: int, other: int) -> int:
    """The first neighbour of a node that is not `other`, or −1."""
    if node < rows:
        j = forward[0, node + 1, 0]
        if j > 0 and rows + j - 1 == other:
            j = forward[0, node + 1, j]
        return rows + j - 1 if j > 0 else -1
    i = forward[1, 0, node - rows + 1]
    if i > 0 and i - 1 == other:
        i = forward[1, i, node - rows + 1]
    return i - 1


@njit(cache=True)
def _cancel(matrix: Array, forward: Links, backward: Links, cycle: NDArray[np.int64], uniform: float) -> int:
    rows = matrix.shape[0]
    rise, fall = np.inf, np.inf
    for k in range(cycle.size - 1):
        a, b = cycle[k], cycle[k + 1]
        entry = matrix[a, b - rows] if a < rows else matrix[b, a - rows]
        up, down = (1.0 - entry, entry) if k % 2 == 0 else (entry, 1.0 - entry)
        rise, fall = min(rise, up), min(fall, down)
    # Raising the even edges by `rise` with this probability leaves every mean as it was.
    shift = rise if uniform * (rise + fall) < fall else -fall
    first = cycle.size - 2
    for k in range(cycle.size - 2, -1, -1):
        a, b = cycle[k], cycle[k + 1]
        i, j = (a, b - rows) if a < rows else (b, a - rows)
        matrix[i, j] += shift if k % 2 == 0 else -shift
        if _settle(matrix, forward, backward, i, j, SNAP):
            first = k
    return first


@njit(cache=True)
def _settle(matrix: Array, forward: Links, backward: Links, i: int, j: int, tol: float) -> bool:
    entry = matrix[i, j]
    if tol < entry < 1.0 - tol:
        return False
    matrix[i, j] = 1.0 if entry > 0.5 else 0.0
    i, j = i + 1, j + 1
    before, after = backward[0, i, j], forward[0, i, j]
    forward[0, i, before], backward[0, i, after] = after, before
    before, after = backward[1, i, j], forward[1, i, j]
    forward[1, before, j], backward[1, after, j] = after, before
    return True
