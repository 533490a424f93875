"""Target losses L(y′; y): affine in the played output y′, [SBTO24, Assumption 1]."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, MissingConstantError, UnsupportedError, as_vector

if TYPE_CHECKING:
    from osp_core.spaces import Block, OutputSpace


@dataclass(frozen=True, eq=False)
class RoundLoss:
    """The target of one round, L(·; y) = ⟨cost, ·⟩ + constant."""

    cost: Array
    constant: float

    def __call__(self, y_pred: Array) -> float:
        # Affine and non-negative on conv(Y): what is below 0 is rounding.
        return max(0.0, float(self.cost @ y_pred) + self.constant)


class AffineLoss:
    """L(y′; y) = ⟨cost(y), y′⟩ + constant(y), with L ≥ 0 on conv(Y) and L(y; y) = 0.

    Parameters
    ----------
    cost : callable
        From a vertex y to a vector.
    constant : callable
        From a vertex y to a number.
    gamma : float, optional
        A known γ with L(y′; y) ≤ γ‖y′ − y‖ in the norm of the space. Without it, `gamma` enumerates
        the vertices of the space.
    name : str
        How tables and error messages call this loss.
    """

    def __init__(
        self,
        cost: Callable[[Array], Array],
        constant: Callable[[Array], float],
        *,
        gamma: float | None = None,
        name: str = "affine",
    ) -> None:
        self.cost = cost
        self.constant = constant
        self.name = name
        self._gamma = gamma

    def __repr__(self) -> str:
        return self.name

    @classmethod
    def bilinear(
        cls,
        V: ArrayLike,
        b: ArrayLike = 0.0,
        c: Callable[[Array], float] | float = 0.0,
        *,
        gamma: float | None = None,
        name: str = "bilinear",
    ) -> AffineLoss:
        """L(y′; y) = ⟨y′, Vy + b⟩ + c(y): the generalised SELF losses."""
        matrix, offset = np.asarray(V, dtype=np.float64), np.asarray(b, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise InvalidInputError(
                f"V must be a finite square matrix, got an array of shape {matrix.shape}."
            )
        # Functions of a module, unlike lambdas, can be pickled, and so can what holds them.
        constant = c if callable(c) else functools.partial(always, float(c))
        return cls(functools.partial(_affine_map, matrix, offset), constant, gamma=gamma, name=name)

    def at(self, y: Array) -> RoundLoss:
        """The loss of a round whose true output is `y`, as a function of the played output."""
        return RoundLoss(np.asarray(self.cost(y), dtype=np.float64), float(self.constant(y)))

    def reveal(self, space: OutputSpace, feedback: Any) -> tuple[Array, RoundLoss]:
        """Turn the feedback of a round (a vertex or a label) into the true vertex and the round's loss."""
        y = space.as_vertex(feedback)
        return y, self.at(y)

    def loss(self, y_pred: Array, y_true: Array) -> float:
        """Return L(y_pred; y_true); y_pred may be any point of conv(Y)."""
        truth, played = as_vector(y_true, None, "y_true"), as_vector(y_pred, None, "y_pred")
        if truth.shape != played.shape:
            raise InvalidInputError(f"y_pred has length {played.size}, y_true {truth.size}.")
        return self.at(truth)(played)

    __call__ = loss

    def gamma(self, space: OutputSpace) -> float:
        """Return γ with L(y′; y) ≤ γ‖y′ − y‖ for y′ in conv(Y) and y in Y, in `space.norm`."""
        if self._gamma is not None:
            return self._gamma
        try:
            vertices = space.vertices()
        except UnsupportedError as error:
            raise MissingConstantError(
                f"γ of the target {self.name!r} is not known on {space!r}, which has too many outputs to "
                "enumerate. Give it: AffineLoss(cost, constant, gamma=…)."
            ) from error
        return max(lipschitz_constant(space, np.asarray(self.cost(y), dtype=np.float64)) for y in vertices)

    def on_block(self, space: OutputSpace, block: Block) -> AffineLoss | None:
        """The part of this loss on one block of `space`, or None where it is no sum over blocks."""
        return None


def always(value: float, _y: Array) -> float:
    """The constant function of this value."""
    return value


def _affine_map(matrix: Array, offset: Array, y: Array) -> Array:
    return np.asarray(matrix @ y + offset)


def lipschitz_constant(space: OutputSpace, cost: Array) -> float:
    """Return a bound of sup ⟨cost, v⟩ over v in span(Y − Y) with ‖v‖ ≤ 1 in the norm of the space."""
    projected = space.project_direction(cost)
    if space.norm == 2:
        return float(np.linalg.norm(projected))
    # Any c + n with n orthogonal to the span gives the same loss: the dual norm of each is a valid γ.
    p = space.norm
    dual = np.inf if p == 1 else (1.0 if np.isinf(p) else p / (p - 1.0))
    centred = [cost - (cost.max() + cost.min()) / 2] if space.constant_mass else []
    return float(min(np.linalg.norm(candidate, dual) for candidate in [cost, projected, *centred]))
