"""The hypercube {0, 1}^d: multilabel classification, [SBTO24, Sec. 2.3]."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.compiled import SpaceParts
from osp_core.compiled.functions import binary_entropy_loss, squared_norm_loss
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
from osp_core.spaces import Block, OutputSpace, ZeroOneSpace, derived
from osp_core.spaces.label_names import names_or_numbers, place_of
from osp_core.spaces.pictures import Chips
from osp_core.spaces.size_parameters import sized_by_names
from osp_core.targets import AffineLoss, ProportionalLoss, hamming
from osp_hypercube import parts

# Sharp constants of one coordinate under the binary entropy: those of two classes under the logistic loss.
SHARP_DECODING_RATIO = 0.7467293
SHARP_GRADIENT_RATIO = 0.4072645
PARTS = {
    BinaryEntropy: (parts.sigmoid, binary_entropy_loss),
    GibbsEntropy: (parts.sigmoid, binary_entropy_loss),
    SquaredNorm: (parts.clip, squared_norm_loss),
}


def _sigmoid_slopes(y: Array) -> Array:
    return y * (1.0 - y)


# The derivative of every entry of ŷ, from ŷ and for scale 1.
SLOPES = {
    SquaredNorm: lambda y: (y > 0) & (y < 1),
    BinaryEntropy: _sigmoid_slopes,
    GibbsEntropy: _sigmoid_slopes,
    NegativeEntropy: lambda y: np.where(y < 1, y, 0.0),
}


class Hypercube(ZeroOneSpace):
    """All subsets of d labels, as 0/1 vectors.

    Parameters
    ----------
    d : int, optional
        Number of labels, called 0, …, d−1.
    labels : sequence, optional
        Names of the labels instead.
    psi : Regularizer
        SquaredNorm(1) by default: ŷ clips the scores to [0, 1]. BinaryEntropy gives the sigmoid.
    norm : float
        2 by default, as in the paper.
    """

    size_parameters = sized_by_names("labels", instead=("d",))
    nu1 = 1.0
    constant_mass = False
    min_mass = 0.0

    def __init__(
        self,
        d: int | None = None,
        *,
        labels: Sequence[Hashable] | None = None,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        if (d is None) == (labels is None):
            raise InvalidInputError("hypercube takes either d, the number of labels, or labels, their names.")
        self.labels = names_or_numbers(d, labels, "d", "labels")
        self.dim = as_count(len(self.labels), "the number of labels")
        self._index = {name: i for i, name in enumerate(self.labels)}
        self.diameter1 = self.max_mass = float(self.dim)

    def lmo(self, cost: Array) -> Array:
        return (cost < 0).astype(np.float64)

    def lmo_many(self, costs: ArrayLike) -> Array:
        return (as_rows(costs, self.dim, "costs") < 0).astype(np.float64)

    def nearest_vertex(self, point: Array) -> Array:
        return (point > 0.5).astype(np.float64)

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        return (as_rows(points, self.dim, "points") > 0.5).astype(np.float64)

    @derived
    def nearest_is_exact(self) -> bool:
        return True  # rounding is best in every ℓp norm, ℓ∞ included

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        return vector.shape == (self.dim,) and bool(((vector == 0) | (vector == 1)).all())

    def project(self, point: Array) -> Prediction:
        return Prediction(np.clip(point, 0.0, 1.0))

    def project_many(self, points: ArrayLike) -> Predictions:
        return Predictions.exact(np.clip(as_rows(points, self.dim, "points"), 0.0, 1.0))

    def kl_project(self, log_weights: Array) -> Prediction:
        # Stationary where ln y + 1 equals the log weight; beyond y = 1 the box binds.
        return Prediction(np.exp(np.minimum(log_weights - 1.0, 0.0)))

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        return Predictions.exact(np.exp(np.minimum(as_rows(log_weights, self.dim, "log_weights") - 1.0, 0.0)))

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        return Prediction(self.marginals(log_odds))

    def binary_kl_project_many(self, log_odds: ArrayLike) -> Predictions:
        return Predictions.exact(sigmoid(as_rows(log_odds, self.dim, "log_odds")))

    def marginals(self, theta: Array) -> Array:
        return sigmoid(theta)

    def log_partition(self, theta: Array) -> float:
        return float(np.logaddexp(0.0, theta).sum())

    def jacobian_product(self, thetas: Array, predictions: Predictions, directions: Array) -> Array:
        slopes = SLOPES.get(type(self.psi))  # exactly: a subclass may predict otherwise
        if slopes is None:
            return super().jacobian_product(thetas, predictions, directions)
        return slopes(predictions.point) * directions / self.psi.scale

    def compiled_parts(self) -> SpaceParts | None:
        functions = PARTS.get(type(self.psi))  # exactly: a subclass may predict otherwise
        if functions is None:
            return None
        return SpaceParts(*functions, parts.rounded, parts.bernoulli, np.array([self.psi.scale]))

    def decompose(self, point: Array) -> ConvexCombination:
        """One uniform threshold: the sets {i : point[i] > u} for u in [0, 1), at most d + 1 of them."""
        inside = self._probabilities(point)
        levels = np.unique(np.concatenate([[0.0, 1.0], inside]))
        lower, upper = levels[:-1], levels[1:]
        return ConvexCombination((inside[np.newaxis] > lower[:, np.newaxis]).astype(np.int8), upper - lower)

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """Draw every label on its own."""
        inside = self._probabilities(point)  # refuses a bad point before a number is drawn
        return (rng.random(self.dim) < inside).astype(np.float64)

    def sample_many(self, points: ArrayLike, rng: np.random.Generator) -> Array:
        inside = self._probabilities(as_rows(points, self.dim, "points"))
        return (rng.random(inside.shape) < inside).astype(np.float64)

    def _probabilities(self, points: Array) -> Array:
        if (points < -1e-9).any() or (points > 1 + 1e-9).any():
            raise InvalidInputError(
                "The point is outside the hypercube: its entries must be between 0 and 1."
            )
        return np.asarray(np.clip(points, 0.0, 1.0))

    def vertices(self) -> Array:
        if self.dim > 16:
            raise UnsupportedError(f"{self!r} has 2^{self.dim} outputs, too many to list.")
        return np.array(list(itertools.product([0.0, 1.0], repeat=self.dim)))

    def from_label(self, label: Any) -> Array:
        if isinstance(label, np.ndarray) and label.dtype.kind in "fiub" and label.shape == (self.dim,):
            return super().from_label(label)
        if isinstance(label, str) or not isinstance(label, Collection | np.ndarray):
            raise NotAVertexError(
                f"An output of {self!r} is a set of labels such as {{{self.labels[0]!r}}}, got {label!r}."
            )
        vertex = np.zeros(self.dim)
        for name in label:
            place = place_of(name, self._index, self.labels)
            if place is None:
                raise NotAVertexError(f"{name!r} is not one of the {self.dim} labels of {self!r}.")
            if vertex[place]:
                raise NotAVertexError(
                    f"The label {name!r} is given twice. A 0/1 vector must be a numpy array."
                )
            vertex[place] = 1.0
        return vertex

    def to_label(self, vertex: Array) -> Any:
        return frozenset(self.labels[i] for i in np.flatnonzero(vertex))

    def draw(self, point: Array) -> Chips:
        return Chips(self.labels, point)

    def project_direction(self, direction: Array) -> Array:
        return direction

    def gibbs_convexity(self, p: float) -> float:
        return BinaryEntropy(1.0).strong_convexity(self, p)

    def target_loss(self) -> AffineLoss:
        return hamming

    def blocks(self) -> Sequence[Block] | None:
        if self.dim == 1:
            return None
        coordinate = Hypercube(1, psi=self.psi, norm=self.norm)
        return [Block(coordinate, np.arange(self.dim)[:, np.newaxis])]

    def decoding_ratio(self, target: AffineLoss) -> float:
        general = super().decoding_ratio(target)
        if self.dim == 1 and self._is_logistic and isinstance(target, ProportionalLoss):
            weight = target.weight_on(self) * max(abs(target.offset), abs(target.slope + target.offset))
            return min(general, SHARP_DECODING_RATIO * weight / self.psi.scale)
        return general

    def gradient_ratio(self) -> float:
        general = super().gradient_ratio()
        return min(general, SHARP_GRADIENT_RATIO / self.psi.scale) if self._is_logistic else general

    @property
    def _is_logistic(self) -> bool:
        # On the hypercube the Gibbs distribution is a product: its entropy is the binary entropy.
        return isinstance(self.psi, BinaryEntropy | GibbsEntropy)

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(3),
            cls(labels=["rain", "wind"], psi=BinaryEntropy(1.0)),
            cls(4, psi=NegativeEntropy(0.5), norm=1),
            cls(3, psi=GibbsEntropy(2.0)),
            cls(2, psi=SquaredNorm(3.0), norm=np.inf),
            cls(1),
        )


def sigmoid(scores: Array) -> Array:
    """1/(1 + exp(−scores)), without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -scores)))
