"""Streams: reproducible sequences of (x, y) pairs with a known bound on the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.spaces import OutputSpace


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream that can be played again: every iteration starts anew.

    Attributes
    ----------
    space : OutputSpace
    n_features : int
    feature_bound : float
        C, with ‖x_t‖ ≤ C in every round.
    rounds : int
    generate : callable
        Returns a fresh iterator over (x, y) pairs.
    description : str
    """

    space: OutputSpace
    n_features: int
    feature_bound: float
    rounds: int
    generate: Callable[[], Iterator[tuple[Any, Any]]]
    description: str = ""

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self.generate()

    def __len__(self) -> int:
        return self.rounds

    def arrays(self) -> tuple[Any, list[Any]]:
        """All inputs as one matrix, all outputs as a list."""
        pairs = list(self)
        return np.array([x for x, _ in pairs]), [y for _, y in pairs]
