"""Values of a saved state, each looked at before anything is changed by them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, as_count


def entry(state: Mapping[str, Any], name: str) -> Any:
    """What a state says of `name`."""
    try:
        return state[name]
    except (LookupError, TypeError):
        raise InvalidInputError(f"The state says nothing of {name!r}; load what state() returned.") from None


def number(state: Mapping[str, Any], name: str, *, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number of a state, which may have become an array of one entry on its way through a file."""
    value = entry(state, name)
    try:
        found = float(np.asarray(value).reshape(()))
    except (TypeError, ValueError, ArithmeticError):
        raise InvalidInputError(f"The state has {name} = {value!r}, which is no number.") from None
    if not (least <= found <= most and math.isfinite(found)):
        limits = f" from {least:g} to {most:g}" if least > -math.inf or most < math.inf else ""
        raise InvalidInputError(f"The state has {name} = {found}; it must be a finite number{limits}.")
    return found


def count(state: Mapping[str, Any], name: str) -> int:
    """A whole number of a state that is not negative."""
    value = entry(state, name)
    single = value.reshape(-1)[0] if isinstance(value, np.ndarray) and value.size == 1 else value
    return as_count(single, f"{name} of the state", least=0)


def flag(state: Mapping[str, Any], name: str) -> bool:
    """A yes or no of a state."""
    value = entry(state, name)
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"The state has {name} = {value!r}; it must be True or False.")
    return bool(value)


def array(state: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Finite numbers of a state, as many as there must be."""
    value = entry(state, name)
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, ArithmeticError):
        raise InvalidInputError(f"The state has no numbers for {name!r}, but {value!r}.") from None
    if found.shape != shape:
        raise InvalidInputError(f"The state has {name!r} of shape {found.shape}; it must be {shape}.")
    if not np.isfinite(found).all():
        raise InvalidInputError(f"The state has numbers in {name!r} that are not finite.")
    return found


def generator(state: Mapping[str, Any], name: str) -> np.random.Generator:
    """The generator whose state this is."""
    rng, value = np.random.default_rng(), entry(state, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy 1 only warns of a number out of range
            rng.bit_generator.state = value
        # An even increment belongs to no generator: it would repeat itself early.
        sound = rng.bit_generator.state == value and value["state"]["inc"] % 2 == 1
    except (LookupError, TypeError, ValueError, ArithmeticError, Warning):
        sound = False
    if not sound:
        raise InvalidInputError(f"The state has {name} = {value!r}, which is no state of a generator.")
    return rng
