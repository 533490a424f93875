"""Ψ of conditional random fields: minus the entropy of a law over outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers.arithmetic import nonnegative
from osp_core.regularizers.base import Regularizer

if TYPE_CHECKING:
    from osp_core.spaces import OutputSpace


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
        return self.scale * nonnegative(log_z - (scores * y).sum(axis=-1), size * space.max_mass)
