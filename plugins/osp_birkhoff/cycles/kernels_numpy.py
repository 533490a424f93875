"""Cycle cancelling in Python: the reference for `kernels_numba`, with the same choices in the same order."""

from __future__ import annotations

import itertools

import numpy as np

from osp_core.errors import Array

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
    entries = matrix.tolist()  # lists of floats: an array would make every access ten times slower
    fractional = (matrix > 0) & (matrix < 1)
    neighbours = [(np.flatnonzero(row) + rows).tolist() for row in fractional]
    neighbours += [np.flatnonzero(column).tolist() for column in fractional.T]
    path: list[int] = []
    depth: dict[int, int] = {}
    used = first = 0
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
        if node < rows and len(path) > 2:
            # A column that the row before last shares with this one closes a cycle of four.
            before = entries[path[-3]]
            shared = (k for k in neighbours[node] if k != came_from and 0.0 < before[k - rows] < 1.0)
            target = next(shared, target)
        elif len(path) > 3 and 0.0 < entries[path[-4]][node - rows] < 1.0:
            target = path[-4]
        if target < 0:
            # A lone fractional entry is a whole number up to rounding.
            if neighbours[node]:
                _settle(entries, neighbours, rows, node, came_from, 0.5)
            del depth[path.pop()]
        elif target not in depth:
            depth[target] = len(path)
            path.append(target)
        else:
            cycle = [*path[depth[target] :], target]
            _cancel(entries, neighbours, rows, cycle, float(uniforms[used]))
            used += 1
            for passed in cycle[1:-1]:
                del depth[passed]
            del path[depth[target] + 1 :]


def _cancel(
    entries: list[list[float]], neighbours: list[list[int]], rows: int, cycle: list[int], uniform: float
) -> None:
    """Shift mass around a cycle so that one of its entries becomes whole."""
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
    for a, b in itertools.pairwise(cycle):
        _settle(entries, neighbours, rows, a, b, SNAP)


def _settle(
    entries: list[list[float]], neighbours: list[list[int]], rows: int, a: int, b: int, tol: float
) -> None:
    """Fix the entry between nodes a and b, and forget its edge, when it is within `tol` of a whole number."""
    i, j = (a, b - rows) if a < rows else (b, a - rows)
    if tol < entries[i][j] < 1.0 - tol:
        return
    entries[i][j] = 1.0 if entries[i][j] > 0.5 else 0.0
    neighbours[a].remove(b)  # the others stay in order, which keeps cycles short on dense matrices
    neighbours[b].remove(a)
