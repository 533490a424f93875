"""The entries that plans on a restricted graph may use, and how to repair a plan without leaving them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array


class Support:
    """The entries of n×n plans that are in some perfect matching.

    Parameters
    ----------
    live : Boolean array of shape (n, n)
    """

    def __init__(self, live: NDArray[np.bool_]) -> None:
        self.live = live
        self._mask = live.astype(np.float64)
        self._degrees = self._mask.sum(axis=1, keepdims=True)

    def centre(self, matrix: Array) -> Array:
        """Return the nearest matrix on the live entries whose rows and columns sum to 0."""
        kept = matrix * self._mask
        centred = (kept - kept.sum(axis=1, keepdims=True) / self._degrees) * self._mask
        return centred - self.with_column_sums(centred.sum(axis=0))

    def with_column_sums(self, sums: Array) -> Array:
        """Return the smallest matrix on the live entries with these column sums, and row sums 0.

        The sums must add up to 0 over every connected part of the graph; what does not is left out.
        """
        potentials = self._inverse @ sums
        shift = potentials - self._mask @ potentials[:, np.newaxis] / self._degrees
        return np.asarray(shift * self._mask)

    def repair(self, plan: Array) -> Array:
        """Make the columns of a plan whose rows sum to 1 right, lowering no entry but by a common factor."""
        change = self.with_column_sums(1.0 - plan.sum(axis=0))
        needed = np.divide(np.abs(change), self.interior, where=self.live, out=np.zeros_like(change)).max()
        share = min(1.0, 2.0 * float(needed))
        return np.asarray((1.0 - share) * (plan + change) + share * self.interior)

    @cached_property
    def interior(self) -> Array:
        """A mean of perfect matchings that use every live entry between them."""
        from scipy.optimize import linear_sum_assignment

        covered = np.zeros_like(self._mask)
        while (open_entries := self.live & (covered == 0)).any():
            chosen = linear_sum_assignment(np.where(self.live, -open_entries.astype(np.float64), np.inf))
            covered[chosen] += 1.0
        return covered / covered[0].sum()

    @cached_property
    def _inverse(self) -> Array:
        laplacian = np.diag(self._mask.sum(axis=0)) - self._mask.T @ (self._mask / self._degrees)
        return np.linalg.pinv(laplacian, hermitian=True)
