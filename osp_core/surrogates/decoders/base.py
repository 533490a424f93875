"""Decoders: from a regularised prediction ŷ to a random output with known expected loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, MissingConstantError, as_vector
from osp_core.geometry.predictions import Prediction
from osp_core.spaces.base import Block, OutputSpace
from osp_core.targets import AffineLoss, RoundLoss

NEGLIGIBLE = 1e-12  # distances below this are rounding: ŷ is a vertex


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
        return np.asarray((1.0 - self.p) * self.nearest + self.p * self.prediction.point)

    def expected_loss(self, target: AffineLoss | RoundLoss, y: Array | None = None) -> float:
        """Return E L = (1 − p)L(y*; y) + pL(ŷ; y), exactly: the target is affine."""
        return _expected_loss(self.mean, target, y)

    def sample(self, rng: np.random.Generator) -> Array:
        """Draw the output to play. Two uniform variables: whether to randomise, then what."""
        if self.p <= 0.0 or rng.random() >= self.p:
            return self.nearest.copy()
        return draw_vertex(self.space, self.prediction, rng)


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
            mean[at] += p[:, np.newaxis] * (y_hat[at] - mean[at])
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


class Decoder(ABC):
    """Turns predictions into laws over outputs."""

    def __init__(self, space: OutputSpace) -> None:
        self.space = space

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.space!r})"

    @abstractmethod
    def law(self, prediction: Prediction) -> Law:
        """Return the distribution over outputs for a prediction that is already made."""

    def decode(self, theta: ArrayLike, rng: np.random.Generator) -> Array:
        """Predict, then draw one output."""
        return self.law(self.space.predict(as_vector(theta, self.space.dim, "theta"))).sample(rng)

    def ratio(self, target: AffineLoss) -> float:
        """Return r with E L ≤ r·S for every θ and y."""
        raise MissingConstantError(
            f"{type(self).__name__} has no bound of its expected loss; use RandomizedDecoder."
        )

    def at(self, space: OutputSpace) -> Decoder:
        """The same decoder on the space of another round."""
        return self if space is self.space else type(self)(space)


class RandomizedDecoder(Decoder):
    """Randomized decoding, exactly [SBTO24, Algorithm 1]. Its law obeys E L ≤ 4γ/(λν)·S, Lemma 4."""

    @cached_property
    def nu(self) -> float | None:
        """ν of the space, None where nobody knows it: then every play is random, uncertified."""
        return _known_nu(self.space)

    def law(self, prediction: Prediction) -> DecodingLaw:
        space, y_hat = self.space, prediction.point
        nearest = space.nearest_vertex(y_hat)
        distance = float(space.distance(nearest, y_hat))
        if distance < NEGLIGIBLE:
            distance = 0.0
        if self.nu is None:
            return DecodingLaw(prediction, nearest, distance, 1.0 if distance else 0.0, False, space)
        p = min(1.0, 2.0 * distance / self.nu)
        # Within ν/2 of ŷ there is room for one output only, so any vertex found there is y*.
        certified = p < 1.0 or space.nearest_is_exact
        return DecodingLaw(prediction, nearest, distance, p, certified, space)

    def decode(self, theta: ArrayLike, rng: np.random.Generator) -> Array:
        space, nu = self.space, self.nu
        prediction = space.predict(as_vector(theta, space.dim, "theta"))
        if nu is None or 2.0 * space.least_distance(prediction.point) < nu:
            return self.law(prediction).sample(rng)
        # Far from every output p is 1, and the play does not depend on y*: nobody has to find it.
        rng.random()  # as `sample` does
        return draw_vertex(space, prediction, rng)

    def ratio(self, target: AffineLoss) -> float:
        return self.space.decoding_ratio(target)


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
            distance = np.atleast_1d(block.space.distance(corner, points))
            distance[distance < NEGLIGIBLE] = 0.0
            nu = _known_nu(block.space)
            p = np.minimum(1.0, 2.0 * distance / nu) if nu else np.sign(distance)
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


class NearestDecoder(Decoder):
    """Always the nearest output. Deterministic, and without a guarantee (the paper's binary example)."""

    def law(self, prediction: Prediction) -> DecodingLaw:
        nearest = self.space.nearest_vertex(prediction.point)
        distance = float(self.space.distance(nearest, prediction.point))
        return DecodingLaw(prediction, nearest, distance, 0.0, False, self.space)


class SamplingDecoder(Decoder):
    """Always a random output of mean ŷ. Unbiased, and without a surrogate gap."""

    def law(self, prediction: Prediction) -> DecodingLaw:
        nearest = self.space.nearest_vertex(prediction.point)
        distance = float(self.space.distance(nearest, prediction.point))
        return DecodingLaw(prediction, nearest, distance, 1.0, False, self.space)


def default_decoder(space: OutputSpace, target: AffineLoss | None) -> Decoder:
    """BlockwiseDecoder where the space has blocks and the target is a sum over them, else Algorithm 1."""
    blocks = space.blocks()
    if blocks and target is not None and all(target.on_block(space, block) for block in blocks):
        return BlockwiseDecoder(space)
    return RandomizedDecoder(space)


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


def _known_nu(space: OutputSpace) -> float | None:
    try:
        return space.nu
    except MissingConstantError:
        return None
