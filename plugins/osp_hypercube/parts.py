"""The hypercube in compiled rounds."""

from __future__ import annotations

import math
from typing import Any

Vector = Any


def clip(theta: Vector, params: Vector, out: Vector) -> None:
    """θ/scale, cut off at 0 and 1."""
    for i in range(theta.size):
        out[i] = min(1.0, max(0.0, theta[i] / params[0]))


def sigmoid(theta: Vector, params: Vector, out: Vector) -> None:
    """1/(1 + exp(−θ/scale)), without overflow."""
    for i in range(theta.size):
        small = math.exp(-abs(theta[i]) / params[0])
        out[i] = (1.0 if theta[i] >= 0.0 else small) / (1.0 + small)


def rounded(y_hat: Vector, params: Vector, out: Vector) -> None:
    """1 where ŷ is above a half."""
    for i in range(y_hat.size):
        out[i] = 1.0 if y_hat[i] > 0.5 else 0.0


def bernoulli(y_hat: Vector, params: Vector, rng: Any, out: Vector) -> None:
    """Every label on its own, with probability ŷᵢ."""
    for i in range(y_hat.size):
        out[i] = 1.0 if rng.random() < y_hat[i] else 0.0
