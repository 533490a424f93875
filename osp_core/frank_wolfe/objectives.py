"""What the engine minimises: a squared distance, or any smooth convex function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, NumericalError, as_positive, as_vector

_LARGEST = 1e100  # squares of larger numbers come too close to overflow
_EPS = float(np.finfo(np.float64).eps)


class Objective(Protocol):
    """A convex function with the few facts the methods ask for."""

    @property
    def smoothness(self) -> float | None:
        """A Lipschitz constant of the gradient, where one is known."""

    @property
    def positive(self) -> bool:
        """Whether the gradient exists only where every entry is positive."""

    def value(self, point: Array) -> float: ...

    def gradient(self, point: Array) -> Array: ...

    def scale(self, point: Array) -> float:
        """Return the size a gap is compared with, at most 1 + |f(point)|."""

    def rounding(self, point: Array, gradient: Array, difference: Array) -> float:
        """Return how far ⟨gradient, difference⟩ may be off because of rounding."""


class Quadratic:
    """f(y) = ½‖y − centre‖², whose minimiser over conv(Y) is the projection of `centre`.

    ½‖y‖² − ⟨θ, y⟩ is the same function with centre θ, up to a constant.

    Parameters
    ----------
    centre : array of shape (d,)
        Entries of magnitude up to 1e8 lose no accuracy beyond that of `centre` itself.
    """

    smoothness = 1.0
    positive = False

    def __init__(self, centre: ArrayLike) -> None:
        self.centre = as_vector(centre, None, "centre")
        if self.centre.size and np.abs(self.centre).max() > _LARGEST:
            raise InvalidInputError(f"centre must have entries below {_LARGEST:g} in magnitude.")

    def value(self, point: Array) -> float:
        return 0.5 * _square(point - self.centre)

    def gradient(self, point: Array) -> Array:
        return point - self.centre

    def scale(self, point: Array) -> float:
        # The error of the point is at most √gap, so what counts is the size of the point. |f| is up to
        # ½‖centre‖², and compared with that a gap of 1 would pass for zero when |centre| is 1e8.
        return 1.0 + min(self.value(point), 0.5 * _square(point))

    def rounding(self, point: Array, gradient: Array, difference: Array) -> float:
        return 2 * _EPS * float((np.abs(point) + np.abs(self.centre)) @ np.abs(difference))


class Smooth:
    """Any convex differentiable function, given by its value and its gradient.

    Parameters
    ----------
    value, gradient : callables of a point
    smoothness : float, optional
        A Lipschitz constant of the gradient; the short step needs it, the other step rules do not.
    positive : bool
        The gradient exists only where all entries are positive, as with entropies. The engine then starts
        at a point with positive entries, shortens every step so that they stay positive, and never
        evaluates `value` or `gradient` elsewhere. Coordinates in which every vertex is zero must be
        left out of the problem.
    """

    def __init__(
        self,
        value: Callable[[Array], float],
        gradient: Callable[[Array], ArrayLike],
        *,
        smoothness: float | None = None,
        positive: bool = False,
    ) -> None:
        self._value = value
        self._gradient = gradient
        self.smoothness = None if smoothness is None else as_positive(smoothness, "smoothness")
        self.positive = positive

    def value(self, point: Array) -> float:
        value = float(self._value(point))
        if not np.isfinite(value):
            raise NumericalError(f"The objective is {value} at a feasible point. {_BOUNDARY}")
        return value

    def gradient(self, point: Array) -> Array:
        gradient = np.asarray(self._gradient(point), dtype=np.float64)
        if gradient.shape != point.shape:
            raise InvalidInputError(f"The gradient must have shape {point.shape}, got {gradient.shape}.")
        if not np.isfinite(gradient).all():
            raise NumericalError(f"The gradient is not finite at a feasible point. {_BOUNDARY}")
        return gradient

    def scale(self, point: Array) -> float:
        return 1.0 + abs(self.value(point))

    def rounding(self, point: Array, gradient: Array, difference: Array) -> float:
        return 2 * _EPS * float(np.abs(gradient) @ np.abs(difference))


_BOUNDARY = (
    "A function defined only for positive entries, such as an entropy, needs Smooth(…, positive=True)."
)


def _square(vector: Array) -> float:
    return float(vector @ vector)
