"""Uniform exploration: the decoder of earlier work, as a baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from osp_core.errors import Array
from osp_core.geometry.predictions import Prediction
from osp_core.regularizers import GibbsEntropy, NegativeEntropy
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders.base import Decoder
from osp_core.surrogates.laws import DecodingLaw
from osp_core.surrogates.mixing import mixture, probability, randomises, significant
from osp_core.targets import AffineLoss, zero_one


@dataclass(frozen=True, eq=False)
class ExplorationLaw(DecodingLaw):
    """The nearest output with probability 1 − p, else one of all outputs, uniformly."""

    outputs: Array

    @cached_property
    def mean(self) -> Array:
        """E[played output] = (1 − p)·y* + p·(mean of all outputs)."""
        return np.asarray(mixture(self.p, self.nearest, self.outputs.mean(axis=0)))

    def sample(self, rng: np.random.Generator) -> Array:
        if not randomises(self.p, rng):
            return self.nearest.copy()
        return np.array(self.outputs[rng.integers(len(self.outputs))])


class UniformExploration(Decoder):
    """Play the nearest output, but explore uniformly with a probability p that falls with confidence.

    On the simplex with the logistic loss this is the decoder of Gaptron (van der Hoeven, 2020):
    p = 1 − max ŷ where max ŷ ≥ 1/2, else 1. Then E L ≤ (1 − 1/(2K))·S for the base-2 logistic loss and K
    classes, so that (1 − p)·1[y* ≠ y] + p(K − 1)/K + (η/2)‖∇S‖² ≤ S for small η: a gap of order 1/K, where
    randomized decoding has one that does not depend on K.

    On any other space that can list its outputs p = min(1, (2Δ*/ν)²). With M the largest target loss, a
    right y* costs at most pM ≤ (4Δ²/ν²)M; a wrong one means Δ ≥ ν/2, so that M ≤ (4Δ²/ν²)M. As
    S ≥ (λ/2)Δ², E L ≤ 8M/(λν²)·S either way.
    """

    def __init__(self, space: OutputSpace) -> None:
        super().__init__(space)
        self.outputs = space.vertices()

    def law(self, prediction: Prediction) -> ExplorationLaw:
        space, y_hat = self.space, prediction.point
        nearest = space.nearest_vertex(y_hat)
        distance = significant(float(space.distance(nearest, y_hat)))
        confused = float(probability(distance, space.nu))
        if self._is_logistic:
            confidence = float(y_hat.max())
            p = 1.0 - confidence if confidence >= 0.5 else 1.0
        else:
            p = confused**2
        certified = confused < 1.0 or space.nearest_is_exact
        return ExplorationLaw(prediction, nearest, distance, p, certified, space, self.outputs)

    def ratio(self, target: AffineLoss) -> float:
        space, count = self.space, len(self.outputs)
        if self._is_logistic and target is zero_one:
            # Largest at max ŷ = 1/2 with the other half on the true class: 1 − 1/(2K) against ln 2.
            return (1.0 - 1.0 / (2.0 * count)) / (math.log(2.0) * space.psi.scale)
        if self._is_logistic:
            # A right y* costs at most (1 − max ŷ)M ≤ M·S; a wrong one, or no majority, means S ≥ ln 2.
            return target.gamma(space) * space.diameter / (math.log(2.0) * space.psi.scale)
        return 8.0 * target.gamma(space) * space.diameter / (space.lam * space.nu**2)

    @cached_property
    def _is_logistic(self) -> bool:
        """Whether the outputs are unit vectors and ŷ is a softmax."""
        unit = self.space.zero_one and self.space.constant_mass and self.space.max_mass == 1.0
        return unit and isinstance(self.space.psi, NegativeEntropy | GibbsEntropy)
