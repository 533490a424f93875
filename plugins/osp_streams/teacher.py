"""Streams labelled by a teacher."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from osp_core.errors import Array, InvalidInputError, as_count
from osp_core.spaces import OutputSpace
from osp_core.streams import Stream


def linear_teacher(
    space: OutputSpace, rounds: int, n_features: int = 8, noise: float = 0.1, seed: int = 0
) -> Stream:
    """Inputs uniform on the unit sphere; y is the best output for the scores of a random linear model.

    Parameters
    ----------
    space : OutputSpace
    rounds : int
    n_features : int
    noise : float
        Standard deviation of Gaussian noise on the scores, relative to the scores' own.
    seed : int
        Of the teacher, the inputs and the noise.
    """
    rounds, n_features = as_count(rounds, "rounds"), as_count(n_features, "n_features")
    if not noise >= 0:
        raise InvalidInputError(f"noise must be at least 0, got {noise}.")

    def generate() -> Iterator[tuple[Array, Array]]:
        rng = np.random.default_rng(seed)
        teacher = rng.standard_normal((space.dim, n_features))
        for _ in range(rounds):
            x = rng.standard_normal(n_features)
            x /= np.linalg.norm(x)
            scores = teacher @ x + noise * rng.standard_normal(space.dim)
            yield x, space.lmo(-scores)

    return Stream(space, n_features, 1.0, rounds, generate, f"linear teacher, noise {noise:g}, seed {seed}")
