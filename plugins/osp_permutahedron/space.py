"""The permutahedron: rankings of d items as permutations of a weight vector, [SBTO24, App. C.1]."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core import kernels
from osp_core.errors import (
    Array,
    InvalidInputError,
    NotAVertexError,
    UnsupportedError,
    as_rows,
    as_vector,
)
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers import NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace, checks_its_input, derived
from osp_core.spaces.label_names import as_names, place_of
from osp_core.spaces.pictures import Ranking
from osp_core.spaces.size_parameters import sized_by_names
from osp_core.targets import AffineLoss, alignment
from osp_permutahedron.jacobian import projection_product
from osp_permutahedron.weights import descending_weights

LARGEST_LIST = 8  # 8! = 40 320 permutations
FLOAT64 = np.dtype(np.float64)


class Permutahedron(OutputSpace):
    """All permutations of a weight vector; item i gets the i-th entry, and a larger entry is a better rank.

    Parameters
    ----------
    d : int, optional
        Number of items; the weights are then 1, …, d, so that the best item gets d.
    weights : array, optional
        Any other weights, in any order; ties are allowed.
    items : sequence, optional
        Names of the items; 0, …, d−1 otherwise. Alone, they say how many there are.
    psi : Regularizer
        SquaredNorm(1) by default. NegativeEntropy needs weights ≥ 0.
    norm : float
        2 by default, as in the paper.

    Notes
    -----
    A label is a sequence of items, best first; a vertex is a numpy vector. The target is the alignment loss
    with γ = ‖w − w̄‖/M, which for 1, …, d is √(3/(d(d²−1))). The γ printed in the paper is too small by a
    factor of 6; the centred one here holds and is sharp.
    """

    size_parameters = sized_by_names("items", instead=("d", "weights"))
    equal_norm = True
    constant_mass = True

    def __init__(
        self,
        d: int | None = None,
        *,
        weights: ArrayLike | None = None,
        items: Sequence[Hashable] | None = None,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        names = None if items is None else as_names(items, "items")
        if d is None and weights is None and names is not None:
            d = len(names)
        self._weights = descending_weights(d, weights)
        self.dim = self._weights.size
        self._shape = self._weights.shape
        self.items: Sequence[Hashable] = range(self.dim) if names is None else names
        self._index = None if names is None else {item: i for i, item in enumerate(names)}
        if len(self.items) != self.dim:
            raise InvalidInputError(
                f"items must be {self.dim} distinct names, one per weight, got {items!r}."
            )
        self.min_entry, self.max_entry = float(self._weights[-1]), float(self._weights[0])
        self.min_mass = float(self._weights.sum())
        self.max_mass = float(np.abs(self._weights).sum())
        self.max_square = float(self._weights @ self._weights)
        # Chosen once: looking it up takes as long as a small projection.
        self._project = self._kernels.project

    @property
    def weights(self) -> Array:
        """The weights, from the best rank to the worst."""
        return self._weights.copy()

    # --- oracles -------------------------------------------------------------------------------------

    def lmo(self, cost: Array) -> Array:
        """The largest weight goes to the cheapest item; equal costs go by index."""
        vertex = np.empty(self.dim)
        vertex[np.argsort(cost, kind="stable")] = self._weights
        return vertex

    def lmo_many(self, costs: ArrayLike) -> Array:
        return self._ranked(np.argsort(as_rows(costs, self.dim, "costs"), axis=1, kind="stable"))

    def nearest_vertex(self, point: Array) -> Array:
        """The weights in the order of `point`: nearest in every ℓp norm, ℓ∞ included, [SBTO24, App. C.1]."""
        return self.lmo(-point)

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        return self.lmo_many(-as_rows(points, self.dim, "points"))

    @derived
    def nearest_is_exact(self) -> bool:
        return True  # sorting minimises every sum, and the maximum, of a convex function of differences

    def _ranked(self, orders: Any) -> Array:
        vertices = np.empty(orders.shape)
        np.put_along_axis(vertices, orders, np.broadcast_to(self._weights, orders.shape), axis=1)
        return vertices

    # --- predictions ---------------------------------------------------------------------------------

    @checks_its_input
    def project(self, point: Array) -> Prediction:
        """Sort, then pool adjacent violators: O(d log d)."""
        if (
            type(point) is np.ndarray
            and point.dtype is FLOAT64
            and point.shape == self._shape
            and point.flags.carray
        ):
            # The kernel sees every score anyway, so it checks them: at ten items that is half the time.
            projected = self._project(point, self._weights)
            if projected.size:
                return Prediction(projected)
        vector = as_vector(point, self.dim, "point")
        return Prediction(self._project(_compact(vector), self._weights))

    def project_many(self, points: ArrayLike) -> Predictions:
        rows = _compact(as_rows(points, self.dim, "points"))
        return Predictions.exact(self._kernels.project_many(rows, self._weights))

    def kl_project(self, log_weights: Array) -> Prediction:
        """Sort, then pool with log-sum-exp over the blocks: O(d log d)."""
        self._refuse_negative_weights()
        return Prediction(self._kernels.kl_project(_compact(log_weights), self._weights))

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        self._refuse_negative_weights()
        rows = _compact(as_rows(log_weights, self.dim, "log_weights"))
        return Predictions.exact(self._kernels.kl_project_many(rows, self._weights))

    def _refuse_negative_weights(self) -> None:
        if self.min_entry < 0:
            raise InvalidInputError(
                f"NegativeEntropy needs weights ≥ 0; the least of {self!r} is {self.min_entry:g}. "
                "Add a constant to the weights, which changes no ranking, or use SquaredNorm."
            )

    def jacobian_product(self, thetas: Array, predictions: Predictions, directions: Array) -> Array:
        if type(self.psi) is not SquaredNorm:
            return super().jacobian_product(thetas, predictions, directions)
        return projection_product(predictions.point, self._weights, directions) / self.psi.scale

    @property
    def _kernels(self) -> Any:
        return kernels.load("osp_permutahedron")

    # --- combinations --------------------------------------------------------------------------------

    def decompose(self, point: Array) -> ConvexCombination:
        """At most d permutations with mean `point`, by splitting along T-transforms: O(d²)."""
        order, ordered = self._inside(point)
        atoms, masses = self._kernels.decompose(ordered, self._weights)
        positive = masses > 0
        vertices = np.empty((int(positive.sum()), self.dim))
        vertices[:, order] = atoms[positive]
        return ConvexCombination(vertices, masses[positive])

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """Independent swaps along T-transforms: O(d log d), at most d − 1 coin flips.

        Each swap moves the mean of the two entries as the transform does, whatever happened before, so the
        mean of the result is the end of the chain of transforms: `point`.
        """
        order, ordered = self._inside(point)
        first, second, probabilities = self._kernels.transforms(ordered, self._weights)
        uniforms = rng.random(first.size)
        vertex = np.empty(self.dim)
        vertex[order] = self._kernels.swap_at_random(self._weights, first, second, probabilities, uniforms)
        return vertex

    def _inside(self, point: Array) -> tuple[Any, Array]:
        """The order of `point` from high to low, and its entries so; an error when it is not majorised."""
        order = self._kernels.order_descending(_compact(point))
        excess = point[order] - self._weights
        largest = float(np.cumsum(excess).max())
        total = float(excess.sum())
        if max(largest, abs(total)) > 1e-8 * self.dim * (1.0 + float(np.abs(self._weights).max())):
            raise InvalidInputError(
                f"The point is outside the permutahedron: its sum must be {self.min_mass:g}, and its"
                " r largest entries must not sum to more than the r largest weights; one sum is off by "
                f"{max(largest, abs(total)):.3g}."
            )
        # The rounding of the total would otherwise end up in one entry.
        return order, point[order] - total / self.dim

    # --- membership and labels -----------------------------------------------------------------------

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        return vector.shape == (self.dim,) and bool(np.array_equal(np.sort(vector)[::-1], self._weights))

    def vertices(self) -> Array:
        if self.dim > LARGEST_LIST:
            raise UnsupportedError(f"{self!r} has up to {self.dim}! outputs, too many to list.")
        return np.unique(list(itertools.permutations(self._weights)), axis=0)

    def from_label(self, label: Any) -> Array:
        """A sequence of all items, best first; or a vertex as a numpy vector."""
        if isinstance(label, np.ndarray):
            return super().from_label(label)
        if isinstance(label, str) or not isinstance(label, Iterable):
            raise NotAVertexError(
                f"An output of {self!r} is a sequence of all items, best first; got {label!r}."
            )
        order = [self._position(item) for item in label]
        if len(order) != self.dim or len(set(order)) != self.dim:
            raise NotAVertexError(f"A ranking must name each of the {self.dim} items once, got {label!r}.")
        vertex = np.empty(self.dim)
        vertex[order] = self._weights
        return vertex

    def to_label(self, vertex: Array) -> Any:
        """The items, best first; items of equal weight in their given order."""
        order = np.argsort(-np.asarray(vertex), kind="stable")
        return tuple(self.items[int(i)] for i in order)

    def draw(self, point: Array) -> Ranking:
        return Ranking(self.to_label(point))

    def _position(self, item: Any) -> int:
        if (place := place_of(item, self._index, self.items)) is not None:
            return place
        raise NotAVertexError(f"{item!r} is not one of the {self.dim} items of {self!r}.")

    # --- constants -----------------------------------------------------------------------------------

    @derived
    def nu(self) -> float:
        """2^(1/p)·δ with δ the least gap between distinct weights: two neighbours trade places."""
        gaps = -np.diff(self._weights)
        least = float(gaps[gaps > 0].min()) if gaps.any() else 1.0  # one output only: any ν holds
        return least * 2.0 ** (1.0 / self.norm)

    def nu_in(self, p: float) -> float:
        return self.nu * 2.0 ** (1.0 / p - 1.0 / self.norm)

    def diameter_in(self, p: float) -> float:
        """Opposite orders are farthest apart, in every norm."""
        return float(np.linalg.norm(self._weights - self._weights[::-1], ord=p))

    def project_direction(self, direction: Array) -> Array:
        if self.min_entry == self.max_entry:
            return np.zeros(self.dim)
        return np.asarray(direction - direction.mean())

    def target_loss(self) -> AffineLoss:
        return alignment

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(4),
            cls(3, items=["ann", "bob", "cid"], psi=SquaredNorm(0.5)),
            cls(weights=[0.0, 1.0, 1.0, 3.0], psi=NegativeEntropy(1.0)),
            cls(5, psi=NegativeEntropy(2.0), norm=1),
            cls(weights=[-1.5, 0.25, 2.0], norm=np.inf),
            cls(weights=[2.0, 2.0, 2.0]),
            cls(1),
        )


def _compact(array: Array) -> Array:
    """The array, or a copy where it is strided or read-only: one compiled version serves all callers."""
    return array if array.flags.carray else array.copy()
