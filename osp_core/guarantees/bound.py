"""A bound: a number together with what it assumes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

from osp_core.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class Bound(float):
    """A number that is only worth its premises.

    The inequality it belongs to is Σ loss ≤ surrogate_factor·ΣS(U) + value.

    It is a float: it adds, compares, hashes and formats as one (``f"{bound:.3f}"``), and what is calculated
    with it is a plain float, to which the premises no longer belong. Printed without a format, it tells them.

    Attributes
    ----------
    value : float
        The bound, as a plain float.
    premises : tuple of str
        What it assumes.
    step_size : float or None
        The step of online gradient descent it holds for.
    coefficient : float or None
        That of ‖U‖² in it.
    surrogate_factor : float
        The factor of ΣS(U) in the inequality, never above 1; below 1 only when a > 1/2.
    """

    value: float
    premises: tuple[str, ...] = ()
    step_size: float | None = None
    coefficient: float | None = None
    surrogate_factor: float = 1.0

    def __new__(cls, value: float, *args: Any, **attributes: Any) -> Self:
        return super().__new__(cls, value)  # the attributes are for __init__, which dataclass writes

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))
        if not math.isfinite(self.value):
            raise InvalidInputError(
                f"A bound must be a finite number, got {self.value}: the norms or the scale of the loss it "
                "was computed from are too large. Scale the inputs."
            )

    def __str__(self) -> str:
        return f"{self.value:.6g}, given that " + "; ".join(self.premises)

    def plus(self, amount: float, premise: str) -> Bound:
        """The bound enlarged by `amount`, with one more premise."""
        return replace(self, value=self.value + amount, premises=(*self.premises, premise))

    def for_inexact_predictions(self, total_gap: float) -> Bound:
        """The bound when the predictions are only certified to gaps g_t with sum `total_gap`.

        Each round then obeys E L ≤ (1 − a)(S̃ + g) and ‖G̃‖² ≤ b(S̃ + g) with S̃ ≤ S, so that g adds to the loss
        of the comparator and enters with the factor of ΣS(U).
        """
        if not total_gap:
            return self
        return self.plus(
            self.surrogate_factor * total_gap, f"predictions certified to a total gap of {total_gap:.3g}"
        )


def per_round(bound: Bound, rounds: int) -> Bound:
    """Online-to-batch conversion of a bound on ΣE L − ΣS(U), [SBTO24, Thm 11]."""
    premises = (
        *bound.premises,
        f"{rounds} independent rounds from one distribution",
        "the average W̄ of the iterates, W₁ = 0 included, decoded with exact predictions",
    )
    coefficient = None if bound.coefficient is None else bound.coefficient / rounds
    return replace(bound, value=bound.value / rounds, premises=premises, coefficient=coefficient)
