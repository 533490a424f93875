"""The numbers that bounds are asked with."""

from __future__ import annotations

from osp_core.errors import InvalidInputError, as_nonnegative, as_positive


def as_norm(norm_U: float) -> float:
    """Return the norm of a comparator, or raise an error that says what it may be."""
    return as_nonnegative(norm_U, "The norm of U")


def as_length(value: float, name: str) -> float:
    """A positive number whose square does not overflow."""
    return as_nonnegative(as_positive(value, name), name)


def as_probability(delta: float) -> float:
    """Return a probability of failure, which is neither 0 nor 1."""
    probability = as_nonnegative(delta, "delta")
    if not 0 < probability < 1:
        raise InvalidInputError(f"delta must be between 0 and 1, got {delta!r}.")
    return probability
