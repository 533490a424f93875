"""Streams: reproducible sequences of (x, y) pairs with a known bound on the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.spaces import OutputSpace

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor


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
    comparator : array or None
        Weights U that are known to do well on this stream, where its construction gives them.
    """

    space: OutputSpace
    n_features: int
    feature_bound: float
    rounds: int
    generate: Callable[[], Iterator[tuple[Any, Any]]]
    description: str = ""
    comparator: Array | None = None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self.generate()

    def __len__(self) -> int:
        return self.rounds

    def against(self, predictor: OnlinePredictor) -> Iterator[tuple[Any, Any]]:
        """The pairs as `run` asks for them. A plain stream does not look at the predictor."""
        return iter(self)

    def arrays(self) -> tuple[Any, list[Any]]:
        """All inputs as one matrix, all outputs as a list."""
        pairs = list(self)
        return np.array([x for x, _ in pairs]), [y for _, y in pairs]


@dataclass(frozen=True, eq=False)
class AdversarialStream(Stream):
    """A stream whose outputs answer what the predictor is about to play.

    Each pair is made when it is asked for, after the predictor has learned from the one before.

    Attributes
    ----------
    respond : callable
        From a predictor to a fresh iterator over (x, y) pairs.
    """

    respond: Callable[[OnlinePredictor], Iterator[tuple[Any, Any]]] | None = None

    @classmethod
    def of(
        cls,
        space: OutputSpace,
        n_features: int,
        feature_bound: float,
        rounds: int,
        respond: Callable[[OnlinePredictor], Iterator[tuple[Any, Any]]],
        description: str = "",
    ) -> AdversarialStream:
        """Make a stream of a function from a predictor to pairs."""
        return cls(space, n_features, feature_bound, rounds, _no_opponent, description, None, respond)

    def against(self, predictor: OnlinePredictor) -> Iterator[tuple[Any, Any]]:
        assert self.respond is not None
        return self.respond(predictor)


def _no_opponent() -> Iterator[tuple[Any, Any]]:
    raise InvalidInputError(
        "This stream chooses its outputs against a predictor: use run(predictor, stream) or "
        "stream.against(predictor)."
    )
