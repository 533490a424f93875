"""Which decoder serves where none is given."""

from __future__ import annotations

from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders.base import Decoder
from osp_core.surrogates.decoders.blockwise import BlockwiseDecoder
from osp_core.surrogates.decoders.randomized import RandomizedDecoder
from osp_core.targets import AffineLoss


def default_decoder(space: OutputSpace, target: AffineLoss | None) -> Decoder:
    """BlockwiseDecoder where the space has blocks and the target is a sum over them, else Algorithm 1."""
    blocks = space.blocks()
    if blocks and target is not None and all(target.on_block(space, block) for block in blocks):
        return BlockwiseDecoder(space)
    return RandomizedDecoder(space)
