"""Cycle cancelling in Python: the reference for `kernels_numba`, with the same choices in the same order."""

from __future__ import annotations

import itertools

import numpy as np

from osp_core.errors import Array

DUST = 1e-15  # entries below this would cost a cycle each
SNAP = 1e-13  # entries of a cycle this close to 0 or 1 are rounding


def round_by_cycles(matrix: Array, uniforms: Array) -> int:
    """Round a fractional matrix with whole row and column sums to 0/1, in place, keeping every mean.

    The fractional entries are the edges of a bipartite graph in which every node has two of them or none.
    A walk closes a cycle; raising every second entry and lowering the others by the same amount keeps all
    sums, and the two extreme amounts, drawn with the odds that keep the mean, each make an entry whole.

    Parameters
    ----------
    matrix : array of shape (m, n)
        Entries in [0, 1].
    uniforms : array
        Uniform variables, one for every fractional entry; each is used at most once, in order.

    Returns
    -------
    Number of uniform variables used.
    """
    rows = len(matrix)
    used = cancel_squares(matrix, uniforms)
    matrix[matrix > 1.0 - SNAP] = 1.0
    entries = matrix.tolist()  # lists of floats: an array would make every access ten times slower
    fractional = (matrix > 0) & (matrix < 1)
    neighbours = [(np.flatnonzero(row) + rows).tolist() for row in fractional]
    neighbours += [np.flatnonzero(column).tolist() for column in fractional.T]
    path: list[int] = []
    depth: dict[int, int] = {}
    first = 0
    while True:
        if not path:
            while first < rows and not neighbours[first]:
                first += 1
            if first == rows:
                matrix[:] = entries
                return used
            path, depth = [first], {first: 0}
        node, came_from = path[-1], path[-2] if len(path) > 1 else -1
        target = next((other for other in neighbours[node][:2] if other != came_from), -1)
        if target < 0:
            # A lone fractional entry is a whole number up to rounding.
            if neighbours[node]:
                _settle(entries, neighbours, rows, node, came_from, 0.5)
            del depth[path.pop()]
        elif target not in depth:
            depth[target] = len(path)
            path.append(target)
        else:
            start = depth[target]
            whole = _cancel(entries, neighbours, rows, [*path[start:], target], float(uniforms[used]))
            used += 1
            # The walk goes on from where its first edge has gone.
            for passed in path[start + whole + 1 :]:
                del depth[passed]
            del path[start + whole + 1 :]


def sweep_dust(matrix: Array) -> int:
    """Drop what is not worth a cycle, in place; return the number of fractional entries that are left."""
    matrix[matrix < DUST] = 0.0
    return int(((matrix > 0) & (matrix < 1)).sum())


def cancel_squares(matrix: Array, uniforms: Array) -> int:
    """Cancel cycles of four, in place, until no two rows share two fractional columns; return how many.

    Row after row meets those below it. Every cycle makes an entry of one of the two vanish, so a row of a
    dense matrix loses half of its entries to each of the others, and is whole after a few of them: there
    is nothing to search for. What is left over in sparse matrices has longer cycles only.
    """
    entries = matrix.tolist()
    used = 0
    for row, upper in enumerate(entries[:-1]):
        mine = [j for j, entry in enumerate(upper) if 0.0 < entry < 1.0]
        for lower in entries[row + 1 :]:
            if len(mine) < 2:
                break
            held, kept = -1, []
            for j in mine:
                if held >= 0 and lower[j] > 0.0:
                    _cancel_square(upper, lower, held, j, float(uniforms[used]))
                    used += 1
                    # One of the two columns has lost an entry; the other one is held from now on.
                    common = [k for k in (held, j) if upper[k] > 0.0 and lower[k] > 0.0]
                    kept += [k for k in (held, j) if upper[k] > 0.0 and k not in common]
                    held = common[0] if common else -1
                elif lower[j] > 0.0:
                    held = j
                else:
                    kept.append(j)
            mine = [*kept, held] if held >= 0 else kept
        if len(mine) == 1 and upper[mine[0]] > 0.5:
            upper[mine[0]] = 1.0  # and what rounding has left of its column goes
            for lower in entries[row + 1 :]:
                lower[mine[0]] = 0.0
    matrix[:] = entries
    return used


def _cancel_square(upper: list[float], lower: list[float], j: int, k: int, uniform: float) -> None:
    """Shift mass around the cycle of two rows and the columns j and k."""
    rise, fall = min(upper[k], lower[j]), min(upper[j], lower[k])
    shift = rise if uniform * (rise + fall) < fall else -fall
    for row, column, change in ((upper, j, shift), (lower, k, shift), (upper, k, -shift), (lower, j, -shift)):
        entry = row[column] + change
        row[column] = entry if entry > SNAP else 0.0


def _cancel(
    entries: list[list[float]], neighbours: list[list[int]], rows: int, cycle: list[int], uniform: float
) -> int:
    """Shift mass around a cycle so that one of its entries becomes whole; return the first that does."""
    cells = [(a, b - rows) if a < rows else (b, a - rows) for a, b in itertools.pairwise(cycle)]
    even = [entries[i][j] for i, j in cells[::2]]
    odd = [entries[i][j] for i, j in cells[1::2]]
    rise = min(1.0 - max(even), min(odd))
    fall = min(min(even), 1.0 - max(odd))
    # Raising the even edges by `rise` with this probability leaves every mean as it was.
    shift = rise if uniform * (rise + fall) < fall else -fall
    for i, j in cells[::2]:
        entries[i][j] += shift
    for i, j in cells[1::2]:
        entries[i][j] -= shift
    settled = [_settle(entries, neighbours, rows, a, b, SNAP) for a, b in itertools.pairwise(cycle)]
    return settled.index(True)


def _settle(
    entries: list[list[float]], neighbours: list[list[int]], rows: int, a: int, b: int, tol: float
) -> bool:
    """Fix the entry between nodes a and b, and forget its edge, when it is within `tol` of a whole number."""
    i, j = (a, b - rows) if a < rows else (b, a - rows)
    if tol < entries[i][j] < 1.0 - tol:
        return False
    entries[i][j] = 1.0 if entries[i][j] > 0.5 else 0.0
    neighbours[a].remove(b)  # the others stay in order, which keeps cycles short on dense matrices
    neighbours[b].remove(a)
    return True
