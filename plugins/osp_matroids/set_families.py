"""Reading families of sets, their ground set and their capacities."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError, as_count, is_hashable
from osp_core.spaces.label_names import as_names


def as_sets(sets: Any, elements: Any, name: str) -> tuple[list[Hashable], list[list[int]]]:
    """Return the ground set and every set as the sorted positions of its elements.

    Parameters
    ----------
    sets : iterable of collections of elements
    elements : iterable, optional
        The ground set; by default the union of the sets in order of appearance.
    name : str
        What error messages call `sets`.
    """
    families = [_as_names(one, f"A set of {name}") for one in _as_names(sets, name)]
    for element in (element for one in families for element in one):
        if not is_hashable(element):
            raise InvalidInputError(f"elements must be hashable names or numbers, got {element!r}.")
    if elements is None:
        ground = list(dict.fromkeys(element for one in families for element in one))
    else:
        ground = as_names(_as_names(elements, "elements"), "elements")
    index = {element: position for position, element in enumerate(ground)}
    for one in families:
        missing = [element for element in one if element not in index]
        if missing:
            raise InvalidInputError(
                f"{missing[0]!r} is in one of the {name}, but not one of the elements {ground!r}."
            )
    return ground, [sorted({index[element] for element in one}) for one in families]


def as_capacities(capacities: int | Sequence[int], count: int) -> list[int]:
    """Return one capacity per set; a single number is meant for all."""
    if isinstance(capacities, int | np.integer) and not isinstance(capacities, bool):
        capacities = [int(capacities)] * count
    if isinstance(capacities, np.ndarray):
        capacities = capacities.tolist()
    if isinstance(capacities, str) or not isinstance(capacities, Sequence) or len(capacities) != count:
        raise InvalidInputError(f"capacities must be a number or {count} numbers, got {capacities!r}.")
    return [as_count(capacity, "A capacity", least=0) for capacity in capacities]


def _as_names(value: Any, name: str) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise InvalidInputError(f"{name} must be a collection, got {value!r}.")
    if isinstance(value, set | frozenset):
        # Sets have no order of their own, and coordinates must not depend on the hash seed.
        return sorted(value, key=lambda element: (type(element).__name__, repr(element)))
    return value.tolist() if isinstance(value, np.ndarray) else list(value)
