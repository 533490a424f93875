"""How ℓp norms compare."""

from __future__ import annotations


def norm_ratio(p: float, q: float, dim: int) -> float:
    """Return the greatest ‖v‖_p/‖v‖_q over v in R^dim."""
    return float(max(1.0, float(dim) ** (1.0 / p - 1.0 / q)))
