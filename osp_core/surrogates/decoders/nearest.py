"""The nearest output, always."""

from __future__ import annotations

from osp_core.geometry.predictions import Prediction
from osp_core.surrogates.decoders.base import Decoder
from osp_core.surrogates.laws import DecodingLaw


class NearestDecoder(Decoder):
    """Always the nearest output. Deterministic, and without a guarantee (the paper's binary example)."""

    def law(self, prediction: Prediction) -> DecodingLaw:
        nearest = self.space.nearest_vertex(prediction.point)
        distance = float(self.space.distance(nearest, prediction.point))
        return DecodingLaw(prediction, nearest, distance, 0.0, False, self.space)
