"""What an entry adds to Ψ and to its Fenchel–Young loss: one text for numbers, arrays and compiled rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

Numbers = Any  # a number, or an array of them


def x_log_x(y: Numbers) -> Numbers:
    """y·ln y with 0·ln 0 = 0."""
    positive = np.maximum(y, 0.0)
    return positive * np.log(positive + (positive == 0.0))


def binary_x_log_x(y: Numbers) -> Numbers:
    """y·ln y + (1 − y)·ln(1 − y)."""
    return x_log_x(y) + x_log_x(1.0 - y)


def linear_part(theta: Numbers, y: Numbers, y_hat: Numbers) -> Numbers:
    """The entries of ⟨θ, ŷ − y⟩."""
    return theta * (y_hat - y)


def squared_norm_part(theta: Numbers, y: Numbers, y_hat: Numbers, scale: float) -> Numbers:
    """The entries of S for Ψ = scale/2·‖·‖², as ⟨θ − scale·(ŷ + y)/2, ŷ − y⟩: no difference of squares."""
    return (theta - 0.5 * scale * (y_hat + y)) * (y_hat - y)
