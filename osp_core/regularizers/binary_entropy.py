"""Ψ = minus the binary entropy of every entry: the sigmoid on the hypercube."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers.arithmetic import rescaled
from osp_core.regularizers.base import Regularizer
from osp_core.regularizers.summands import binary_x_log_x

if TYPE_CHECKING:
    from osp_core.spaces import OutputSpace


@dataclass(frozen=True)
class BinaryEntropy(Regularizer):
    """Ψ(y) = scale·Σ yᵢ ln yᵢ + (1−yᵢ) ln(1−yᵢ) on [0, 1]^d. On the hypercube ŷ is a sigmoid."""

    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        return rescaled(space.binary_kl_project(space.centred(theta) / self.scale), self.scale)

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
        return np.asarray(self.scale * binary_x_log_x(y).sum(axis=-1))

    def gradient(self, y: Array) -> Array:
        return self.scale * (np.log(y) - np.log1p(-y))
