"""What a decoder owes: a law over outputs for every prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, MissingConstantError, as_vector
from osp_core.geometry.predictions import Prediction
from osp_core.hooks import parameters_of
from osp_core.spaces import OutputSpace
from osp_core.surrogates.laws import Law
from osp_core.targets import AffineLoss


class Decoder(ABC):
    """Turns predictions into laws over outputs.

    A subclass with parameters keeps each as an attribute of the same name.
    """

    made_with: tuple[str, dict[str, Any]] | None = None
    """The name and parameters given to `make_decoder`, where the decoder was made so."""

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
        return self if space is self.space else type(self)(**{**parameters_of(self), "space": space})


def known_nu(space: OutputSpace) -> float | None:
    try:
        return space.nu
    except MissingConstantError:
        return None
