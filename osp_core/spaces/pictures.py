"""What an output looks like: the plain data from which a report draws it.

`OutputSpace.draw` returns one of these for a point of conv(Y), vertices among them. A report draws ŷ, what
was played and the truth over one another, so the names and the lay-out must not depend on the point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array, InvalidInputError


@dataclass(frozen=True, eq=False)
class _Named:
    names: Sequence[Any]
    values: Array

    def __post_init__(self) -> None:
        _check_shape(self, self.values, len(self.names))


class Bars(_Named):
    """A value per name: a distribution over classes, or any vector."""


class Chips(_Named):
    """A set of names: `values` are 0 or 1 for an output, weights in between for ŷ."""


class Ladder(_Named):
    """One of several ordered levels, the lowest first: `values` are their probabilities."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """All items in an order, the best first."""

    items: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Columns:
    """Names on the left joined to names on the right: `values` has a row per left and a column per right."""

    left: Sequence[Any]
    right: Sequence[Any]
    values: Array

    def __post_init__(self) -> None:
        _check_shape(self, self.values, len(self.left), len(self.right))


@dataclass(frozen=True, eq=False)
class Graph:
    """Edges of a graph: edge i joins nodes[tails[i]] to nodes[heads[i]], and has values[i]."""

    nodes: Sequence[Any]
    tails: Sequence[int] | NDArray[np.intp]
    heads: Sequence[int] | NDArray[np.intp]
    values: Array

    def __post_init__(self) -> None:
        _check_shape(self, self.values, len(self.tails))
        _check_shape(self, self.values, len(self.heads))


Picture = Bars | Chips | Ladder | Ranking | Columns | Graph


def _check_shape(picture: Any, values: Array, *expected: int) -> None:
    if np.shape(values) != expected:
        raise InvalidInputError(
            f"{type(picture).__name__} with names for values of shape {expected} got values of shape "
            f"{np.shape(values)}; give one value per name."
        )
