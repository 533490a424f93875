"""How long a learner's next step is: scalar functions, which the compiled rounds compile as they stand.

Each works on the few numbers a learner keeps, in place, and returns the multiple of the gradient to add.
They are plain Python within what numba can compile: one text is both the compiled form and its twin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from osp_core.guarantees.formulas import CURVATURE

NO_GRADIENT = 1e-30  # squared norms below it say nothing about the step
VANISHING = 1e-300  # sums of squares below it have no inverse
Numbers = Any  # a float64 vector


@dataclass(frozen=True)
class Rule:
    """The scalar side of a learner.

    Attributes
    ----------
    amount : callable
        From (numbers, ‖∇S‖², ⟨∇S, array⟩, S, E L) to the multiple of ∇S to add; changes the numbers.
    multiplier : callable
        From the numbers to what the array is multiplied with to give W_t.
    admits : callable
        From (numbers, ‖∇S‖²) to whether this gradient may be learned from.
    """

    amount: Callable[[Numbers, float, float, float, float], float]
    multiplier: Callable[[Numbers], float]
    admits: Callable[[Numbers, float], bool]


def one(numbers: Numbers) -> float:
    """The array is W_t itself."""
    return 1.0


def every(numbers: Numbers, squared_norm: float) -> bool:
    """Any gradient will do."""
    return True


def constant_step(
    numbers: Numbers, squared_norm: float, inner: float, loss: float, expected_loss: float
) -> float:
    """−η, with numbers = (η,)."""
    return -float(numbers[0])


def adaptive_step(
    numbers: Numbers, squared_norm: float, inner: float, loss: float, expected_loss: float
) -> float:
    """−B/√(2Σ‖∇S‖²), with numbers = (B, Σ‖∇S‖²)."""
    numbers[1] += squared_norm
    if numbers[1] <= 0.0:  # before the first gradient the step would be 0/0
        return 0.0
    return -float(numbers[0]) / math.sqrt(2.0 * numbers[1])


def polyak_step(
    numbers: Numbers, squared_norm: float, inner: float, loss: float, expected_loss: float
) -> float:
    """−min(η, 2(S − E L)/‖∇S‖²) but not beyond the floor, with numbers = (η, floor)."""
    if squared_norm < NO_GRADIENT:
        return 0.0
    polyak = 2.0 * (loss - expected_loss) / squared_norm
    # Only an inexact prediction brings the Polyak step below the floor; its gap pays for the difference.
    numbers[0] = max(min(numbers[0], polyak), numbers[1])
    return -float(numbers[0])


def betting_step(
    numbers: Numbers, squared_norm: float, inner: float, loss: float, expected_loss: float
) -> float:
    """Settle the bet, choose the next fraction by an online Newton step, and step in direction.

    numbers = (Lipschitz constant, log wealth, fraction, Σ curvatures, Σ‖∇S‖²/Lipschitz²).
    """
    lipschitz, fraction = float(numbers[0]), float(numbers[2])
    c = min(1.0, max(-1.0, inner / lipschitz))  # |c| ≤ ‖g‖·‖Y‖ ≤ 1 up to rounding
    kept = 1.0 - c * fraction
    numbers[1] += math.log(kept)
    slope = c / kept
    numbers[3] += slope * slope
    step = slope / (2.0 * CURVATURE * numbers[3])
    numbers[2] = min(0.5, max(-0.5, fraction - step))
    numbers[4] += squared_norm / (lipschitz * lipschitz)
    if numbers[4] < VANISHING:
        return 0.0
    return -math.sqrt(2.0 / numbers[4]) / lipschitz


def bet(numbers: Numbers) -> float:
    """The betting fraction of the wealth."""
    return float(numbers[2]) * math.exp(min(float(numbers[1]), 700.0))


def within_lipschitz(numbers: Numbers, squared_norm: float) -> bool:
    """Whether ‖∇S‖ keeps to the Lipschitz constant that is bet on."""
    return bool(math.sqrt(squared_norm) <= numbers[0] * (1.0 + 1e-9))
