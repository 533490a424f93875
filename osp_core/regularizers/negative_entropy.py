"""Ψ = −H: softmax on the simplex, Sinkhorn on permutations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers.arithmetic import rescaled
from osp_core.regularizers.base import Regularizer
from osp_core.regularizers.summands import x_log_x

if TYPE_CHECKING:
    from osp_core.spaces import OutputSpace


@dataclass(frozen=True)
class NegativeEntropy(Regularizer):
    """Ψ(y) = scale·Σ yᵢ ln yᵢ = −scale·H(y) for y ≥ 0. On the simplex ŷ is the softmax of θ/scale."""

    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        return rescaled(space.kl_project(space.centred(theta) / self.scale), self.scale)

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
        return np.asarray(self.scale * x_log_x(y).sum(axis=-1))

    def gradient(self, y: Array) -> Array:
        return self.scale * (np.log(y) + 1.0)
