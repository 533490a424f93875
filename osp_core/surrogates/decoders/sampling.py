"""A random output of mean ŷ, always."""

from __future__ import annotations

from osp_core.geometry.predictions import Prediction
from osp_core.surrogates.decoders.base import Decoder
from osp_core.surrogates.laws import DecodingLaw


class SamplingDecoder(Decoder):
    """Always a random output of mean ŷ. Unbiased, and without a surrogate gap."""

    def law(self, prediction: Prediction) -> DecodingLaw:
        nearest = self.space.nearest_vertex(prediction.point)
        distance = float(self.space.distance(nearest, prediction.point))
        return DecodingLaw(prediction, nearest, distance, 1.0, False, self.space)
