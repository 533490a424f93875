"""The ordinal chain: one of d + 1 ordered categories, [SBTO24, App. C.2]."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osp_core import kernels
from osp_core.errors import (
    Array,
    InvalidInputError,
    NotAVertexError,
    UnsupportedError,
    as_count,
    as_rows,
)
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers import BinaryEntropy, GibbsEntropy, NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace, ZeroOneSpace, derived
from osp_core.spaces.label_names import MOST_COORDINATES, as_names, place_of
from osp_core.spaces.pictures import Ladder
from osp_core.spaces.size_parameters import sized_by_names
from osp_core.targets import AffineLoss, absolute

LARGEST_LIST = 5000


class Ordinal(ZeroOneSpace):
    """The prefixes 1…10…0 of length d; category c is the prefix of c ones.

    Entry i of a vertex answers "is the category above i?", so that θ_i is the score of passing level i.

    Parameters
    ----------
    d : int, optional
        Number of levels; the categories are 0, …, d.
    categories : sequence, optional
        Names of the d + 1 categories instead, lowest first.
    psi : Regularizer
        SquaredNorm(1) by default; NegativeEntropy, BinaryEntropy and GibbsEntropy have closed forms too.
    norm : float
        2 by default, as in the paper.
    """

    size_parameters = sized_by_names("categories", instead=("d",), single=True)
    nu1 = 1.0
    constant_mass = False
    min_mass = 0.0

    def __init__(
        self,
        d: int | None = None,
        *,
        categories: Sequence[Hashable] | None = None,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        if (d is None) == (categories is None):
            raise InvalidInputError(
                "ordinal takes either d, one less than the number of categories, or categories, their names."
            )
        self.categories: Sequence[Hashable] = (
            range(as_count(d, "d", most=MOST_COORDINATES) + 1)  # type: ignore[arg-type]
            if categories is None
            else as_names(categories, "categories")
        )
        if len(self.categories) < 2:
            raise InvalidInputError(f"ordinal needs at least two categories, got {self.categories}.")
        self._index = {name: i for i, name in enumerate(self.categories)}
        self.dim = len(self.categories) - 1
        self.diameter1 = self.max_mass = float(self.dim)

    def prefix(self, length: int) -> Array:
        """The vertex of `length` ones."""
        return self._prefixes(np.array([length]))[0]

    def _prefixes(self, lengths: NDArray[np.intp]) -> Array:
        return (np.arange(self.dim) < lengths[:, np.newaxis]).astype(np.float64)

    # --- oracles -------------------------------------------------------------------------------------

    def lmo(self, cost: Array) -> Array:
        return self.lmo_many(cost[np.newaxis])[0]

    def lmo_many(self, costs: ArrayLike) -> Array:
        # The cheapest prefix ends where the running sum of costs is lowest.
        return self._prefixes(np.argmin(_prefix_sums(as_rows(costs, self.dim, "costs")), axis=1))

    def nearest_vertex(self, point: Array) -> Array:
        return self.nearest_vertex_many(point[np.newaxis])[0]

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        rows = as_rows(points, self.dim, "points")
        if self.norm == 2:
            return self.lmo_many(1.0 - 2.0 * rows)
        if not np.isinf(self.norm):
            return self.lmo_many(np.abs(1.0 - rows) ** self.norm - np.abs(rows) ** self.norm)
        # In ℓ∞ a prefix is as far as the worst of its ones, or of its zeros, whichever is worse.
        nothing = np.zeros((len(rows), 1))
        ones = np.hstack([nothing, np.maximum.accumulate(np.abs(1.0 - rows), axis=1)])
        zeros = np.hstack([nothing, np.maximum.accumulate(np.abs(rows[:, ::-1]), axis=1)])[:, ::-1]
        return self._prefixes(np.argmin(np.maximum(ones, zeros), axis=1))

    @derived
    def nearest_is_exact(self) -> bool:
        return True

    # --- predictions: one isotonic regression, then a link and the bounds 0 and 1 ----------------------

    def project(self, point: Array) -> Prediction:
        return Prediction(np.clip(self._isotonic(point[np.newaxis])[0], 0.0, 1.0))

    def project_many(self, points: ArrayLike) -> Predictions:
        return Predictions.exact(np.clip(self._isotonic(as_rows(points, self.dim, "points")), 0.0, 1.0))

    def kl_project(self, log_weights: Array) -> Prediction:
        return self.kl_project_many(log_weights[np.newaxis])[0]

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        # A pooled block is stationary where ln y + 1 is its mean log weight; beyond y = 1 the bound holds.
        fitted = self._isotonic(as_rows(log_weights, self.dim, "log_weights"))
        return Predictions.exact(np.exp(np.minimum(fitted - 1.0, 0.0)))

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        return self.binary_kl_project_many(log_odds[np.newaxis])[0]

    def binary_kl_project_many(self, log_odds: ArrayLike) -> Predictions:
        # A pooled block is stationary where the log odds of y are its mean log odds.
        fitted = self._isotonic(as_rows(log_odds, self.dim, "log_odds"))
        return Predictions.exact(np.exp(-np.logaddexp(0.0, -fitted)))

    def _isotonic(self, rows: Array) -> Array:
        rows = rows if rows.flags.carray else rows.copy()
        return np.asarray(kernels.load("osp_ordinal").isotonic_decreasing(rows))

    def marginals(self, theta: Array) -> Array:
        """P(length ≥ i) for a length drawn by the softmax of the prefix sums of θ."""
        sums = _prefix_sums(theta[np.newaxis])[0]
        weights = np.exp(sums - sums.max())
        tails = np.cumsum(weights[::-1])[::-1]
        return np.asarray(tails[1:] / tails[0])

    def log_partition(self, theta: Array) -> float:
        sums = _prefix_sums(theta[np.newaxis])[0]
        return float(sums.max() + np.log(np.exp(sums - sums.max()).sum()))

    # --- combinations --------------------------------------------------------------------------------

    def decompose(self, point: Array) -> ConvexCombination:
        """The level sets of `point`: prefix i weighs point[i−1] − point[i]; at most d + 1 terms."""
        levels = np.concatenate([[1.0], self._levels(point[np.newaxis])[0], [0.0]])
        weights = -np.diff(levels)
        lengths = np.flatnonzero(weights > 0)
        atoms = (np.arange(self.dim) < lengths[:, np.newaxis]).astype(np.int8)
        return ConvexCombination(atoms, weights[lengths])

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """One uniform variable: the ones are where the level is above it."""
        return self.sample_many(point[np.newaxis], rng)[0]

    def sample_many(self, points: ArrayLike, rng: np.random.Generator) -> Array:
        levels = self._levels(as_rows(points, self.dim, "points"))
        return (rng.random((len(levels), 1)) < levels).astype(np.float64)

    def _levels(self, points: Array) -> Array:
        """The points with their rounding removed: non-increasing, between 0 and 1."""
        levels = np.clip(np.minimum.accumulate(points, axis=1), 0.0, 1.0)
        if (np.abs(levels - points) > 1e-8).any():
            raise InvalidInputError(
                "The point is outside the ordinal polytope: its entries must not increase, nor leave [0, 1]."
            )
        return np.asarray(levels)

    # --- membership and labels -----------------------------------------------------------------------

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        return vector.shape == (self.dim,) and bool(
            ((vector == 0) | (vector == 1)).all() and (vector[:-1] >= vector[1:]).all()
        )

    def vertices(self) -> Array:
        if self.dim > LARGEST_LIST:
            raise UnsupportedError(f"{self!r} has too many outputs to list them as dense vectors.")
        return self._prefixes(np.arange(self.dim + 1))

    def from_label(self, label: Any) -> Array:
        """A category; or a vertex as a numpy vector."""
        if (place := place_of(label, self._index, self.categories)) is not None:
            return self.prefix(place)
        if isinstance(label, np.ndarray):
            return super().from_label(label)
        shown = ", ".join(repr(name) for name in self.categories[:8]) + (", …" if self.dim > 7 else "")
        raise NotAVertexError(f"{label!r} is not one of the {self.dim + 1} categories {shown}.")

    def to_label(self, vertex: Array) -> Any:
        if not 0.0 <= (ones := float(np.sum(vertex))) <= self.dim:
            raise NotAVertexError(f"{np.array2string(vertex, threshold=12)} is not an output of {self!r}.")
        return self.categories[int(ones)]

    def draw(self, point: Array) -> Ladder:
        # Entry i is the probability that the category is above i.
        above = np.concatenate([[1.0], point, [0.0]])
        return Ladder(self.categories, above[:-1] - above[1:])

    # --- constants -----------------------------------------------------------------------------------

    def project_direction(self, direction: Array) -> Array:
        return direction  # prefixes span R^d

    def target_loss(self) -> AffineLoss:
        return absolute

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(4),
            cls(categories=["poor", "fair", "good"], psi=SquaredNorm(2.0)),
            cls(3, psi=NegativeEntropy(1.0), norm=1),
            cls(3, psi=BinaryEntropy(0.5)),
            cls(5, psi=GibbsEntropy(1.0)),
            cls(3, norm=np.inf),
            cls(2, psi=NegativeEntropy(2.0), norm=1.5),
            cls(1),
        )


def _prefix_sums(rows: Array) -> Array:
    """0 and the running sums of every row: one entry per category."""
    return np.hstack([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)])
