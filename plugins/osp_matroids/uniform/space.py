"""The k-subsets of d elements, the bases of the uniform matroid: choose exactly k."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core import kernels
from osp_core.errors import (
    Array,
    InvalidInputError,
    NotAVertexError,
    UnsupportedError,
    as_count,
    as_rows,
    as_vector,
)
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers import BinaryEntropy, GibbsEntropy, NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace, ZeroOneSpace, checks_its_input, derived
from osp_core.spaces.label_names import MOST_COORDINATES, as_names, place_of
from osp_core.spaces.pictures import Chips
from osp_core.spaces.size_parameters import sized_by_names
from osp_core.targets import AffineLoss, mismatch
from osp_matroids.uniform.entropy import gibbs_log_partition, gibbs_marginals, scaled_sigmoid, scaled_softmax
from osp_matroids.uniform.systematic import systematic_combination, systematic_subset, systematic_subsets

LARGEST_LIST = 20_000
FLOAT64 = np.dtype(np.float64)


class KSubsets(ZeroOneSpace):
    """All sets of exactly k of d elements, as 0/1 vectors.

    Parameters
    ----------
    d : int, optional
        Number of elements, called 0, …, d−1.
    k : int
        How many are chosen, 0 ≤ k ≤ d.
    elements : sequence, optional
        Names of the elements, instead of d.
    psi : Regularizer
        SquaredNorm(1) by default; NegativeEntropy, BinaryEntropy and GibbsEntropy have exact methods too.
    norm : float
        2 by default.
    """

    size_parameters = sized_by_names("elements", instead=("d",), count="k")
    nu1 = 2.0
    equal_norm = True
    constant_mass = True

    def __init__(
        self,
        d: int | None = None,
        k: int | None = None,
        *,
        elements: Sequence[Hashable] | None = None,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        if (d is None) == (elements is None):
            raise InvalidInputError(
                "k_subsets takes either d, the number of elements, or elements, the names."
            )
        if k is None:
            raise InvalidInputError("k_subsets needs k, how many elements are chosen.")
        self.elements: Sequence[Hashable] = (
            range(as_count(d, "d", most=MOST_COORDINATES))  # type: ignore[arg-type]
            if elements is None
            else as_names(elements, "elements")
        )
        self.dim = as_count(len(self.elements), "the number of elements")
        self.k = as_count(k, "k", least=0)
        if self.k > self.dim:
            raise InvalidInputError(f"k must be at most the number of elements, {self.dim}; got {self.k}.")
        self._index = None if elements is None else {name: i for i, name in enumerate(self.elements)}
        self.min_mass = self.max_mass = float(self.k)
        self.diameter1 = 2.0 * min(self.k, self.dim - self.k)
        self._single = self.k in (0, self.dim)  # one output only: nothing, or everything
        self._shape = (self.dim,)
        # Chosen once: looking it up takes as long as a small projection.
        self._project = kernels.load("osp_matroids.uniform").project

    def __repr__(self) -> str:
        return f"KSubsets(d={self.dim}, k={self.k})"

    # --- oracles -------------------------------------------------------------------------------------

    def lmo(self, cost: Array) -> Array:
        """The k cheapest elements; equal costs go by index."""
        if self._single:
            return np.full(self.dim, float(self.k > 0))
        dearest = np.partition(cost, self.k - 1)[self.k - 1]
        chosen = cost <= dearest
        surplus = np.count_nonzero(chosen) - self.k
        if surplus:
            chosen[np.flatnonzero(cost == dearest)[-surplus:]] = False
        return chosen.astype(np.float64)

    def lmo_many(self, costs: ArrayLike) -> Array:
        rows = as_rows(costs, self.dim, "costs")
        if self._single:
            return np.full(rows.shape, float(self.k > 0))
        dearest = np.partition(rows, self.k - 1, axis=1)[:, self.k - 1 : self.k]
        chosen, ties = rows < dearest, rows == dearest
        missing = self.k - chosen.sum(axis=1, keepdims=True)
        return (chosen | (ties & (np.cumsum(ties, axis=1) <= missing))).astype(np.float64)

    def nearest_vertex(self, point: Array) -> Array:
        """The k largest entries: nearest in every ℓp norm, p = ∞ included."""
        return self.lmo(-point)

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        return self.lmo_many(-as_rows(points, self.dim, "points"))

    @derived
    def nearest_is_exact(self) -> bool:
        return True

    # --- predictions ---------------------------------------------------------------------------------

    @checks_its_input
    def project(self, point: Array) -> Prediction:
        """clip(θ − τ, 0, 1) with τ between two breakpoints that are found exactly."""
        if (
            type(point) is np.ndarray
            and point.dtype is FLOAT64
            and point.shape == self._shape
            and point.flags.carray
            and not self._single
        ):
            # The kernel sees every score anyway, so it checks them: at twenty elements that is half the time.
            projected = self._project(point, self.k)
            if projected.size:
                return Prediction(projected)
        return self.project_many(as_vector(point, self.dim, "point")[np.newaxis])[0]

    def project_many(self, points: ArrayLike) -> Predictions:
        rows = as_rows(points, self.dim, "points")
        if self._single:
            return Predictions.exact(self.lmo_many(rows))
        rows = rows if rows.flags.carray else rows.copy()
        return Predictions.exact(kernels.load("osp_matroids.uniform").project_many(rows, self.k))

    def kl_project(self, log_weights: Array) -> Prediction:
        """min(1, c·exp(log weight)) with c found by sorting."""
        return self.kl_project_many(log_weights[np.newaxis])[0]

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        rows = as_rows(log_weights, self.dim, "log_weights")
        return Predictions.exact(self.lmo_many(rows) if self._single else scaled_softmax(rows, self.k))

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        """The sigmoid of log odds shifted so that the entries sum to k, to the precision of float64."""
        return self.binary_kl_project_many(log_odds[np.newaxis])[0]

    def binary_kl_project_many(self, log_odds: ArrayLike) -> Predictions:
        rows = as_rows(log_odds, self.dim, "log_odds")
        return Predictions.exact(self.lmo_many(rows) if self._single else scaled_sigmoid(rows, self.k))

    def marginals(self, theta: Array) -> Array:
        """Ratios of elementary symmetric polynomials in exp θ: O(d·min(k, d − k))."""
        return self.lmo_many(theta[np.newaxis])[0] if self._single else gibbs_marginals(theta, self.k)

    def log_partition(self, theta: Array) -> float:
        """log of the elementary symmetric polynomial of degree k in exp θ."""
        return self.k * float(theta.mean()) if self._single else gibbs_log_partition(theta, self.k)

    # --- combinations --------------------------------------------------------------------------------

    def decompose(self, point: Array) -> ConvexCombination:
        """The sets that systematic sampling can draw: at most d."""
        return systematic_combination(self._inside(point[np.newaxis])[0], self.k)

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """Systematic sampling: one uniform variable, O(d)."""
        return systematic_subset(self._inside(point[np.newaxis])[0], self.k, rng.random())

    def sample_many(self, points: ArrayLike, rng: np.random.Generator) -> Array:
        inside = self._inside(as_rows(points, self.dim, "points"))
        return systematic_subsets(inside, self.k, rng.random(len(inside)))

    def _inside(self, points: Array) -> Array:
        inside = np.clip(points, 0.0, 1.0)
        if (np.abs(points - inside) > 1e-8).any() or (
            np.abs(points.sum(axis=1) - self.k) > 1e-8 * self.dim
        ).any():
            raise InvalidInputError(
                f"The point is outside the polytope of {self!r}: its entries must be between 0 and 1 "
                f"and sum to {self.k}."
            )
        return np.asarray(inside)

    # --- membership and labels -----------------------------------------------------------------------

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        return vector.shape == (self.dim,) and bool(
            ((vector == 0) | (vector == 1)).all() and vector.sum() == self.k
        )

    def vertices(self) -> Array:
        count = math.comb(self.dim, self.k)
        if count > LARGEST_LIST:
            raise UnsupportedError(f"{self!r} has {count:.3g} outputs, too many to list.")
        vertices = np.zeros((count, self.dim))
        for row, subset in enumerate(itertools.combinations(range(self.dim), self.k)):
            vertices[row, list(subset)] = 1.0
        return vertices

    def from_label(self, label: Any) -> Array:
        """A collection of k elements; or a vertex as a 0/1 numpy vector."""
        if isinstance(label, np.ndarray) and label.dtype.kind in "fiub" and label.shape == (self.dim,):
            return super().from_label(label)
        if isinstance(label, str) or not isinstance(label, Collection | np.ndarray):
            raise NotAVertexError(f"An output of {self!r} is a set of {self.k} elements, got {label!r}.")
        positions = {self._position(element) for element in label}
        if len(positions) != self.k or len(label) != self.k:
            raise NotAVertexError(f"An output of {self!r} has {self.k} distinct elements, got {label!r}.")
        vertex = np.zeros(self.dim)
        vertex[list(positions)] = 1.0
        return vertex

    def to_label(self, vertex: Array) -> Any:
        return frozenset(self.elements[int(i)] for i in np.flatnonzero(vertex))

    def draw(self, point: Array) -> Chips:
        return Chips(self.elements, point)

    def _position(self, element: Any) -> int:
        if (place := place_of(element, self._index, self.elements)) is not None:
            return place
        raise NotAVertexError(f"{element!r} is not one of the {self.dim} elements of {self!r}.")

    # --- constants -----------------------------------------------------------------------------------

    def project_direction(self, direction: Array) -> Array:
        return np.zeros(self.dim) if self._single else np.asarray(direction - direction.mean())

    def target_loss(self) -> AffineLoss:
        return mismatch

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(5, 2),
            cls(elements=["ace", "king", "queen", "ten"], k=3, psi=SquaredNorm(0.5)),
            cls(5, 2, psi=NegativeEntropy(1.0), norm=1),
            cls(4, 2, psi=BinaryEntropy(1.0)),
            cls(6, 4, psi=GibbsEntropy(1.0)),
            cls(4, 1, norm=np.inf),
            cls(3, 0),
            cls(3, 3),
            cls(1, 1),
        )
