"""Algorithm 1 on every block of a product."""

from __future__ import annotations

import numpy as np

from osp_core.errors import InvalidInputError, MissingConstantError
from osp_core.geometry.predictions import Prediction
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders.base import Decoder, known_nu
from osp_core.surrogates.laws import BlockwiseLaw
from osp_core.surrogates.mixing import probability, significant
from osp_core.targets import AffineLoss


class BlockwiseDecoder(Decoder):
    """Algorithm 1 on every block of a product space, each with its own p.

    When Ψ and the target are sums over blocks, Lemma 4 on every block gives E L ≤ maxᵢ 4γᵢ/(λᵢνᵢ)·S: on the
    hypercube with the Hamming loss 4/d instead of 4/√d.
    """

    def __init__(self, space: OutputSpace) -> None:
        super().__init__(space)
        blocks = space.blocks()
        if not blocks:
            raise InvalidInputError(f"{space!r} has no blocks to decode one by one; use RandomizedDecoder.")
        self.blocks = tuple(blocks)

    def law(self, prediction: Prediction) -> BlockwiseLaw:
        y_hat = prediction.point
        nearest, distances, ps, certified = y_hat.copy(), [], [], True
        for block in self.blocks:
            points = y_hat[block.coordinates]
            nearest[block.coordinates] = corner = block.space.nearest_vertex_many(points)
            distance = significant(np.atleast_1d(block.space.distance(corner, points)))
            nu = known_nu(block.space)
            p = probability(distance, nu) if nu else np.sign(distance)
            certified = certified and nu is not None and bool(block.space.nearest_is_exact or (p < 1).all())
            distances.append(distance)
            ps.append(p)
        return BlockwiseLaw(
            prediction, nearest, np.concatenate(distances), np.concatenate(ps), certified, self.blocks
        )

    def ratio(self, target: AffineLoss) -> float:
        parts = [target.on_block(self.space, block) for block in self.blocks]
        ratios = [
            block.space.decoding_ratio(part)
            for block, part in zip(self.blocks, parts, strict=True)
            if part is not None
        ]
        if len(ratios) < len(parts):
            raise MissingConstantError(
                f"The target {target.name!r} is no sum over the blocks of {self.space!r}; "
                "use RandomizedDecoder."
            )
        return max(ratios)
