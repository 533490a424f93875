"""Laws: the distributions that outputs are played from, each with its exact expected loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.geometry.predictions import Prediction
from osp_core.spaces import Block, OutputSpace
from osp_core.surrogates.mixing import mixture, randomises
from osp_core.targets import AffineLoss, RoundLoss


@dataclass(frozen=True, eq=False)
class DecodingLaw:
    """The distribution of the played output: y* with probability 1 − p, else a random vertex of mean ŷ.

    Attributes
    ----------
    prediction : Prediction
        ŷ with its certificate.
    nearest : array
        y*, the output nearest to ŷ.
    distance : float
        Δ* = ‖y* − ŷ‖ in the norm of the space.
    p : float
        min(1, 2Δ*/ν).
    certified : bool
        Whether Lemma 4 holds for this law: ν is known, and y* is the nearest vertex.
    """

    prediction: Prediction
    nearest: Array
    distance: float
    p: float
    certified: bool
    space: OutputSpace

    @cached_property
    def mean(self) -> Array:
        """E[played output] = (1 − p)·y* + p·ŷ."""
        return np.asarray(mixture(self.p, self.nearest, self.prediction.point))

    def expected_loss(self, target: AffineLoss | RoundLoss, y: Array | None = None) -> float:
        """Return E L = (1 − p)L(y*; y) + pL(ŷ; y), exactly: the target is affine."""
        return _expected_loss(self.mean, target, y)

    def sample(self, rng: np.random.Generator) -> Array:
        """Draw the output to play. Two uniform variables: whether to randomise, then what."""
        return (
            draw_vertex(self.space, self.prediction, rng) if randomises(self.p, rng) else self.nearest.copy()
        )


@dataclass(frozen=True, eq=False)
class BlockwiseLaw:
    """Independent laws on the blocks of a product space; `p` and `distance` have one entry per block.

    `certified` is as in DecodingLaw, block by block.
    """

    prediction: Prediction
    nearest: Array
    distance: Array
    p: Array
    certified: bool
    blocks: tuple[Block, ...]

    @cached_property
    def mean(self) -> Array:
        """E[played output], block by block (1 − p)·y* + p·ŷ."""
        y_hat, mean = self.prediction.point, self.nearest.copy()
        for block, p in zip(self.blocks, self._per_block(self.p), strict=True):
            at = block.coordinates
            mean[at] = mixture(p[:, np.newaxis], mean[at], y_hat[at])
        return mean

    def expected_loss(self, target: AffineLoss | RoundLoss, y: Array | None = None) -> float:
        """Return E L exactly: the target is affine."""
        return _expected_loss(self.mean, target, y)

    def sample(self, rng: np.random.Generator) -> Array:
        """Draw the output to play, every block on its own."""
        played = self.nearest.copy()
        for block, p in zip(self.blocks, self._per_block(self.p), strict=True):
            randomised = block.coordinates[rng.random(len(p)) < p]
            if len(randomised):
                played[randomised] = block.space.sample_many(self.prediction.point[randomised], rng)
        return played

    def _per_block(self, values: Array) -> list[Array]:
        return np.split(values, np.cumsum([len(block.coordinates) for block in self.blocks])[:-1])


Law = DecodingLaw | BlockwiseLaw


def draw_vertex(space: OutputSpace, prediction: Prediction, rng: np.random.Generator) -> Array:
    """Draw a vertex of mean ŷ, from the combination that came with ŷ where there is one."""
    if prediction.combination is not None:
        return prediction.combination.sample(rng)
    return space.sample_vertex(prediction.point, rng)


def _expected_loss(mean: Array, target: AffineLoss | RoundLoss, y: Array | None) -> float:
    if isinstance(target, AffineLoss):
        if y is None:
            raise InvalidInputError("The expected loss needs the true output y.")
        target = target.at(np.asarray(y, dtype=np.float64))
    return target(mean)
