"""The probability simplex: multiclass classification, [SBTO24, Sec. 2.3 and 4]."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.compiled import SpaceParts
from osp_core.compiled.functions import negative_entropy_loss_of_equal_mass, squared_norm_loss_of_equal_mass
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
from osp_core.regularizers import GibbsEntropy, NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace, ZeroOneSpace, derived
from osp_core.spaces.label_names import names_or_numbers, place_of
from osp_core.spaces.pictures import Bars
from osp_core.spaces.size_parameters import sized_by_names
from osp_core.targets import AffineLoss, ProportionalLoss, zero_one
from osp_simplex import parts
from osp_simplex.jacobian import softmax_product, sparsemax_product

# Sharp multiclass constants for Ψ = −H, rounded up. With s the softmax of the true class:
# E L ≤ 1 − 2s² for s ≤ 1/2, 2(1 − s)² beyond, and S = −ln s, so the ratio is largest at s = 0.432067;
# ‖ŷ − y‖₂² ≤ 2(1 − s)², and (1 − s)²/(−ln s) is largest at s = 0.284668.
SHARP_DECODING_RATIO = 0.7467293
SHARP_GRADIENT_RATIO = 2 * 0.4072645
FEW = 64  # classes
PARTS = {
    NegativeEntropy: (parts.softmax, negative_entropy_loss_of_equal_mass),
    GibbsEntropy: (parts.softmax, negative_entropy_loss_of_equal_mass),
    SquaredNorm: (parts.sparsemax, squared_norm_loss_of_equal_mass),
}
JACOBIANS = {
    NegativeEntropy: softmax_product,
    GibbsEntropy: softmax_product,
    SquaredNorm: sparsemax_product,
}


class Simplex(ZeroOneSpace):
    """The unit vectors e₁, …, e_d.

    Parameters
    ----------
    d : int, optional
        Number of classes; labels are 0, …, d−1.
    classes : sequence, optional
        Names of the classes instead.
    psi : Regularizer
        NegativeEntropy(1) by default: ŷ is the softmax. SquaredNorm gives the sparsemax.
    norm : float
        1 by default, as in the paper.
    """

    size_parameters = sized_by_names("classes", instead=("d",), single=True)
    norm = 1.0
    psi: Regularizer = NegativeEntropy(1.0)
    nu1 = 2.0
    equal_norm = True
    constant_mass = True
    min_mass = max_mass = 1.0

    def __init__(
        self,
        d: int | None = None,
        *,
        classes: Sequence[Hashable] | None = None,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        if (d is None) == (classes is None):
            raise InvalidInputError("simplex takes either d, the number of classes, or classes, their names.")
        self.classes = names_or_numbers(d, classes, "d", "classes")
        self.dim = as_count(len(self.classes), "the number of classes")
        self._index = {name: i for i, name in enumerate(self.classes)}
        self.diameter1 = 2.0 if self.dim > 1 else 0.0

    def unit(self, index: int) -> Array:
        """e_index."""
        vertex = np.zeros(self.dim)
        vertex[index] = 1.0
        return vertex

    def lmo(self, cost: Array) -> Array:
        return self.unit(int(np.argmin(cost)))

    def lmo_many(self, costs: ArrayLike) -> Array:
        return np.eye(self.dim)[np.argmin(as_rows(costs, self.dim, "costs"), axis=1)]

    def nearest_vertex(self, point: Array) -> Array:
        return self.unit(int(np.argmax(point)))

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        return np.eye(self.dim)[np.argmax(as_rows(points, self.dim, "points"), axis=1)]

    @derived
    def nearest_is_exact(self) -> bool:
        return True  # in every ℓp norm, ℓ∞ included

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        return vector.shape == (self.dim,) and bool(
            ((vector == 0) | (vector == 1)).all() and vector.sum() == 1
        )

    def project(self, point: Array) -> Prediction:
        """Sparsemax: the Euclidean projection, by sorting."""
        return Prediction(sparsemax(point[np.newaxis])[0])

    def project_many(self, points: ArrayLike) -> Predictions:
        return Predictions.exact(sparsemax(as_rows(points, self.dim, "points")))

    def kl_project(self, log_weights: Array) -> Prediction:
        """Softmax."""
        return Prediction(softmax(log_weights))

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        return Predictions.exact(softmax(as_rows(log_weights, self.dim, "log_weights")))

    def marginals(self, theta: Array) -> Array:
        return softmax(theta)

    def log_partition(self, theta: Array) -> float:
        return float(theta.max() + np.log(np.exp(theta - theta.max()).sum()))

    def jacobian_product(self, thetas: Array, predictions: Predictions, directions: Array) -> Array:
        product = JACOBIANS.get(type(self.psi))  # exactly: a subclass may predict otherwise
        if product is None:
            return super().jacobian_product(thetas, predictions, directions)
        return product(predictions.point, directions) / self.psi.scale

    def compiled_parts(self) -> SpaceParts | None:
        functions = PARTS.get(type(self.psi))  # exactly: a subclass may predict otherwise
        if functions is None:
            return None
        return SpaceParts(*functions, parts.likeliest, parts.categorical, np.array([self.psi.scale]))

    def decompose(self, point: Array) -> ConvexCombination:
        weights = self._probabilities(point)
        support = np.flatnonzero(weights)
        from scipy.sparse import csr_array

        ones = (np.ones(len(support)), (np.arange(len(support)), support))
        return ConvexCombination(csr_array(ones, shape=(len(support), self.dim)), weights[support])

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """Draw class i with probability point[i]."""
        lowest, shares = _cumulated(point)
        if lowest < 0.0 or not abs(shares[-1] - 1.0) <= 1e-7:
            _, shares = _cumulated(self._probabilities(point))  # or raises
        return self.unit(min(bisect_right(shares, rng.random() * shares[-1]), self.dim - 1))

    def sample_many(self, points: ArrayLike, rng: np.random.Generator) -> Array:
        cumulative = np.cumsum(self._probabilities(as_rows(points, self.dim, "points")), axis=1)
        # Scaling by the last entry keeps rounding from leaving a sliver beyond the last class.
        uniform = rng.random((len(cumulative), 1)) * cumulative[:, -1:]
        return np.eye(self.dim)[(uniform >= cumulative).sum(axis=1)]

    def _probabilities(self, points: Array) -> Array:
        totals = points.sum(axis=-1, keepdims=True)
        if (points < -1e-9).any() or (np.abs(totals - 1.0) > 1e-7).any():
            raise InvalidInputError("The point is outside the simplex: its entries must be ≥ 0 and sum to 1.")
        return np.asarray(np.maximum(points, 0.0) / totals)

    def vertices(self) -> Array:
        if self.dim > 5000:
            raise UnsupportedError(f"{self!r} has too many outputs to list them as dense vectors.")
        return np.eye(self.dim)

    def from_label(self, label: Any) -> Array:
        if (place := place_of(label, self._index, self.classes)) is not None:
            return self.unit(place)
        if isinstance(label, np.ndarray):
            return super().from_label(label)
        shown = ", ".join(map(repr, self.classes[:8])) + (", …" if self.dim > 8 else "")
        raise NotAVertexError(f"{label!r} is not one of the {self.dim} classes {shown}.")

    def to_label(self, vertex: Array) -> Any:
        return self.classes[int(np.argmax(vertex))]

    def draw(self, point: Array) -> Bars:
        return Bars(self.classes, point)

    def project_direction(self, direction: Array) -> Array:
        return np.asarray(direction - direction.mean())

    def target_loss(self) -> AffineLoss:
        return zero_one

    @property
    def paper_loss_scale(self) -> float:
        """1/ln 2, which makes the logistic loss of Thm 12 base-2."""
        return 1.0 / float(np.log(2.0)) if self._is_entropic else 1.0

    def decoding_ratio(self, target: AffineLoss) -> float:
        """Lemma 4, or its sharp constant for the logistic loss and a multiple of the 0–1 loss."""
        general = super().decoding_ratio(target)
        if isinstance(target, ProportionalLoss) and self.norm == 1 and self._is_entropic:
            zero_one_weight = -target.slope * target.weight_on(self)
            return min(general, SHARP_DECODING_RATIO * zero_one_weight / self.psi.scale)
        return general

    def gradient_ratio(self) -> float:
        general = super().gradient_ratio()
        return min(general, SHARP_GRADIENT_RATIO / self.psi.scale) if self._is_entropic else general

    @property
    def _is_entropic(self) -> bool:
        # On the simplex the Gibbs entropy is the Shannon entropy.
        return isinstance(self.psi, NegativeEntropy | GibbsEntropy)

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(4),
            cls(classes=["cat", "dog", "emu"]),
            cls(3, psi=SquaredNorm(2.0), norm=2),
            cls(5, psi=GibbsEntropy(0.5)),
            cls(3, psi=NegativeEntropy(1.0), norm=1.5),
            cls(1),
        )


def softmax(scores: Array) -> Array:
    """Softmax of a vector, or of every row."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def sparsemax(points: Array) -> Array:
    """Euclidean projection of every row on the simplex."""
    # Shifting a row by its maximum changes nothing and keeps large scores from swallowing the threshold.
    shifted = points - points.max(axis=1, keepdims=True)
    ordered = -np.sort(-shifted, axis=1)
    sizes = np.arange(1, points.shape[1] + 1)
    thresholds = (np.cumsum(ordered, axis=1) - 1.0) / sizes
    support = (ordered > thresholds).sum(axis=1)
    tau = np.take_along_axis(thresholds, support[:, np.newaxis] - 1, axis=1)
    projected = np.maximum(shifted - tau, 0.0)
    return np.asarray(projected / projected.sum(axis=1, keepdims=True))


def _cumulated(point: Array) -> tuple[float, Any]:
    """The least entry, and the sums of the first entries: of a short list sooner than of an array."""
    if len(point) > FEW:
        return point.min(), point.cumsum()
    entries = point.tolist()
    return min(entries), list(accumulate(entries))
