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
    fractional = [np.flatnonzero((row > 0) & (row < 1)) + rows for row in matrix]
    neighbours = [list(map(int, row)) for row in fractional]
    neighbours += [list(map(int, np.flatnonzero((column > 0) & (column < 1)))) for column in matrix.T]
    path: list[int] = []
    depth: dict[int, int] = {}
    used = first = 0
    while True:
        if not path:
            while first < rows and not neighbours[first]:
                first += 1
            if first == rows:
                return used
            path, depth = [first], {first: 0}
        node, came_from = path[-1], path[-2] if len(path) > 1 else -1
        target = next((other for other in neighbours[node][:2] if other != came_from), -1)
        if target < 0:
            # A lone fractional entry is a whole number up to rounding.
            if neighbours[node]:
                _settle(matrix, neighbours, rows, node, came_from, 0.5)
            del depth[path.pop()]
        elif target not in depth:
            depth[target] = len(path)
            path.append(target)
        else:
            cycle = [*path[depth[target] :], target]
            _cancel(matrix, neighbours, rows, cycle, uniforms[used])
            used += 1
            for passed in cycle[1:-1]:
                del depth[passed]
            del path[depth[target] + 1 :]


def _cancel(matrix: Array, neighbours: list[list[int]], rows: int, cycle: list[int], uniform: float) -> None:
    """Shift mass around a cycle so that one of its entries becomes whole."""
    edges = list(itertools.pairwise(cycle))
    cells = [_cell(a, b, rows) for a, b in edges]
    entries = np.array([matrix[cell] for cell in cells])
    even = np.arange(len(cells)) % 2 == 0
    rise = np.where(even, 1.0 - entries, entries).min()
    fall = np.where(even, entries, 1.0 - entries).min()
    # Raising the even edges by `rise` with this probability leaves every mean as it was.
    shift = rise if uniform * (rise + fall) < fall else -fall
    for cell, is_even in zip(cells, even, strict=True):
        matrix[cell] += shift if is_even else -shift
    for a, b in edges:
        _settle(matrix, neighbours, rows, a, b, SNAP)


def _settle(matrix: Array, neighbours: list[list[int]], rows: int, a: int, b: int, tol: float) -> None:
    """Fix the entry between nodes a and b, and forget its edge, when it is within `tol` of a whole number."""
    cell = _cell(a, b, rows)
    if tol < matrix[cell] < 1.0 - tol:
        return
    matrix[cell] = 1.0 if matrix[cell] > 0.5 else 0.0
    _drop(neighbours[a], b)
    _drop(neighbours[b], a)


def _drop(items: list[int], item: int) -> None:
    """Remove an item by moving the last one to its place, as the compiled twin does."""
    items[items.index(item)] = items[-1]
    items.pop()


def _cell(a: int, b: int, rows: int) -> tuple[int, int]:
    return (a, b - rows) if a < rows else (b, a - rows)
