"""Common offsets of scores: what all outputs share changes no prediction, but swallows digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array

FAR = 1024.0
"""Offsets up to this, in units of Ψ, cost three of the sixteen digits at most: they may stay."""


def without_offset(scores: Array, axis: int = -1) -> Array:
    """Scores less their maximum along `axis`, where they differ by less than each of them amounts to.

    Such differences are exact in floating point [Sterbenz 1974]; all other scores are returned as they are,
    since their offset costs less than one digit.
    """
    low, high = scores.min(axis=axis, keepdims=True), scores.max(axis=axis, keepdims=True)
    shared = (2.0 * low >= high) | (2.0 * high <= low)
    return np.asarray(scores - np.where(shared, high, 0.0))


def without_offsets(scores: Array, groups: NDArray[np.intp]) -> Array:
    """The same for coordinates that belong together: those with the same number in `groups`."""
    answer = scores.copy()
    for number in range(groups.max() + 1):
        members = np.flatnonzero(groups == number)
        answer[..., members] = without_offset(scores[..., members])
    return answer
