"""Newton's method on the dual of a transport problem: for large plans, and the reference for the kernels.

Maximising ⟨scores, y⟩ − Ψ(y) over plans whose rows sum to 1 and whose columns sum to 1 (or at most 1)
has the dual  min_β Σᵢ Ψ*(scoresᵢ − β) + Σⱼ βⱼ,  with β ≥ 0 where columns need not be full. The conjugate
of a row is a log-partition for the entropy and a sparsemax for the squared norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array

SMALL = 100
"""Up to this many columns the compiled twin is faster; beyond, LAPACK is worth its overhead."""
SHORTEST_STEP = 1e-12
CLOSE = 1e-12
"""Below this error, an iteration that does not halve it is the last: what is left is rounding."""
Evaluate = Callable[[Array, Array, Array], tuple[Array, Array, float]]


class RowConjugate(Protocol):
    """The regularizer of a row, through its conjugate."""

    longest_step: float
    evaluate: Evaluate
    """From scores, potentials and a guess of the levels to the plan, its levels and Σᵢ Ψ*(scoresᵢ − β)."""

    def hessian(self, plan: Array) -> Array:
        """Return the (generalised) Hessian of the dual in the potentials."""


class EntropicRows:
    """Ψ = Σ y ln y: a plan is a softmax in every row."""

    # Beyond this the quadratic model of an exponential is worthless.
    longest_step = 4.0

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate

    def hessian(self, plan: Array) -> Array:
        """diag(column sums) − planᵀ·plan, whose rows sum to 0.

        Summing the other entries gives the diagonal without cancellation, however close to a vertex.
        """
        products = plan.T @ plan
        np.fill_diagonal(products, 0.0)
        return np.diag(products.sum(axis=1)) - products


class EuclideanRows:
    """Ψ = ½‖y‖²: a plan is a sparsemax in every row."""

    longest_step = np.inf

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate

    def hessian(self, plan: Array) -> Array:
        """Σ diag(s) − s sᵀ/|s| over rows with support s."""
        support = (plan > 0).astype(np.float64)
        laplacian = -(support / support.sum(axis=1, keepdims=True)).T @ support
        laplacian.flat[:: plan.shape[1] + 1] += support.sum(axis=0)
        return laplacian


def minimise(
    rows: RowConjugate, scores: Array, potentials: Array, floor: Array, tol: float, max_iter: int
) -> tuple[Array, Array, Array, float, int]:
    """Regularised, projected (semismooth) Newton with backtracking, until the columns are right up to `tol`.

    It ends earlier when rounding allows no more progress.

    Returns
    -------
    A plan whose rows sum to 1, its levels and potentials, the largest violation of a column, and the number
    of steps taken.
    """
    plan, levels, value = rows.evaluate(scores, potentials, np.full(len(scores), np.inf))
    value += potentials.sum()
    previous, steps = np.inf, 0
    for _ in range(max_iter):
        gradient, error = _column_errors(plan, potentials, floor)
        if error <= tol or (error <= CLOSE and error > 0.5 * previous):
            break
        previous = error
        # Potentials so close above their floor that a gradient step reaches it stay out of the system.
        settled = (gradient > 0) & (potentials - floor <= np.minimum(1e-6, gradient))
        direction = _direction(rows.hessian(plan), gradient, error, settled)
        step = min(1.0, rows.longest_step / float(np.abs(direction).max()))
        noise = 1e-14 * (abs(value) + gradient.size)
        while step >= SHORTEST_STEP:
            trial = np.maximum(potentials + step * direction, floor)
            new_plan, new_levels, new_value = rows.evaluate(scores, trial, levels)
            new_value += trial.sum()
            if new_value <= value + 1e-4 * float(gradient @ (trial - potentials)) + noise:
                break
            step *= 0.4
        if step < SHORTEST_STEP:
            break
        plan, levels, potentials, value = new_plan, new_levels, trial, new_value
        steps += 1
    return plan, levels, potentials, _column_errors(plan, potentials, floor)[1], steps


def _column_errors(plan: Array, potentials: Array, floor: Array) -> tuple[Array, float]:
    """The gradient, and its largest entry among potentials that could still move."""
    gradient = 1.0 - plan.sum(axis=0)
    free = (potentials > floor) | (gradient < 0)
    return gradient, float(np.abs(np.where(free, gradient, 0.0)).max())


def _direction(hessian: Array, gradient: Array, error: float, settled: NDArray[np.bool_]) -> Array:
    """Return −(H + ridge)⁻¹ gradient, and −gradient for what has settled.

    H has the constant vector in its kernel where columns are full, and more where the support of the
    plan falls into components; the ridge vanishes with the error.
    """
    ridge = 1e-3 * min(1.0, error) + 1e-14
    diagonal = hessian.diagonal().copy()
    hessian[settled] = 0.0
    hessian[:, settled] = 0.0
    hessian.flat[:: len(hessian) + 1] = np.where(settled, 1.0, diagonal + ridge * np.maximum(diagonal, 1e-3))
    from scipy.linalg.lapack import dposv

    _, solution, info = dposv(hessian, -gradient)
    # Rounding can make a nearly singular matrix indefinite; elimination does not mind.
    return np.asarray(solution) if info == 0 else np.linalg.solve(hessian, -gradient)
