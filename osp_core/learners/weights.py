"""Weights that shrink, and sum up, without touching the columns of inactive features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.models import Gradient

SMALLEST_FACTOR = 1e-3  # below it the factored form loses digits of the sum
NORM_REFRESH = 1024  # updates after which the norm is computed afresh
FACTOR, MASS, SQUARED_NORM, UPDATES = range(4)


class LazyWeights:
    """An array A = factor·core together with Σ A over the moments `accumulate` was called.

    A step adds a gradient to the core, shrinking changes the factor alone, and the sum is kept as mass·core +
    residue: what a sparse gradient does not touch is never written.

    Parameters
    ----------
    shape : tuple of int
    track_norm : bool
        Whether ‖A‖ must be known at all times, which costs one inner product a step.
    """

    def __init__(self, shape: tuple[int, ...], *, track_norm: bool = False) -> None:
        # Column-major: the columns of active features are contiguous.
        self.core = np.zeros(shape, order="F")
        self.residue = np.zeros(shape, order="F")
        # factor, mass, ‖core‖² and the count of updates: one array, which compiled rounds change in place.
        self.numbers = np.array([1.0, 0.0, 0.0, 0.0])
        self.track_norm = track_norm

    @property
    def factor(self) -> float:
        """What the core is multiplied with."""
        return float(self.numbers[FACTOR])

    @property
    def mass(self) -> float:
        """How much of the core is in the sum."""
        return float(self.numbers[MASS])

    def dense(self) -> Array:
        """A as an array; a view of the core where the factor is 1."""
        return self.core if self.factor == 1.0 else self.factor * self.core

    def total(self) -> Array:
        """The sum of A over all calls of `accumulate`."""
        return np.asarray(self.mass * self.core + self.residue)

    def accumulate(self, weight: float = 1.0) -> None:
        """Add weight·A to the sum."""
        self.numbers[MASS] += weight * self.numbers[FACTOR]

    def add(self, gradient: Gradient, amount: float, inner: float = 0.0) -> None:
        """A += amount·gradient; `inner` is ⟨gradient, core⟩, needed where the norm is tracked."""
        if amount == 0.0:
            return
        numbers, step = self.numbers, amount / self.factor
        if self.track_norm:
            growth = 2.0 * step * inner + step * step * gradient.squared_norm
            numbers[SQUARED_NORM] = max(0.0, numbers[SQUARED_NORM] + growth)
        gradient.add_to(self.core, step)
        gradient.add_to(self.residue, -self.mass * step)  # mass·core + residue must not change
        numbers[UPDATES] += 1
        if self.track_norm and numbers[UPDATES] % NORM_REFRESH == 0:
            numbers[SQUARED_NORM] = np.vdot(self.core, self.core)

    def shrink_to(self, radius: float) -> None:
        """Project A on the ball of this radius, in constant time."""
        norm = abs(self.factor) * math.sqrt(self.numbers[SQUARED_NORM])
        if norm > radius:
            self.numbers[FACTOR] *= radius / norm
            if self.factor < SMALLEST_FACTOR:
                self.flush()

    def state(self) -> dict[str, Any]:
        return {
            "core": self.core.copy(),
            "residue": self.residue.copy(),
            "numbers": self.numbers.copy(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        core = np.array(state["core"], dtype=np.float64, order="F")
        residue = np.array(state["residue"], dtype=np.float64, order="F")
        if core.shape != self.core.shape or residue.shape != core.shape:
            raise InvalidInputError(
                f"The state has weights of shape {core.shape}; this learner has {self.core.shape}."
            )
        self.core, self.residue = core, residue
        self.numbers = np.array(state["numbers"], dtype=np.float64).reshape(4)

    def flush(self) -> None:
        """Write the factor and the sum out, and begin anew with factor 1."""
        self.residue += self.mass * self.core
        self.core *= self.factor
        self.numbers[:3] = 1.0, 0.0, np.vdot(self.core, self.core)
