"""At most k of d elements: one block of a partition matroid whose outputs are independent sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, as_count, as_rows
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers import GibbsEntropy, NegativeEntropy, Regularizer
from osp_core.spaces import OutputSpace, derived
from osp_core.spaces.label_names import MOST_COORDINATES
from osp_matroids.space import Indices, MatroidSpace
from osp_matroids.uniform.space import KSubsets


class AtMost(MatroidSpace):
    """All sets of at most k of d elements.

    A prediction over [0, 1]^d that keeps Σ y ≤ k is optimal as it is; otherwise the constraint binds, and the
    prediction is that of the k-subsets.

    Parameters
    ----------
    d, k : int
    psi, norm
        SquaredNorm(1) and ℓ2 by default.
    """

    def __init__(self, d: int, k: int, *, psi: Regularizer | None = None, norm: float | None = None) -> None:
        super().__init__(range(as_count(d, "d", most=MOST_COORDINATES)), bases=False, psi=psi, norm=norm)
        self.k = as_count(k, "k", least=0)
        if self.k > self.dim:
            raise InvalidInputError(f"k must be at most d = {self.dim}, got {self.k}.")
        self._exactly = KSubsets(self.dim, self.k)

    def greedy(self, order: Indices) -> Indices:
        return order[: self.k]

    @derived
    def component_labels(self) -> Indices:
        if 0 < self.k < self.dim:
            return np.zeros(self.dim, dtype=np.intp)
        return np.arange(self.dim)

    def lmo(self, cost: Array) -> Array:
        return self.lmo_many(cost[np.newaxis])[0]

    def lmo_many(self, costs: ArrayLike) -> Array:
        rows = as_rows(costs, self.dim, "costs")
        return self._exactly.lmo_many(rows) * (rows < 0)

    def nearest_vertex(self, point: Array) -> Array:
        return self.nearest_vertex_many(point[np.newaxis])[0]

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        # The largest entries above ½: best in every ℓp norm.
        return self.lmo_many(1.0 - 2.0 * as_rows(points, self.dim, "points"))

    def project(self, point: Array) -> Prediction:
        return self.project_many(point[np.newaxis])[0]

    def project_many(self, points: ArrayLike) -> Predictions:
        rows = as_rows(points, self.dim, "points")
        return self._capped(rows, np.clip(rows, 0.0, 1.0), self._exactly.project_many)

    def kl_project(self, log_weights: Array) -> Prediction:
        return self.kl_project_many(log_weights[np.newaxis])[0]

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        rows = as_rows(log_weights, self.dim, "log_weights")
        return self._capped(rows, np.exp(np.minimum(rows - 1.0, 0.0)), self._exactly.kl_project_many)

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        return self.binary_kl_project_many(log_odds[np.newaxis])[0]

    def binary_kl_project_many(self, log_odds: ArrayLike) -> Predictions:
        rows = as_rows(log_odds, self.dim, "log_odds")
        return self._capped(rows, np.exp(-np.logaddexp(0.0, -rows)), self._exactly.binary_kl_project_many)

    def _capped(self, rows: Array, free: Array, exactly: Callable[[Array], Predictions]) -> Predictions:
        """The minimisers over the box where Σ y ≤ k holds there, those with Σ y = k elsewhere."""
        too_much = free.sum(axis=1) > self.k
        gaps = np.zeros(len(rows))
        if too_much.any():
            bound = exactly(rows[too_much])
            free[too_much], gaps[too_much] = bound.point, bound.gap
        return Predictions(free, gaps)

    def marginals(self, theta: Array) -> Array:
        """A mixture over the number of elements."""
        sizes = [KSubsets(self.dim, size) for size in range(self.k + 1)]
        logs = np.array([size.log_partition(theta) for size in sizes])
        weights = np.exp(logs - logs.max())
        return np.asarray(weights @ [size.marginals(theta) for size in sizes] / weights.sum())

    def log_partition(self, theta: Array) -> float:
        sizes = range(self.k + 1)
        logs = [KSubsets(self.dim, size).log_partition(theta) for size in sizes]
        return float(np.logaddexp.reduce(logs))

    def decompose(self, point: Array) -> ConvexCombination:
        """Decompose with one more element that takes what is missing to a whole number."""
        padded, sizes = self._padded(point[np.newaxis])
        combination = KSubsets(self.dim + 1, int(sizes[0])).decompose(padded[0])
        # Without that element some sets are the same.
        atoms, which = np.unique(combination.vertices[:, : self.dim], axis=0, return_inverse=True)
        return ConvexCombination(atoms, np.bincount(which.ravel(), combination.weights).astype(float))

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        return self.sample_many(point[np.newaxis], rng)[0]

    def sample_many(self, points: ArrayLike, rng: np.random.Generator) -> Array:
        padded, sizes = self._padded(as_rows(points, self.dim, "points"))
        for size in np.unique(sizes):
            rows = sizes == size
            padded[rows] = KSubsets(self.dim + 1, int(size)).sample_many(padded[rows], rng)
        return padded[:, : self.dim].copy()

    def _padded(self, rows: Array) -> tuple[Array, Array]:
        """Rows with one more entry that makes their sum whole, and that sum."""
        if (rows < -1e-9).any() or (rows > 1 + 1e-9).any() or (rows.sum(axis=1) > self.k + 1e-7).any():
            raise InvalidInputError(
                f"The point is outside conv(Y): its entries must be in [0, 1] and sum to at most {self.k}."
            )
        inside = np.clip(rows, 0.0, 1.0)
        totals = inside.sum(axis=1)
        whole = np.minimum(np.ceil(totals - 1e-12), self.k)
        return np.column_stack([inside, np.clip(whole - totals, 0.0, 1.0)]), whole

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(4, 2),
            cls(3, 1, psi=NegativeEntropy(1.0), norm=1),
            cls(3, 2, psi=GibbsEntropy(1.0)),
            cls(2, 0),
            cls(2, 2),
        )
