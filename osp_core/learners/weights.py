"""Weights that shrink, and sum up, without touching the columns of inactive features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.kernels import load
from osp_core.learners.columns import FACTOR, MASS, PAST, SQUARED_NORM, UPDATES
from osp_core.learners.states import array
from osp_core.models import Gradient

SMALLEST_FACTOR = 1e-3  # below it the factored form loses digits of the sum
NORM_REFRESH = 1024  # updates after which the norm is computed afresh; more where they touch little
WORTH = 64.0  # times all columns are written before the norm of all is worth computing
EPOCHS = 1024  # factors that columns may be behind


class LazyWeights:
    """An array A = factor·core together with Σ A over the moments `accumulate` was called.

    A step adds a gradient to the core, shrinking changes the factor alone, and the sum is kept as mass·core +
    residue: what a sparse gradient does not touch is never written. Where the factor gets too small, compiled
    rounds begin a new epoch with factor 1 and mass 0, and remember those of the old one; a column takes them
    up when it is touched next.

    Parameters
    ----------
    shape : tuple of int
        Columns are along the last axis.
    track_norm : bool
        Whether ‖A‖ must be known at all times, which costs one inner product a step.

    Attributes
    ----------
    memory : array of shape (columns, 2, rows)
        Core and residue of a column side by side: a cold column costs one look into main memory.
    behind : array of int
        The epoch of every column.
    epochs : array of shape (EPOCHS, 2)
        Factor and mass at the end of the past epochs.
    numbers : array
        Factor, mass, ‖core‖², updates since that was computed afresh, and the count of past epochs: one
        array, which compiled rounds change in place.
    """

    def __init__(self, shape: tuple[int, ...], *, track_norm: bool = False) -> None:
        self.shape, self.track_norm = shape, track_norm
        try:
            self.memory = _zeros((shape[-1], 2, shape[0] if len(shape) == 2 else 1))
        except (MemoryError, ValueError, OverflowError) as error:
            raise InvalidInputError(f"Weights of shape {shape} do not fit into memory: {error}.") from error
        self.behind = np.zeros(shape[-1], dtype=np.int64)
        self.epochs = np.zeros((EPOCHS, 2))
        self.numbers = np.array([1.0, 0.0, 0.0, 0.0, 0.0])

    @property
    def core(self) -> Array:
        """A/factor, a view."""
        return self._half(0)

    @property
    def residue(self) -> Array:
        """What the sum has beyond mass·core, a view."""
        return self._half(1)

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
        self.settle()
        numbers, step = self.numbers, amount / self.factor
        # mass·core + residue must not change.
        gradient.stacked((step, -self.mass * step)).add_to(self.memory.reshape(len(self.memory), -1).T, 1.0)
        if self.track_norm:
            growth = 2.0 * step * inner + step * step * gradient.squared_norm
            numbers[SQUARED_NORM] = max(0.0, numbers[SQUARED_NORM] + growth)
            numbers[UPDATES] += min(1.0, WORTH * gradient.share)
            if numbers[UPDATES] >= NORM_REFRESH:
                numbers[SQUARED_NORM], numbers[UPDATES] = (self.core**2).sum(), 0.0

    def shrink_to(self, radius: float) -> None:
        """Project A on the ball of this radius, in constant time."""
        norm = abs(self.factor) * math.sqrt(self.numbers[SQUARED_NORM])
        if norm > radius:
            self.numbers[FACTOR] *= radius / norm
            if self.factor < SMALLEST_FACTOR:
                self.flush()

    def settle(self) -> None:
        """Bring all columns to the present epoch."""
        if self.numbers[PAST]:
            load("osp_core.learners").settle_columns(self.memory, self.behind, self.epochs, self.numbers)

    def state(self) -> dict[str, Any]:
        return {
            "core": self.core.copy(),
            "residue": self.residue.copy(),
            "numbers": self.numbers[:PAST].copy(),  # no column is behind now
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        core, residue = (array(state, name, self.shape) for name in ("core", "residue"))
        numbers = array(state, "numbers", (PAST,))
        with np.errstate(all="ignore"):
            finite = np.isfinite([numbers[FACTOR] * core, numbers[MASS] * core + residue]).all()
        if not finite or numbers[FACTOR] <= 0.0 or numbers[[SQUARED_NORM, UPDATES]].min() < 0.0:
            raise InvalidInputError(
                f"The state is that of no weights: factor, mass, squared norm and updates are {numbers}."
            )
        self.numbers = np.append(numbers, 0.0)
        self.memory, self.behind = _zeros(self.memory.shape), np.zeros_like(self.behind)
        self.core[...], self.residue[...] = core, residue

    def flush(self) -> None:
        """Write the factor and the sum out, and begin anew with factor 1."""
        core, residue = self.core, self.residue
        residue += self.mass * core
        core *= self.factor
        self.numbers[:UPDATES] = 1.0, 0.0, (core**2).sum()

    def _half(self, which: int) -> Array:
        self.settle()
        return self.memory[:, which].T if len(self.shape) == 2 else self.memory[:, which, 0]


def _zeros(shape: tuple[int, ...]) -> Array:
    """Zeros that begin where a cache line does, so that columns spread over as few lines as can be."""
    size, line = math.prod(shape), 8
    room = np.zeros(size + line)
    start = -(room.ctypes.data // 8) % line
    return room[start : start + size].reshape(shape)
