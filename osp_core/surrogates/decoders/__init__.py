"""Decoders: from a regularised prediction ŷ to a random output with known expected loss."""

from osp_core.surrogates.decoders.base import Decoder
from osp_core.surrogates.decoders.blockwise import BlockwiseDecoder
from osp_core.surrogates.decoders.choice import default_decoder
from osp_core.surrogates.decoders.exploration import UniformExploration
from osp_core.surrogates.decoders.nearest import NearestDecoder
from osp_core.surrogates.decoders.randomized import RandomizedDecoder
from osp_core.surrogates.decoders.sampling import SamplingDecoder

__all__ = [
    "BlockwiseDecoder",
    "Decoder",
    "NearestDecoder",
    "RandomizedDecoder",
    "SamplingDecoder",
    "UniformExploration",
    "default_decoder",
]
