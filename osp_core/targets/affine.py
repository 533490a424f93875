"""Target losses L(y′; y): affine in the played output y′, [SBTO24, Assumption 1]."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import (
    Array,
    GuaranteeError,
    InvalidInputError,
    MissingConstantError,
    UnsupportedError,
    as_nonnegative,
    as_vector,
)

if TYPE_CHECKING:
    from osp_core.spaces import Block, OutputSpace

ROUNDING = 1e-9
"""How far a loss of 0 may come out from 0, relative to the numbers it is computed from."""


@dataclass(frozen=True, eq=False)
class RoundLoss:
    """The target of one round, L(·; y) = ⟨cost, ·⟩ + constant, under the name of the target."""

    cost: Array
    constant: float
    name: str = "affine"

    def __call__(self, y_pred: Array) -> float:
        value = float(self.cost @ y_pred) + self.constant
        if value >= 0.0:
            return value
        if value >= -float(self.rounding(y_pred)):
            return 0.0
        raise GuaranteeError(
            f"The target {self.name!r} is {value:.6g} at {show(y_pred)}. A target loss is a number and never "
            "negative on conv(Y); no guarantee holds for this one."
        )

    def rounding(self, points: Array) -> Array:
        """What is rounding in the loss of a point, or of every row."""
        return np.asarray(ROUNDING * (np.abs(points) @ np.abs(self.cost) + abs(self.constant)))


class AffineLoss:
    """L(y′; y) = ⟨cost(y), y′⟩ + constant(y), with L ≥ 0 on conv(Y) and L(y; y) = 0.

    A guarantee is only computed on spaces where that is so, see `osp_core.targets.premises`.

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

    made_with: tuple[str, dict[str, Any]] | None = None
    """The name and parameters given to `make_target`, where the target was made so."""

    def __init__(
        self,
        cost: Callable[[Array], Array],
        constant: Callable[[Array], float],
        *,
        gamma: float | None = None,
        name: str = "affine",
    ) -> None:
        if not callable(cost) or not callable(constant):
            wrong = constant if callable(cost) else cost
            raise InvalidInputError(f"cost and constant must be functions of y, got {wrong!r}.")
        self.cost = cost
        self.constant = constant
        self.name = name
        self._gamma = None if gamma is None else as_nonnegative(gamma, "gamma")

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
        n = len(matrix)
        if offset.shape not in ((), (n,)) or not np.isfinite(offset).all():
            raise InvalidInputError(f"b must be a finite number, or {n} of them, got {b!r}.")
        if not callable(c) and not np.isfinite(c):
            raise InvalidInputError(f"c must be a function of y or a finite number, got {c!r}.")
        # Functions of a module, unlike lambdas, can be pickled, and so can what holds them.
        constant = c if callable(c) else functools.partial(always, float(c))
        return cls(functools.partial(_affine_map, name, matrix, offset), constant, gamma=gamma, name=name)

    def at(self, y: Array) -> RoundLoss:
        """The loss of a round whose true output is `y`, as a function of the played output."""
        return RoundLoss(np.asarray(self.cost(y), dtype=np.float64), float(self.constant(y)), self.name)

    def reveal(self, space: OutputSpace, feedback: Any) -> tuple[Array, RoundLoss]:
        """Turn the feedback of a round (a vertex or a label) into the true vertex and the round's loss."""
        y = space.as_vertex(feedback)
        return y, self.at(y)

    def loss(self, y_pred: Array, y_true: Array) -> float:
        """Return L(y_pred; y_true); y_pred may be any point of conv(Y)."""
        truth, played = as_vector(y_true, None, "y_true"), as_vector(y_pred, None, "y_pred")
        if truth.shape != played.shape:
            raise InvalidInputError(f"y_pred has length {played.size}, y_true {truth.size}.")
        loss = self.at(truth)
        if loss.cost.shape != played.shape:
            raise InvalidInputError(
                f"cost(y) of the target {self.name!r} has shape {loss.cost.shape}, the outputs "
                f"{played.shape}."
            )
        return loss(played)

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

    def holds_by_form(self, space: OutputSpace) -> bool:
        """Whether L(y; y) = 0 and L ≥ 0 on conv(Y) follow from the formula of this loss on `space`.

        False only means that somebody has to look. A target that cannot fit the space raises an error.
        """
        return False

    def on_block(self, space: OutputSpace, block: Block) -> AffineLoss | None:
        """The part of this loss on one block of `space`, or None where it is no sum over blocks."""
        return None


def always(value: float, _y: Array) -> float:
    """The constant function of this value."""
    return value


def _affine_map(name: str, matrix: Array, offset: Array, y: Array) -> Array:
    n = len(matrix)
    if y.size != n:
        raise InvalidInputError(
            f"The target {name!r} has a {n}×{n} matrix, but the outputs have length {y.size}."
        )
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


def show(vector: Array) -> str:
    """A vector on one line of an error message, abridged where it is long."""
    return np.array2string(np.asarray(vector), threshold=12, precision=6, max_line_width=10**6)
