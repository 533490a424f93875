"""A bound: a number together with what it assumes."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Bound:
    """A number that is only worth its premises.

    The inequality it belongs to is Σ loss ≤ surrogate_factor·ΣS(U) + value.

    Attributes
    ----------
    value : float
        The bound.
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
    premises: tuple[str, ...]
    step_size: float | None = None
    coefficient: float | None = None
    surrogate_factor: float = 1.0

    def __float__(self) -> float:
        return self.value

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
