"""Newton's method on the dual of a regularised transport problem, one potential per column.

Maximising ⟨scores, y⟩ − Ψ(y) over plans whose rows sum to 1 and whose columns sum to 1 (or at most 1)
has the dual  min_β Σᵢ Ψ*(scoresᵢ − β) + Σⱼ βⱼ,  with β ≥ 0 where columns need not be full. The conjugate
of a row is a log-partition for the entropy and a sparsemax for the squared norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from osp_core.errors import Array, NumericalError
from osp_core.kernels import load

MAX_ITERATIONS = 300


@dataclass(frozen=True, eq=False)
class DualSolution:
    """A plan whose rows sum to 1, with the dual variables it comes from."""

    plan: Array
    levels: Array
    potentials: Array
    error: float
    """Largest violation of a column constraint."""


class RowConjugate(Protocol):
    """The regularizer of a row, through its conjugate."""

    longest_step: float

    def evaluate(self, scores: Array, potentials: Array, levels: Array) -> tuple[Array, Array, float]:
        """Return the plan, its levels and Σᵢ Ψ*(scoresᵢ − potentials)."""

    def hessian(self, plan: Array) -> Array:
        """Return the (generalised) Hessian of the dual in the potentials."""


class EntropicRows:
    """Ψ = Σ y ln y: a plan is a softmax in every row."""

    # Beyond this the quadratic model of an exponential is worthless.
    longest_step = 4.0

    def evaluate(self, scores: Array, potentials: Array, levels: Array) -> tuple[Array, Array, float]:
        return load(__package__).softmax_rows(scores, potentials, levels)  # type: ignore[no-any-return]

    def hessian(self, plan: Array) -> Array:
        hessian = -(plan.T @ plan)
        hessian.flat[:: len(hessian) + 1] += plan.sum(axis=0)
        return np.asarray(hessian)


class EuclideanRows:
    """Ψ = ½‖y‖²: a plan is a sparsemax in every row."""

    longest_step = np.inf

    def evaluate(self, scores: Array, potentials: Array, levels: Array) -> tuple[Array, Array, float]:
        return load(__package__).sparsemax_rows(scores, potentials, levels)  # type: ignore[no-any-return]

    def hessian(self, plan: Array) -> Array:
        return load(__package__).support_laplacian(plan)  # type: ignore[no-any-return]


def minimise_dual(
    rows: RowConjugate, scores: Array, potentials: Array, floor: Array, tol: float
) -> DualSolution:
    """Regularised, projected (semismooth) Newton with backtracking, until the columns are right up to `tol`.

    It ends earlier when rounding allows no more progress; `error` tells how far it got.
    """
    plan, levels, value = rows.evaluate(scores, potentials, np.full(len(scores), np.inf))
    value += potentials.sum()
    best = None
    for _ in range(MAX_ITERATIONS):
        gradient = 1.0 - plan.sum(axis=0)
        free = (potentials > floor) | (gradient < 0)
        error = float(np.abs(gradient, where=free, out=np.zeros_like(gradient)).max())
        if best is None or error < best.error:
            best = DualSolution(plan, levels, potentials, error)
        if error <= tol:
            break
        direction = _direction(
            rows.hessian(plan), gradient, free & ~_about_to_settle(potentials, floor, gradient)
        )
        step = min(1.0, rows.longest_step / float(np.abs(direction).max()))
        noise = 1e-14 * (abs(value) + len(scores))
        while True:
            trial = np.maximum(potentials + step * direction, floor)
            new_plan, new_levels, new_value = rows.evaluate(scores, trial, levels)
            new_value += trial.sum()
            decrease = float(gradient @ (trial - potentials))
            if new_value <= value + 1e-4 * decrease + noise or step < 1e-12:
                break
            step *= 0.4
        if step < 1e-12:
            break
        plan, levels, potentials, value = new_plan, new_levels, trial, new_value
    assert best is not None
    return best


def _about_to_settle(potentials: Array, floor: Array, gradient: Array) -> Array:
    """Potentials so close above their floor that a gradient step reaches it: Newton must not mix them in."""
    return (potentials - floor <= np.minimum(1e-6, np.abs(gradient))) & (gradient > 0)


def _direction(hessian: Array, gradient: Array, free: Array) -> Array:
    """Return −(H + ridge)⁻¹ gradient on the free coordinates, −gradient on the others."""
    direction = -gradient
    if free.all():
        return -solve_regularised(hessian, gradient)
    at = np.flatnonzero(free)
    direction[at] = -solve_regularised(hessian[np.ix_(at, at)], gradient[at])
    return direction


def solve_regularised(hessian: Array, gradient: Array) -> Array:
    """Solve H x = gradient for a positive semidefinite H, with a ridge that vanishes with the gradient.

    H always has the constant vector in its kernel where columns are full, and more where the support of
    the plan falls into components.
    """
    from scipy.linalg.lapack import dposv

    diagonal = hessian.flat[:: len(hessian) + 1]
    ridge = 1e-3 * min(1.0, float(np.abs(gradient).max())) + 1e-14
    for _ in range(8):
        shifted = hessian.copy()
        shifted.flat[:: len(hessian) + 1] += ridge * np.maximum(diagonal, 1e-3)
        _, solution, info = dposv(shifted, gradient)
        if info == 0 and np.isfinite(solution).all():
            return np.asarray(solution)
        ridge *= 100.0
    raise NumericalError("Newton's method on the dual met a matrix that is not positive semidefinite.")
