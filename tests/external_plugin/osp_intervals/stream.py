"""A stream of intervals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from osp_core import InvalidInputError, Stream
from osp_core.errors import Array, as_count
from osp_intervals.space import Intervals


def moving_interval(space: Intervals, rounds: int, n_features: int = 4, seed: int = 0) -> Stream:
    """Unit inputs; the first two entries say where the interval begins and ends, the others are noise.

    Parameters
    ----------
    space : Intervals
    rounds : int
    n_features : int
        At least 2.
    seed : int
    """
    if not isinstance(space, Intervals):
        raise InvalidInputError(f"moving_interval needs the space 'intervals', got {space!r}.")
    rounds, n_features = as_count(rounds, "rounds"), as_count(n_features, "n_features", least=2)

    def generate() -> Iterator[tuple[Array, tuple[int, int]]]:
        rng = np.random.default_rng(seed)
        for _ in range(rounds):
            x = rng.standard_normal(n_features)
            x /= np.linalg.norm(x)
            ends = np.clip((space.dim * (1.0 + x[:2]) / 2.0).astype(int), 0, space.dim - 1)
            yield x, (int(ends.min()), int(ends.max()))

    return Stream(space, n_features, 1.0, rounds, generate, f"moving interval, seed {seed}")
