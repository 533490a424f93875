"""The regularizers Ψ: each knows its prediction, its Fenchel–Young loss and its strong convexity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array, InvalidInputError, NumericalError, UnsupportedError, as_positive
from osp_core.geometry.predictions import Prediction, Predictions

if TYPE_CHECKING:
    from osp_core.spaces.base import OutputSpace


@dataclass(frozen=True)
class Regularizer(ABC):
    """A strongly convex function Ψ on conv(Y), [SBTO24, Sec. 2.2].

    The Fenchel–Young loss needs Ω = Ψ + indicator of conv(Y) to be strongly convex there, nothing more:
    being of Legendre type is not required (see the errata in the documentation).
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", as_positive(self.scale, f"scale of {type(self).__name__}"))

    @abstractmethod
    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        """Return ŷ(θ) = argmax ⟨θ, y⟩ − Ψ(y) over conv(Y), [SBTO24, Prop. 3]."""

    def predict_many(self, space: OutputSpace, thetas: Array) -> Predictions:
        """Return one prediction for every row of `thetas`."""
        return Predictions.gather((self.predict(space, theta) for theta in thetas), space.dim)

    @abstractmethod
    def strong_convexity(self, space: OutputSpace, p: float) -> float:
        """Return λ of Ψ over conv(Y) with respect to the ℓp norm; too small is safe, too large is not."""

    def value(self, y: Array) -> Array:
        """Return Ψ(y) of a point, or of every row of a batch."""
        raise UnsupportedError(f"{type(self).__name__} has no tractable value Ψ(y).")

    def gradient(self, y: Array) -> Array:
        """Return ∇Ψ(y)."""
        raise UnsupportedError(f"{type(self).__name__} has no tractable gradient ∇Ψ(y).")

    def loss(self, space: OutputSpace, theta: Array, y: Array, prediction: Prediction | Predictions) -> Array:
        """Return S(θ; y) = ⟨θ, ŷ − y⟩ + Ψ(y) − Ψ(ŷ), for one round or row by row for a batch."""
        theta, y_hat = space.centred(theta), prediction.point
        linear = (theta * (y_hat - y)).sum(axis=-1)
        size = np.abs(theta).max(axis=-1) + self.scale
        return _nonnegative(linear + self.value(y) - self.value(y_hat), size * space.max_mass, prediction.gap)


@dataclass(frozen=True)
class SquaredNorm(Regularizer):
    """Ψ(y) = scale/2·‖y‖₂²: the SparseMAP regularizer. ŷ is the Euclidean projection of θ/scale."""

    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        # The projection certifies ½‖y − θ/scale‖²; f is scale times that.
        return _rescaled(space.project(space.centred(theta) / self.scale), self.scale)

    def predict_many(self, space: OutputSpace, thetas: Array) -> Predictions:
        predictions = space.project_many(space.centred(thetas) / self.scale)
        return replace(predictions, gap=self.scale * predictions.gap)

    def strong_convexity(self, space: OutputSpace, p: float) -> float:
        return float(self.scale * min(1.0, float(space.dim) ** (1.0 - 2.0 / p)))

    def value(self, y: Array) -> Array:
        return np.asarray(0.5 * self.scale * np.square(y).sum(axis=-1))

    def gradient(self, y: Array) -> Array:
        return self.scale * y

    def loss(self, space: OutputSpace, theta: Array, y: Array, prediction: Prediction | Predictions) -> Array:
        # Same value as the general formula, but one inner product instead of a difference of squares.
        theta, y_hat = space.centred(theta), prediction.point
        value = ((theta - 0.5 * self.scale * (y_hat + y)) * (y_hat - y)).sum(axis=-1)
        size = np.abs(theta).max(axis=-1) + self.scale * space.max_mass
        return _nonnegative(value, size * space.max_mass, prediction.gap)


@dataclass(frozen=True)
class NegativeEntropy(Regularizer):
    """Ψ(y) = scale·Σ yᵢ ln yᵢ = −scale·H(y) for y ≥ 0. On the simplex ŷ is the softmax of θ/scale."""

    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        return _rescaled(space.kl_project(space.centred(theta) / self.scale), self.scale)

    def predict_many(self, space: OutputSpace, thetas: Array) -> Predictions:
        predictions = space.kl_project_many(space.centred(thetas) / self.scale)
        return replace(predictions, gap=self.scale * predictions.gap)

    def strong_convexity(self, space: OutputSpace, p: float) -> float:
        if space.min_entry < 0:
            raise InvalidInputError(
                f"NegativeEntropy needs outputs with entries ≥ 0; {space!r} goes down to {space.min_entry}. "
                "Use SquaredNorm there."
            )
        # The Hessian is scale·diag(1/y). ℓ1 by Cauchy–Schwarz with the mass of y, ℓ2 by its largest entry.
        lam_1 = self.scale / space.max_mass if space.max_mass > 0 else np.inf
        lam_2 = self.scale / space.max_entry if space.max_entry > 0 else np.inf
        if p >= 2:
            return float(lam_2)
        return float(max(lam_1, lam_2 * float(space.dim) ** (1.0 - 2.0 / p)))

    def value(self, y: Array) -> Array:
        return np.asarray(self.scale * _x_log_x(y).sum(axis=-1))

    def gradient(self, y: Array) -> Array:
        return self.scale * (np.log(y) + 1.0)


@dataclass(frozen=True)
class BinaryEntropy(Regularizer):
    """Ψ(y) = scale·Σ yᵢ ln yᵢ + (1−yᵢ) ln(1−yᵢ) on [0, 1]^d. On the hypercube ŷ is a sigmoid."""

    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        return _rescaled(space.binary_kl_project(space.centred(theta) / self.scale), self.scale)

    def predict_many(self, space: OutputSpace, thetas: Array) -> Predictions:
        predictions = space.binary_kl_project_many(space.centred(thetas) / self.scale)
        return replace(predictions, gap=self.scale * predictions.gap)

    def strong_convexity(self, space: OutputSpace, p: float) -> float:
        if space.min_entry < 0 or space.max_entry > 1:
            raise InvalidInputError(
                f"BinaryEntropy needs outputs in [0, 1]; those of {space!r} range over "
                f"[{space.min_entry}, {space.max_entry}]. Use SquaredNorm there."
            )
        # 1/y + 1/(1−y) ≥ 4 on the diagonal of the Hessian.
        return float(4.0 * self.scale * min(1.0, float(space.dim) ** (1.0 - 2.0 / p)))

    def value(self, y: Array) -> Array:
        return np.asarray(self.scale * (_x_log_x(y) + _x_log_x(1.0 - y)).sum(axis=-1))

    def gradient(self, y: Array) -> Array:
        return self.scale * (np.log(y) - np.log1p(-y))


@dataclass(frozen=True)
class GibbsEntropy(Regularizer):
    """Ψ(y) = scale·min {−H(q) : E_q Y = y}, the CRF regularizer, [SBTO24, App. B].

    ŷ is the vector of marginals of the Gibbs distribution ∝ exp⟨θ/scale, y⟩, and
    S(θ; y) = scale·(log Z(θ/scale) − ⟨θ/scale, y⟩).
    """

    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        return Prediction(space.marginals(space.centred(theta) / self.scale))

    def strong_convexity(self, space: OutputSpace, p: float) -> float:
        return self.scale * space.gibbs_convexity(p)

    def loss(self, space: OutputSpace, theta: Array, y: Array, prediction: Prediction | Predictions) -> Array:
        scores = space.centred(theta) / self.scale
        log_z = np.apply_along_axis(space.log_partition, -1, scores)
        size = np.abs(scores).max(axis=-1) + 1.0
        return self.scale * _nonnegative(log_z - (scores * y).sum(axis=-1), size * space.max_mass)


def _rescaled(prediction: Prediction, scale: float) -> Prediction:
    """The same prediction with its gap on another scale; what needs no change is not copied."""
    if prediction.gap == 0.0 or scale == 1.0:
        return prediction
    return replace(prediction, gap=scale * prediction.gap)


def _x_log_x(y: Array) -> Array:
    """Entry-wise y·ln y with 0·ln 0 = 0."""
    positive = np.maximum(y, 0.0)
    return np.asarray(positive * np.log(np.where(positive > 0, positive, 1.0)))


def _nonnegative(value: Array, size: Array, gap: float | Array = 0.0) -> Array:
    """Clip a loss that is negative by rounding, or by no more than the gap of its prediction, to 0.

    `size` bounds the numbers it was computed from. An inexact ŷ gives S − δ with 0 ≤ δ ≤ gap.
    """
    tolerance = 1e-12 * (1.0 + size) + gap
    if np.any(value < -tolerance) or not np.all(np.isfinite(value)):
        raise NumericalError(
            f"A Fenchel–Young loss came out as {np.min(value)}; it must be at least 0. The prediction it was "
            "computed from is not optimal for these scores, or the scores are too large for float64."
        )
    return np.asarray(np.maximum(value, 0.0))
