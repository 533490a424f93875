"""Weights that shrink, and sum up, without touching the columns of inactive features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.models import Gradient

SMALLEST_FACTOR = 1e-3  # below it the factored form loses digits of the sum
NORM_REFRESH = 1024  # updates after which the norm is computed afresh


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
        self.factor, self.mass = 1.0, 0.0
        self.track_norm, self._squared_norm, self._updates = track_norm, 0.0, 0

    def dense(self) -> Array:
        """A as an array; a view of the core where the factor is 1."""
        return self.core if self.factor == 1.0 else self.factor * self.core

    def total(self) -> Array:
        """The sum of A over all calls of `accumulate`."""
        return np.asarray(self.mass * self.core + self.residue)

    def accumulate(self, weight: float = 1.0) -> None:
        """Add weight·A to the sum."""
        self.mass += weight * self.factor

    def add(self, gradient: Gradient, amount: float) -> None:
        """A += amount·gradient."""
        if amount == 0.0:
            return
        step = amount / self.factor
        if self.track_norm:
            growth = 2.0 * step * gradient.inner(self.core) + step**2 * gradient.squared_norm
            self._squared_norm = max(0.0, self._squared_norm + growth)
        gradient.add_to(self.core, step)
        gradient.add_to(self.residue, -self.mass * step)  # mass·core + residue must not change
        self._updates += 1
        if self.track_norm and self._updates % NORM_REFRESH == 0:
            self._squared_norm = float(np.vdot(self.core, self.core))

    def shrink_to(self, radius: float) -> None:
        """Project A on the ball of this radius, in constant time."""
        norm = abs(self.factor) * float(np.sqrt(self._squared_norm))
        if norm > radius:
            self.factor *= radius / norm
            if self.factor < SMALLEST_FACTOR:
                self._flush()

    def state(self) -> dict[str, Any]:
        return {
            "core": self.core.copy(),
            "residue": self.residue.copy(),
            "numbers": np.array([self.factor, self.mass, self._squared_norm, float(self._updates)]),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        core = np.array(state["core"], dtype=np.float64, order="F")
        residue = np.array(state["residue"], dtype=np.float64, order="F")
        if core.shape != self.core.shape or residue.shape != core.shape:
            raise InvalidInputError(
                f"The state has weights of shape {core.shape}; this learner has {self.core.shape}."
            )
        self.core, self.residue = core, residue
        self.factor, self.mass, self._squared_norm, updates = (float(number) for number in state["numbers"])
        self._updates = int(updates)

    def _flush(self) -> None:
        """Write the factor and the sum out, and begin anew with factor 1."""
        self.residue += self.mass * self.core
        self.core *= self.factor
        self.factor, self.mass = 1.0, 0.0
        self._squared_norm = float(np.vdot(self.core, self.core))
