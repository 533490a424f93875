"""Names that people give to coordinates: read in one place, and found again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError, as_count, is_hashable

MOST_COORDINATES = 10**8
"""Spaces with more are refused before memory runs out."""


def as_names(value: Any, what: str) -> list[Hashable]:
    """Return distinct hashable names as a list, or raise an error that says what is wrong with `what`."""
    try:
        names = list(value)
    except TypeError as error:
        raise InvalidInputError(f"{what} must be a sequence of names, got {value!r}.") from error
    for name in names:
        if not is_hashable(name):
            raise InvalidInputError(f"{what} must be hashable names or numbers, got {name!r}.")
        if not _equals_itself(name):
            raise InvalidInputError(f"{what} must be equal to themselves to be found again, got {name!r}.")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidInputError(f"{what} must be distinct; {twice!r} is given twice.")
    return names


def place_of(name: Any, index: Mapping[Any, int] | None, names: Sequence[Any]) -> int | None:
    """Return the place of a name, or None where it is not among `names`: True is not the name 1.

    Without an index the names are 0, 1, 2, ….
    """
    if not is_hashable(name):
        return None
    if index is not None:
        place = index.get(name)
    else:
        place = names.index(name) if isinstance(name, Real) and name in names else None
    if place is None or isinstance(name, bool | np.bool_) != isinstance(names[place], bool | np.bool_):
        return None
    return place


def names_or_numbers(
    count: int | None, names: Any, count_name: str, names_name: str, *, most: int = MOST_COORDINATES
) -> list[Hashable]:
    """Return 0, …, count − 1, or the names that are given instead."""
    if names is not None:
        return as_names(names, names_name)
    return list(range(as_count(count, count_name, most=most)))  # type: ignore[arg-type]


def _equals_itself(name: object) -> bool:
    """False for NaN and its kin, some of which do not even answer."""
    try:
        return bool(name == name)
    except (TypeError, ValueError):
        return False
