"""Randomized decoding that is never quite sure."""

from __future__ import annotations

from dataclasses import replace

from osp_core import DecodingLaw, MissingConstantError, OutputSpace, Prediction, RandomizedDecoder
from osp_core.errors import as_nonnegative
from osp_core.targets import AffineLoss


class Doubtful(RandomizedDecoder):
    """Algorithm 1 with p at least `doubt`: no surrogate gap, but every output near ŷ is tried."""

    def __init__(self, space: OutputSpace, doubt: float = 0.1) -> None:
        super().__init__(space)
        self.doubt = as_nonnegative(doubt, "doubt")

    def law(self, prediction: Prediction) -> DecodingLaw:
        law = super().law(prediction)
        return replace(law, p=min(1.0, max(law.p, self.doubt)), certified=False)

    def ratio(self, target: AffineLoss) -> float:
        raise MissingConstantError("Doubtful has no bound of its expected loss; use RandomizedDecoder.")
