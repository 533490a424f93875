"""From dicts of named features to vectors, while new names keep coming."""

from __future__ import annotations

import operator
import zlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, as_count


class FeatureIndex(ABC):
    """Gives every feature name its place in a vector; a name that is absent from a dict counts as 0."""

    size: int = 0

    @abstractmethod
    def vector(self, x: Mapping[Hashable, Any], width: int) -> Array:
        """Return `x` as a vector of this width; names without a place are left out."""

    def admit(self, x: Mapping[Hashable, Any]) -> None:  # noqa: B027 — hashing needs no memory of names
        """Give every new name of `x` a place."""


class GrowingIndex(FeatureIndex):
    """One place per name, in the order of first appearance."""

    def __init__(self) -> None:
        self.places: dict[Hashable, int] = {}
        self._read: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"places": self.places}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.places = state["places"]
        self._refresh()

    @property
    def size(self) -> int:  # type: ignore[override]
        return len(self.places)

    def admit(self, x: Mapping[Hashable, Any]) -> None:
        if x.keys() <= self.places.keys():
            return
        for name in x:
            self.places.setdefault(name, len(self.places))
        self._refresh()

    def _refresh(self) -> None:
        names = list(self.places)
        self._read = operator.itemgetter(*names) if len(names) > 1 else None

    def vector(self, x: Mapping[Hashable, Any], width: int) -> Array:
        vector = np.zeros(width)
        try:
            if self._read is not None and len(x) == len(self.places):
                vector[: len(x)] = self._read(x)  # the usual case: the names of last time, read at once
                return vector
        except KeyError:
            pass
        except (TypeError, ValueError):
            _refuse_words(x)
            raise
        for name, value in x.items():
            if name in self.places:
                vector[self.places[name]] = number(name, value)
        return vector


class HashedIndex(FeatureIndex):
    """A fixed number of places that names share by a hash; its sign makes collisions cancel on average.

    Parameters
    ----------
    size : int
        The number of places.
    """

    def __init__(self, size: int) -> None:
        self.size = as_count(size, "hash_features")

    def vector(self, x: Mapping[Hashable, Any], width: int) -> Array:
        vector = np.zeros(width)
        for name, value in x.items():
            # Python's own hash of a string differs from process to process.
            code = zlib.crc32(repr(name).encode())
            vector[(code >> 1) % self.size] += number(name, value) * (1.0 if code & 1 else -1.0)
        return vector


def number(name: Hashable, value: Any) -> float:
    """The value of a feature, which must be one."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"Feature {name!r} is {value!r}, not a number; put a OneHotEncoder before this model."
        ) from error


def _refuse_words(x: Mapping[Hashable, Any]) -> None:
    for name, value in x.items():
        number(name, value)
