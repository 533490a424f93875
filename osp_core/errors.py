"""The errors this package raises, and the small checks of input that raise them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
FLOAT64 = np.dtype(np.float64)


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

MOST = 2**63 - 1
"""Counts beyond this are refused: no array has as many entries."""


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
    if type(value) is np.ndarray and value.dtype is FLOAT64:  # as on the path of every prediction
        return value
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InvalidInputError(f"{name} has masked entries; fill them first, with {name}.filled(0.0) say.")
    try:
        array = np.asarray(value)
        if array.dtype.kind in "fiub" or (array.dtype.kind == "O" and not _holds_text(array)):
            return np.asarray(array, dtype=np.float64)
    except ArithmeticError:
        raise InvalidInputError(
            f"{name} must be finite and at most {LARGEST:g} in magnitude; it has a number beyond float64."
        ) from None
    except (TypeError, ValueError):
        pass
    raise InvalidInputError(f"{name} must be {expected} of numbers, got {_described(value)}.") from None


def _holds_text(array: NDArray[np.object_]) -> bool:
    # numpy would read numbers out of text, which then means something else than was written.
    return any(isinstance(item, str | bytes) for item in array.flat)


def _described(value: object) -> str:
    dtype = getattr(value, "dtype", None)
    return type(value).__name__ if dtype is None else f"{type(value).__name__} of {dtype}"


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
    """Return `value` as a positive float, or raise an error that names it."""
    number = _as_number(value, name, "a positive number")
    if not 1.0 / LARGEST <= number <= LARGEST:
        raise InvalidInputError(
            f"{name} must be positive and finite, from {1 / LARGEST:g} to {LARGEST:g}, got {number}."
        )
    return number


def as_nonnegative(value: float, name: str) -> float:
    """Return `value` as a float that is 0 or positive, or raise an error that names it."""
    number = _as_number(value, name, "a non-negative number")
    if not 0.0 <= number <= LARGEST:
        raise InvalidInputError(f"{name} must be a non-negative number, at most {LARGEST:g}, got {number}.")
    return number


def _as_number(value: float, name: str, expected: str) -> float:
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise InvalidInputError(f"{name} must be {expected}, got {_shown(value)}.") from None


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write out whole numbers of more than 4300 digits
        return f"a {type(value).__name__} too long to show"
    return text if len(text) <= 100 else f"{text[:100]}…"


def as_count(value: int, name: str, *, least: int = 1, most: int = MOST) -> int:
    """Return `value` as an int from `least` to `most`; booleans and fractions are refused."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidInputError(f"{name} must be a whole number, got {value!r}.")
    if not least <= value <= most:
        limit = f"at least {least}" if value < least else f"at most {most}"
        raise InvalidInputError(f"{name} must be {limit}, got {_shown(value)}.")
    return int(value)


def is_hashable(value: object) -> bool:
    """Whether `value` can be looked up; a tuple with a list in it only looks as if it could."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
