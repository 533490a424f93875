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


def as_vector(value: ArrayLike, dim: int | None, name: str) -> Array:
    """Return `value` as a finite float64 vector of length `dim`, or raise an error that names it."""
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} must be a vector of numbers, got {type(value).__name__}.") from error
    if vector.ndim != 1 or (dim is not None and vector.shape[0] != dim):
        expected = "a vector" if dim is None else f"a vector of length {dim}"
        raise InvalidInputError(f"{name} must be {expected}, got an array of shape {vector.shape}.")
    # On the path of every prediction; counting takes half the time of `all`.
    if np.count_nonzero(np.isfinite(vector)) != vector.shape[0]:
        where = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InvalidInputError(f"{name} must be finite, got {vector[where]} at index {where}.")
    return vector


def as_rows(value: ArrayLike, dim: int, name: str) -> Array:
    """Return `value` as a finite float64 matrix with `dim` columns: a batch of vectors."""
    try:
        rows = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} must be a matrix of numbers, got {type(value).__name__}.") from error
    if rows.ndim != 2 or rows.shape[1] != dim:
        raise InvalidInputError(
            f"{name} must be a matrix with {dim} columns, got an array of shape {rows.shape}."
        )
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise InvalidInputError(
            f"{name} must be finite, got {rows[row, column]} at row {row}, column {column}."
        )
    return rows


def as_positive(value: float, name: str) -> float:
    """Return `value` as a positive finite float, or raise an error that names it."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} must be a positive number, got {value!r}.") from error
    if not (number > 0 and np.isfinite(number)):
        raise InvalidInputError(f"{name} must be positive and finite, got {number}.")
    return number


def as_count(value: int, name: str, *, least: int = 1) -> int:
    """Return `value` as an int of at least `least`; booleans and fractions are refused."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidInputError(f"{name} must be a whole number, got {value!r}.")
    if value < least:
        raise InvalidInputError(f"{name} must be at least {least}, got {value}.")
    return int(value)
