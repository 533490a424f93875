"""Scores made moderate: potentials are taken out so that what is left is small where it matters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from osp_core.errors import Array
from osp_core.kernels import load


@dataclass(frozen=True, eq=False)
class Reduced:
    """Scores minus a potential per row and per column.

    Attributes
    ----------
    scores : array of shape (m, n)
        Predictions are the same as for the original scores; −∞ where an entry is forbidden.
    floor : array of shape (n,)
        Least value of the column potentials that are still to be found: −∞ where columns must be full,
        else minus what was taken out, because the sum of both must not be negative.
    """

    scores: Array
    floor: Array

    @property
    def range(self) -> float:
        """The largest of the scores that remain, in absolute value."""
        return float(np.abs(self.scores, where=self.scores > -np.inf, out=np.zeros_like(self.scores)).max())


def reduce_rows(scores: Array) -> Reduced:
    """Subtract the row maxima, which is enough for scores of moderate range."""
    # Whole numbers are subtracted from large scores without rounding.
    largest = np.rint(scores.max(axis=1, keepdims=True))
    return Reduced(scores - largest, column_floor(*scores.shape))


def column_floor(rows: int, columns: int) -> Array:
    """The least column potentials before anything is taken out."""
    return np.full(columns, -np.inf) if rows == columns else np.zeros(columns)


def reduce_by_assignment(scores: Array) -> Reduced:
    """Subtract dual potentials of the best assignment that are slack wherever some optimal dual is.

    Solutions for large scores stay close to such potentials, while Newton's method walks but a bounded
    distance in the exponent: starting there replaces scaling the scores up in stages.
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = scores.shape
    size = float(np.abs(scores, where=np.isfinite(scores), out=np.zeros_like(scores)).max())
    # On a grid all sums below are exact: rounding can make no negative cycle.
    grid = 2.0 ** max(-10.0, np.ceil(np.log2(max(size * columns, 1.0))) - 50.0)
    whole = np.rint(scores / grid)
    chosen = linear_sum_assignment(-whole)[1]
    lengths = _exchange_lengths(whole, chosen)
    load("osp_birkhoff").all_distances(lengths)
    reachable = np.isfinite(lengths)
    # Averaging the distances from all sources: an edge is tight on average only if it is on a cycle of
    # length 0, that is, in some best assignment.
    distances = np.where(reachable, lengths, 0.0).sum(axis=0) / reachable.sum(axis=0)
    potentials = np.zeros(columns)
    floor = np.full(columns, -np.inf)
    if rows == columns:
        potentials[chosen] = np.rint(-distances)
    else:
        potentials[chosen] = np.rint(np.maximum(distances[-1] - distances[:-1], 0.0))
        floor = -potentials * grid
    levels = (whole - potentials).max(axis=1, keepdims=True)
    return Reduced(scores - (levels + potentials) * grid, floor)


def _exchange_lengths(scores: Array, chosen: Array) -> Array:
    """What it costs a row to leave its column for the column of another row, or for any free one.

    Entry (i, k) is the loss when row i moves to the column of row k; where columns are left over, the
    last node stands for all of them.
    """
    rows, columns = scores.shape
    taken = scores[np.arange(rows), chosen][:, np.newaxis]
    lengths = taken - scores[:, chosen]
    if rows == columns:
        return np.ascontiguousarray(lengths)
    free = np.setdiff1d(np.arange(columns), chosen)
    extended = np.zeros((rows + 1, rows + 1))
    extended[:rows, :rows] = lengths
    extended[:rows, rows] = taken[:, 0] - scores[:, free].max(axis=1)
    return extended
