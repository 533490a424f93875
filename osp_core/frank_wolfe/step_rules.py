"""How far to move along a direction: step rules as objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from osp_core.errors import Array, InvalidInputError, as_positive
from osp_core.frank_wolfe.objectives import Objective, Quadratic


@dataclass(frozen=True, eq=False)
class Ray:
    """The half-line point + γ·direction, 0 ≤ γ ≤ longest, with slope = ⟨gradient, direction⟩ < 0 at γ = 0."""

    point: Array
    direction: Array
    slope: float
    longest: float

    def at(self, step: float) -> Array:
        return self.point + step * self.direction

    def squared_length(self) -> float:
        return float(self.direction @ self.direction)


Stepper = Callable[[Ray], float]
"""Returns a step in [0, longest]; belongs to one run and may remember earlier rays."""


class StepRule(Protocol):
    """A rule is an immutable object; `begin` returns its stepper for one run."""

    def begin(self, objective: Objective) -> Stepper: ...


@dataclass(frozen=True)
class ExactStep:
    """The minimiser along the ray, in closed form: for quadratic objectives only."""

    def begin(self, objective: Objective) -> Stepper:
        if not isinstance(objective, Quadratic):
            raise InvalidInputError("ExactStep is for Quadratic objectives; use SecantStep for others.")
        return lambda ray: min(ray.longest, -ray.slope / ray.squared_length())


@dataclass(frozen=True)
class ShortStep:
    """The minimiser of the quadratic upper bound with the Lipschitz constant of the gradient.

    Parameters
    ----------
    smoothness : float, optional
        By default the one the objective declares.
    """

    smoothness: float | None = None

    def begin(self, objective: Objective) -> Stepper:
        constant = objective.smoothness if self.smoothness is None else self.smoothness
        if constant is None:
            raise InvalidInputError(
                "ShortStep needs a Lipschitz constant of the gradient: give ShortStep(smoothness=…) or "
                "Smooth(…, smoothness=…), or use Backtracking, which estimates one."
            )
        checked = as_positive(constant, "smoothness")
        return lambda ray: min(ray.longest, -ray.slope / (checked * ray.squared_length()))


@dataclass(frozen=True)
class Backtracking:
    """Short steps with an estimated constant [Pedregosa, Negiar, Askari & Jaggi 2020].

    The estimate shrinks by `decrease` before every step and grows by `increase` until the quadratic
    bound holds at the step taken.
    """

    initial: float = 1.0
    decrease: float = 0.9
    increase: float = 2.0

    def begin(self, objective: Objective) -> Stepper:
        estimate = as_positive(self.initial, "initial")

        def step(ray: Ray) -> float:
            nonlocal estimate
            start, squared = objective.value(ray.point), ray.squared_length()
            # Below the rounding of the values the test says nothing, and the estimate must not explode.
            slack = 1e-15 * (1.0 + abs(start))
            estimate *= self.decrease
            while True:
                length = min(ray.longest, -ray.slope / (estimate * squared))
                bound = start + length * ray.slope + 0.5 * estimate * length**2 * squared
                if objective.value(ray.at(length)) <= bound + slack:
                    return length
                estimate *= self.increase

        return step


@dataclass(frozen=True)
class SecantStep:
    """A root of the slope along the ray, by the Illinois secant method: no constants needed.

    Parameters
    ----------
    accuracy : float
        The slope at the step taken is at most this fraction of the initial one.
    max_evaluations : int
        Gradients evaluated at most; the last point with negative slope is then used.
    """

    accuracy: float = 1e-6
    max_evaluations: int = 30

    def begin(self, objective: Objective) -> Stepper:
        def slope_at(ray: Ray, step: float) -> float:
            return float(objective.gradient(ray.at(step)) @ ray.direction)

        def step(ray: Ray) -> float:
            low, slope_low = 0.0, ray.slope
            high, slope_high = ray.longest, slope_at(ray, ray.longest)
            if slope_high <= 0.0:
                return high
            side = 0
            for _ in range(self.max_evaluations):
                middle = (low * slope_high - high * slope_low) / (slope_high - slope_low)
                slope = slope_at(ray, middle)
                if abs(slope) <= self.accuracy * abs(ray.slope):
                    return middle
                # Illinois: an end kept twice in a row has its slope halved, or the other would creep.
                if slope < 0.0:
                    low, slope_low = middle, slope
                    slope_high, side = (slope_high / 2, -1) if side == -1 else (slope_high, -1)
                else:
                    high, slope_high = middle, slope
                    slope_low, side = (slope_low / 2, 1) if side == 1 else (slope_low, 1)
            return low

        return step


@dataclass(frozen=True)
class OpenLoop:
    """γ = offset / (t + offset) at step t = 0, 1, …: no evaluation at all, for `Vanilla` steps.

    Parameters
    ----------
    offset : float
        2 is the textbook choice.
    """

    offset: float = 2.0

    def begin(self, objective: Objective) -> Stepper:
        offset, count = as_positive(self.offset, "offset"), 0

        def step(ray: Ray) -> float:
            nonlocal count
            length = min(ray.longest, offset / (count + offset))
            count += 1
            return length

        return step


def default_step(objective: Objective) -> StepRule:
    """The exact step where it is known, the secant search elsewhere."""
    return ExactStep() if isinstance(objective, Quadratic) else SecantStep()
