"""The errors this package raises, and the small checks of input that raise them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class OspError(Exception):
    """Base class of every error this package raises on purpose."""


class InvalidInputError(OspError, ValueError):
    """A value is not what was expected; the message says what would be."""


class NotAVertexError(InvalidInputError):
    """A point that should be an output of the space is not one of its vertices."""


class UnknownNameError(OspError, LookupError):
    """No space, learner or stream has this name."""


class PluginError(OspError, RuntimeError):
    """A plugin cannot be used: it failed to load, returned rubbish, or claims a name that is taken."""


class MissingDependencyError(OspError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


class MissingConstantError(OspError, ValueError):
    """A constant (ν, γ, λ, …) of a space or a target is not known; the message says how to give it."""


class UnsupportedError(OspError, NotImplementedError):
    """The operation has no tractable algorithm on this space; the message names the alternative."""


class GuaranteeError(OspError, ValueError):
    """A premise of the bound fails; the message names the premise and the remedy."""


class OracleError(OspError, ValueError):
    """A linear oracle returned something that is no vertex: wrong length, NaN, or outside the set."""


class NumericalError(OspError, ArithmeticError):
    """A computation lost so much precision that its result must not be used."""


LARGEST = 1e100
"""Numbers beyond this are refused: their squares and sums come too near to overflow."""


def as_vector(value: ArrayLike, dim: int | None, name: str) -> Array:
    """Return `value` as a finite float64 vector of length `dim`, or raise an error that names it."""
    vector = _as_floats(value, name, "a vector")
    if vector.ndim != 1 or (dim is not None and vector.shape[0] != dim):
        expected = "a vector" if dim is None else f"a vector of length {dim}"
        raise InvalidInputError(f"{name} must be {expected}, got an array of shape {vector.shape}.")
    _refuse_wild_entries(vector, name)
    return vector


def as_rows(value: ArrayLike, dim: int | None, name: str) -> Array:
    """Return `value` as a finite float64 matrix with `dim` columns: a batch of vectors."""
    rows = _as_floats(value, name, "a matrix")
    if rows.ndim != 2 or (dim is not None and rows.shape[1] != dim):
        expected = "a matrix" if dim is None else f"a matrix with {dim} columns"
        raise InvalidInputError(f"{name} must be {expected}, got an array of shape {rows.shape}.")
    _refuse_wild_entries(rows, name)
    return rows


def _as_floats(value: ArrayLike, name: str, expected: str) -> Array:
    try:
        array = np.asarray(value)
        # An imaginary part would be lost with a mere warning, a mask without one; dates are no numbers.
        hidden = isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)
        if array.dtype.kind in "biufO" and not hidden:
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidInputError(f"{name} must be {expected} of numbers, got {type(value).__name__}.") from None


def _refuse_wild_entries(array: Array, name: str) -> None:
    # On the path of every prediction: a sum of squares is one pass without a temporary array. It is no
    # number, or infinite, if an entry is; NaN compares false with everything.
    if np.vdot(array, array) <= LARGEST**2:
        return
    if np.count_nonzero(np.abs(array) <= LARGEST) != array.size:
        bad = np.argwhere(~(np.abs(array) <= LARGEST))[0]
        where = f"index {bad[0]}" if array.ndim == 1 else f"row {bad[0]}, column {bad[1]}"
        raise InvalidInputError(
            f"{name} must be finite and at most {LARGEST:g} in magnitude, got {array[tuple(bad)]} at {where}."
        )


def as_positive(value: float, name: str) -> float:
    """Return `value` as a positive finite float, or raise an error that names it."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be a positive number, got {value!r}.") from error
    if not (number > 0 and np.isfinite(number)):
        raise InvalidInputError(f"{name} must be positive and finite, got {number}.")
    return number


def as_count(value: int, name: str, *, least: int = 1, most: int = 2**62) -> int:
    """Return `value` as an int from `least` to `most`; booleans and fractions are refused."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidInputError(f"{name} must be a whole number, got {value!r}.")
    if not least <= value <= most:
        limit, side = (least, "least") if value < least else (most, "most")
        shown = str(value) if -most <= value <= 2**62 else f"a number of {int(value).bit_length()} bits"
        raise InvalidInputError(f"{name} must be at {side} {limit}, got {shown}.")
    return int(value)


def is_hashable(value: object) -> bool:
    """Whether `value` can be looked up; a tuple with a list in it only looks as if it could."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
