"""Algorithm 1: the nearest output, or a random one of mean ŷ."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, as_vector
from osp_core.geometry.predictions import Prediction
from osp_core.surrogates.decoders.base import Decoder, known_nu
from osp_core.surrogates.laws import DecodingLaw, draw_vertex
from osp_core.surrogates.mixing import probability, randomises, significant
from osp_core.targets import AffineLoss


class RandomizedDecoder(Decoder):
    """Randomized decoding, exactly [SBTO24, Algorithm 1]. Its law obeys E L ≤ 4γ/(λν)·S, Lemma 4."""

    @cached_property
    def nu(self) -> float | None:
        """ν of the space, None where nobody knows it: then every play is random, uncertified."""
        return known_nu(self.space)

    def law(self, prediction: Prediction) -> DecodingLaw:
        space, y_hat = self.space, prediction.point
        nearest = space.nearest_vertex(y_hat)
        distance = significant(float(space.distance(nearest, y_hat)))
        if self.nu is None:
            return DecodingLaw(prediction, nearest, distance, 1.0 if distance else 0.0, False, space)
        p = float(probability(distance, self.nu))
        # Within ν/2 of ŷ there is room for one output only, so any vertex found there is y*.
        certified = p < 1.0 or space.nearest_is_exact
        return DecodingLaw(prediction, nearest, distance, p, certified, space)

    def decode(self, theta: ArrayLike, rng: np.random.Generator) -> Array:
        space, nu = self.space, self.nu
        prediction = space.predict(as_vector(theta, space.dim, "theta"))
        if nu is None or probability(space.least_distance(prediction.point), nu) < 1.0:
            return self.law(prediction).sample(rng)
        # Far from every output p is 1, and the play does not depend on y*: nobody has to find it.
        randomises(1.0, rng)  # certain, but `sample` takes a number for it
        return draw_vertex(space, prediction, rng)

    def ratio(self, target: AffineLoss) -> float:
        return self.space.decoding_ratio(target)
