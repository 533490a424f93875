"""Systematic sampling: k of d elements with given probabilities, from one uniform variable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array
from osp_core.geometry.combinations import ConvexCombination


def systematic_subset(probabilities: Array, k: int, uniform: float) -> Array:
    """Return the elements that u, u + 1, …, u + k − 1 hit on the line of cumulated probabilities."""
    return systematic_subsets(probabilities[np.newaxis], k, np.array([uniform]))[0]


def systematic_subsets(probabilities: Array, k: int, uniforms: Array) -> Array:
    """Return one subset for every row of probabilities."""
    line = _line(probabilities, k)
    whole = np.floor(line)
    # The number of ticks u + j below a place on the line; forming u + j itself would round.
    ticks = whole + (line - whole > uniforms[:, np.newaxis])
    subsets = np.diff(ticks, axis=1, prepend=0.0)
    for row in np.flatnonzero((subsets > 1).any(axis=1)):
        # A stretch longer than 1 by rounding can be hit twice.
        subsets[row] = 0.0
        subsets[row, _hits(line[row], uniforms[[row]], k)[0]] = 1.0
    return np.asarray(subsets)


def systematic_combination(probabilities: Array, k: int) -> ConvexCombination:
    """Return all subsets that systematic sampling can draw, with their probabilities: at most d."""
    from scipy.sparse import csr_array

    dim = probabilities.size
    line = _line(probabilities[np.newaxis], k)[0]
    starts = np.unique(np.concatenate([[0.0], line[:-1] - np.floor(line[:-1])]))
    widths = np.diff(starts, append=1.0)
    hits = _hits(line, starts + 0.5 * widths, k)
    # Starts that differ by rounding only have the same hits.
    new = np.flatnonzero(np.concatenate([[True], (hits[1:] != hits[:-1]).any(axis=1)]))
    hits, widths = hits[new], np.add.reduceat(widths, new)
    bounds = np.arange(len(new) + 1) * k
    atoms = csr_array((np.ones(hits.size), hits.ravel(), bounds), shape=(len(new), dim))
    return ConvexCombination(atoms, widths)


def _line(probabilities: Array, k: int) -> Array:
    """Cumulated probabilities that end at k exactly."""
    line = np.cumsum(probabilities, axis=1)
    if k > 0:
        line *= k / line[:, -1:]
        np.minimum(line, float(k), out=line)
    line[:, -1] = k
    return line


def _hits(line: Array, uniforms: Array, k: int) -> NDArray[Any]:
    """The k elements hit by the ticks of every uniform, one row each, in increasing order."""
    numbers = np.arange(k)
    hits = np.searchsorted(line, uniforms[:, np.newaxis] + numbers, side="right")
    # Rounding may let two ticks hit one element, or the last tick none: k different elements all the same.
    hits = np.maximum.accumulate(hits - numbers, axis=1) + numbers
    return np.minimum(hits, line.size - k + numbers)
