"""Losses and decoders entry by entry, within what numba can compile.

The formulas are those of `regularizers.summands` and `surrogates.mixing`; only the sums are taken here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from osp_core.regularizers.summands import binary_x_log_x, linear_part, squared_norm_part, x_log_x
from osp_core.surrogates.mixing import mixture, probability, randomises, significant

Vector = Any  # a float64 vector
Function = Callable[..., Any]


def squared_norm_loss(theta: Vector, params: Vector, y: Vector, y_hat: Vector) -> float:
    """S for Ψ = scale/2·‖·‖²: ⟨θ − scale·(ŷ + y)/2, ŷ − y⟩."""
    return shifted_squared_norm_loss(theta, 0.0, params, y, y_hat)


def squared_norm_loss_of_equal_mass(theta: Vector, params: Vector, y: Vector, y_hat: Vector) -> float:
    """The same where all outputs have one mass: what all scores share may then be left out."""
    return shifted_squared_norm_loss(theta, mean_score(theta), params, y, y_hat)


def shifted_squared_norm_loss(
    theta: Vector, offset: float, params: Vector, y: Vector, y_hat: Vector
) -> float:
    """S at the scores θ − offset."""
    total = 0.0
    for i in range(theta.size):
        total += squared_norm_part(theta[i] - offset, y[i], y_hat[i], params[0])
    return total


def negative_entropy_loss_of_equal_mass(theta: Vector, params: Vector, y: Vector, y_hat: Vector) -> float:
    """S for Ψ = scale·Σ yᵢ ln yᵢ, which is 0 at 0/1 outputs; all of them have one mass."""
    offset = mean_score(theta)
    total = 0.0
    for i in range(theta.size):
        total += linear_part(theta[i] - offset, y[i], y_hat[i]) - params[0] * x_log_x(y_hat[i])
    return total


def binary_entropy_loss(theta: Vector, params: Vector, y: Vector, y_hat: Vector) -> float:
    """S for Ψ = scale·Σ yᵢ ln yᵢ + (1 − yᵢ) ln(1 − yᵢ) at an output with entries 0 and 1."""
    total = 0.0
    for i in range(theta.size):
        total += linear_part(theta[i], y[i], y_hat[i]) - params[0] * binary_x_log_x(y_hat[i])
    return total


def mean_score(theta: Vector) -> float:
    """What is taken out of scores that a common offset makes large, so that it costs no digits."""
    total = 0.0
    for i in range(theta.size):
        total += theta[i]
    return float(total / theta.size)


def affine(cost: Vector, constant: float, point: Vector) -> float:
    """⟨cost, point⟩ + constant."""
    total = constant
    for i in range(cost.size):
        total += cost[i] * point[i]
    return total


def affine_loss(cost: Vector, constant: float, played: Vector) -> float:
    """The target loss of what was played, which is at least 0."""
    return max(0.0, affine(cost, constant, played))


def decode_whole(y_hat: Vector, nearest: Vector, nu: float, order: float, p: Vector, mean: Vector) -> None:
    """[SBTO24, Algorithm 1]: p, and the mean of what is played."""
    p[0] = probability(significant(distance(y_hat, nearest, order)), nu)
    for i in range(y_hat.size):
        mean[i] = mixture(p[0], nearest[i], y_hat[i])


def decode_coordinates(
    y_hat: Vector, nearest: Vector, nu: float, order: float, p: Vector, mean: Vector
) -> None:
    """Algorithm 1 on every coordinate, each with its own p."""
    for i in range(y_hat.size):
        p[i] = probability(significant(abs(y_hat[i] - nearest[i])), nu)
        mean[i] = mixture(p[i], nearest[i], y_hat[i])


def draw_whole(
    sample: Function, y_hat: Vector, nearest: Vector, p: Vector, params: Vector, rng: Any, played: Vector
) -> None:
    """Draw as `DecodingLaw.sample` does."""
    if randomises(p[0], rng):
        sample(y_hat, params, rng, played)
    else:
        for i in range(played.size):
            played[i] = nearest[i]


def draw_coordinates(
    sample: Function, y_hat: Vector, nearest: Vector, p: Vector, params: Vector, rng: Any, played: Vector
) -> None:
    """Draw as `BlockwiseLaw.sample` does on blocks of one coordinate."""
    # First a coin for every coordinate, then one more for those that are randomised.
    for i in range(played.size):
        played[i] = rng.random()
    for i in range(played.size):
        if played[i] < p[i]:
            played[i] = 1.0 if rng.random() < y_hat[i] else 0.0
        else:
            played[i] = nearest[i]


def distance(point: Vector, other: Vector, order: float) -> float:
    """‖point − other‖ in the ℓ norm of this order."""
    total = 0.0
    for i in range(point.size):
        away = abs(point[i] - other[i])
        if order == 1.0:
            total += away
        elif order == 2.0:
            total += away * away
        elif order == math.inf:
            total = max(total, away)
        else:
            total += away**order
    if order == 2.0:
        total = math.sqrt(total)
    elif order not in (1.0, math.inf):
        total = total ** (1.0 / order)
    return total
