"""What a regularizer Ψ owes: its prediction, its Fenchel–Young loss and its strong convexity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array, UnsupportedError, as_positive
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers.arithmetic import nonnegative
from osp_core.regularizers.summands import linear_part

if TYPE_CHECKING:
    from osp_core.spaces import OutputSpace


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
        linear = linear_part(theta, y, y_hat).sum(axis=-1)
        size = np.abs(theta).max(axis=-1) + self.scale
        return nonnegative(linear + self.value(y) - self.value(y_hat), size * space.max_mass, prediction.gap)
