"""Twins of a space: the same outputs with another Ψ, or with predictions that may stop earlier."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from osp_core.errors import LARGEST, InvalidInputError, as_positive
from osp_core.regularizers import Regularizer
from osp_core.spaces.derived import Constants, forget_cached_properties

if TYPE_CHECKING:
    from osp_core.spaces.base import OutputSpace

Space = TypeVar("Space", bound="OutputSpace")


def with_psi(self: Space, psi: Regularizer) -> Space:
    """The same outputs with another regularizer: the numbers are those of a space made with it."""
    twin = copy.copy(self)
    twin.__dict__.pop("_constants", None)
    forget_cached_properties(twin)
    twin.psi = as_psi(psi)
    if self.made_with is not None:
        twin.made_with = (self.made_with[0], {**self.made_with[1], "psi": psi})
    return twin


def accurate_to(self: Space, gap: float | None) -> Space:
    """The same space whose iterative predictions may stop at this gap of Ψ − ⟨θ, ·⟩.

    An inexact prediction costs at most its gap in every guarantee, and fewer oracle calls. None asks for
    machine precision again.
    """
    accuracy = None if gap is None else as_positive(gap, "gap")
    if accuracy == self.accuracy:
        return self
    self.constants  # noqa: B018 — shared by both: none of them depends on the accuracy
    twin = copy.copy(self)
    twin.accuracy = accuracy
    return twin


def constants(self: OutputSpace) -> Constants:
    """What was derived so far from the outputs, Ψ and the norm: see `derived`."""
    kept: Constants | None = self.__dict__.get("_constants")
    if kept is None:
        kept = self.__dict__["_constants"] = Constants(self.psi, self.norm)
    return kept


def settled(self: OutputSpace, name: str, value: Any) -> None:
    """Set an attribute, but neither Ψ nor the norm once a constant was derived from them."""
    if name in ("psi", "norm") and "_constants" in self.__dict__:
        raise InvalidInputError(
            f"{name} of {self!r} cannot change once its constants are known. Use space.with_psi(…), or "
            "make the space anew."
        )
    object.__setattr__(self, name, value)


def as_psi(psi: Any) -> Regularizer:
    """Return `psi`, or raise an error that says what it may be."""
    if not isinstance(psi, Regularizer):
        raise InvalidInputError(f"psi must be a Regularizer such as SquaredNorm(1.0), got {psi!r}.")
    return psi


def as_order(norm: Any) -> float:
    """Return the order of a norm, or raise an error that says what it may be."""
    number = isinstance(norm, int | float | np.number) and not isinstance(norm, bool)
    if not (number and (1 <= norm <= LARGEST or norm == np.inf)):
        raise InvalidInputError(f"norm must be the order p ≥ 1 of an ℓp norm, got {norm!r}.")
    return float(norm)
