"""Ψ = ½‖·‖²: the SparseMAP regularizer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers.arithmetic import nonnegative, rescaled
from osp_core.regularizers.base import Regularizer
from osp_core.regularizers.summands import squared_norm_part

if TYPE_CHECKING:
    from osp_core.spaces import OutputSpace


@dataclass(frozen=True)
class SquaredNorm(Regularizer):
    """Ψ(y) = scale/2·‖y‖₂²: the SparseMAP regularizer. ŷ is the Euclidean projection of θ/scale."""

    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        # The projection certifies ½‖y − θ/scale‖²; f is scale times that.
        return rescaled(space.project(space.centred(theta) / self.scale), self.scale)

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
        value = squared_norm_part(theta, y, y_hat, self.scale).sum(axis=-1)
        size = np.abs(theta).max(axis=-1) + self.scale * space.max_mass
        return nonnegative(value, size * space.max_mass, prediction.gap)
