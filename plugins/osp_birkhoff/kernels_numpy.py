"""The inner loops of the Birkhoff family in numpy: the reference for `kernels_numba`.

Plans are m×n matrices with m ≤ n. A row's *level* is its dual variable α (log-partition or threshold);
*potentials* are the dual variables β of the columns. Forbidden entries have score −∞.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array

SNAP = 1e-13  # entries of a cycle this close to 0 or 1 are rounding
TINY = 1e-300


def sinkhorn(
    kernels: Array, cap: float, tol: float, max_sweeps: int
) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    """Scale every matrix of a batch until its rows sum to 1 and its columns to 1 (or at most 1).

    Parameters
    ----------
    kernels : array of shape (batch, m, n)
    cap : float
        Greatest column factor: 1 where columns need not be full, else infinity.
    tol : float
        Largest error of a column sum.
    max_sweeps : int
        Sweeps end earlier where their rate shows that this many would not be enough.

    Returns
    -------
    Row factors, column factors, errors and numbers of sweeps, one of each per matrix. Rows sum to 1.
    """
    batch, rows, columns = kernels.shape
    left, right = np.ones((batch, rows)), np.ones((batch, columns))
    errors, sweeps = np.full(batch, np.inf), np.zeros(batch, np.int64)
    active = np.arange(batch)
    while active.size:
        kernel, v = kernels[active], right[active]
        u = 1.0 / np.einsum("bij,bj->bi", kernel, v)
        sums = np.einsum("bij,bi->bj", kernel, u)
        scaled = np.minimum(cap, 1.0 / sums)
        error = (np.abs(scaled - v) * sums).max(axis=1)
        left_over = max_sweeps - sweeps[active]
        expected = error * np.minimum(error / errors[active], 1.0) ** left_over
        left[active], errors[active] = u, error
        stay = (error > tol) & (left_over > 0) & ~((sweeps[active] >= 6) & (expected > tol))
        active, scaled = active[stay], scaled[stay]
        right[active] = scaled
        sweeps[active] += 1
    return left, right, errors, sweeps


def softmax_rows(scores: Array, potentials: Array, thresholds: Array) -> tuple[Array, Array, float]:
    """Return the softmax of every row of scores − potentials, the log-partitions and their sum."""
    plan = scores - potentials
    largest = plan.max(axis=1, keepdims=True)
    plan = np.exp(plan - largest)
    totals = plan.sum(axis=1, keepdims=True)
    levels = (largest + np.log(totals))[:, 0]
    return plan / totals, levels, float(levels.sum())


def sparsemax_rows(scores: Array, potentials: Array, thresholds: Array) -> tuple[Array, Array, float]:
    """Return the sparsemax of every row of scores − potentials, its thresholds and Σ max ⟨p, z⟩ − ½‖p‖².

    `thresholds` are a guess, e.g. those of nearby potentials; this twin sorts and does not need it.
    """
    shifted = scores - potentials
    largest = shifted.max(axis=1, keepdims=True)
    ordered = -np.sort(largest - shifted, axis=1)
    sums = np.cumsum(np.where(np.isfinite(ordered), ordered, 0.0), axis=1)
    candidates = (sums - 1.0) / np.arange(1, scores.shape[1] + 1)
    support = (ordered > candidates).sum(axis=1)
    levels = np.take_along_axis(candidates, support[:, np.newaxis] - 1, axis=1) + largest
    plan = np.maximum(shifted - levels, 0.0)
    return plan, levels[:, 0], float(levels.sum() + 0.5 * np.square(plan).sum())


def support_laplacian(plan: Array) -> Array:
    """Return Σ diag(s) − s sᵀ/|s| over rows with support s: the Hessian of the sparsemax dual."""
    support = (plan > 0).astype(np.float64)
    laplacian = -(support / support.sum(axis=1, keepdims=True)).T @ support
    laplacian.flat[:: plan.shape[1] + 1] += support.sum(axis=0)
    return laplacian


def cap_and_fill(plan: Array) -> None:
    """Make a plan whose rows sum to 1 feasible, in place: cap full columns, fill with a rank-one matrix."""
    plan /= np.maximum(plan.sum(axis=0), 1.0)
    missing_row = np.maximum(1.0 - plan.sum(axis=1), 0.0)
    missing_column = np.maximum(1.0 - plan.sum(axis=0), 0.0)
    if missing_row.any() and missing_column.any():
        plan += np.outer(missing_row, missing_column / missing_column.sum())


def entropic_gap(point: Array, plan: Array, scores: Array, levels: Array, potentials: Array) -> float:
    """Return ⟨g, point⟩ − Σᵢ minⱼ gᵢⱼ with g = ln point − (scores − potentials − levels).

    g is the gradient of Σ y ln y − ⟨scores, y⟩ up to terms that are constant over rows and columns, so this
    bounds the Frank–Wolfe gap: no assignment has a cost below the sum of the row minima. `plan` is
    exp(scores − potentials − levels), which saves the compiled twin most logarithms.
    """
    allowed = scores > -np.inf
    exponents = np.where(allowed, scores - potentials - levels[:, np.newaxis], 0.0)
    slopes = np.where(allowed, np.log(np.where(allowed, point, 1.0)) - exponents, np.inf)
    return float((point * np.where(allowed, slopes, 0.0)).sum() - slopes.min(axis=1).sum())


def all_distances(lengths: Array) -> None:
    """Replace edge lengths by shortest-path lengths, in place (Floyd–Warshall)."""
    for via in range(len(lengths)):
        np.minimum(lengths, lengths[:, via : via + 1] + lengths[via], out=lengths)


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
