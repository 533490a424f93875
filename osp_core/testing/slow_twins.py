"""Slow, obvious solvers over a list of vertices, to compare fast predictions with."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_core.regularizers import GibbsEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_core.testing.report import NotApplicable


def brute_force_prediction(space: OutputSpace, vertices: Array, theta: Array) -> tuple[Array, float]:
    """Return argmax ⟨θ, y⟩ − Ψ(y) over the hull of the rows, and how accurate the answer is."""
    psi = space.psi
    if isinstance(psi, SquaredNorm):
        return hull_projection(vertices, theta / psi.scale), 1e-7
    if isinstance(psi, GibbsEntropy):
        return gibbs_marginals(vertices, theta / psi.scale), 1e-10
    if _has_value(psi, vertices[0]):
        return _maximise_over_weights(psi, vertices, theta), 2e-3
    if not (blocks := space.blocks()):
        raise NotApplicable(f"{type(psi).__name__} has no tractable value")
    point, accuracy = np.empty(space.dim), 0.0
    for block in blocks:
        rows = block.space.vertices()
        for at in block.coordinates:
            point[at], error = brute_force_prediction(block.space, rows, theta[at])
            accuracy = max(accuracy, error)
    return point, accuracy


def hull_projection(vertices: Array, point: Array) -> Array:
    """Return the Euclidean projection of `point` on the hull of the rows, by bounded least squares.

    min ‖Σ wᵢ(vᵢ − point)‖² + s²(Σ wᵢ − 1)² over w ≥ 0 has a multiple of the right weights as solution, for
    any s > 0: both terms only fix the sum of w, not its direction.
    """
    from scipy.optimize import lsq_linear

    shifted = vertices - point
    size = float(np.abs(shifted).max()) or 1.0
    system = np.vstack([shifted.T / size, np.ones(len(vertices))])
    # Not nnls: scipy's stops too early when many vertices are equally good.
    right_hand_side = np.append(np.zeros(vertices.shape[1]), 1.0)
    weights = lsq_linear(system, right_hand_side, bounds=(0.0, np.inf), method="bvls", tol=1e-15).x
    projected = np.asarray(weights @ vertices / weights.sum())
    descent = point - projected
    gap = float((vertices @ descent).max() - projected @ descent)
    if gap > 1e-9 * size**2:
        raise ArithmeticError(f"The slow projection of {point} is not optimal: its gap is {gap:.3g}.")
    return projected


def hull_distance(vertices: Array, point: Array) -> float:
    """Return the Euclidean distance of `point` from the hull of the rows."""
    return float(np.linalg.norm(hull_projection(vertices, point) - point))


def gibbs_marginals(vertices: Array, theta: Array) -> Array:
    """Return the mean of the rows under weights ∝ exp⟨θ, row⟩."""
    scores = vertices @ theta
    weights = np.exp(scores - scores.max())
    return np.asarray(weights @ vertices / weights.sum())


def _has_value(psi: Regularizer, y: Array) -> bool:
    try:
        psi.value(y)
    except UnsupportedError:
        return False
    return True


def _maximise_over_weights(psi: Regularizer, vertices: Array, theta: Array) -> Array:
    """Sequential quadratic programming over the weights of the vertices."""
    from scipy.optimize import minimize

    tiny = 1e-12  # entropies have no gradient at 0, some of them none at 1 either
    low = tiny if vertices.min() >= 0.0 else -np.inf
    high = 1.0 - tiny if vertices.max() <= 1.0 else np.inf

    def objective(weights: Array) -> tuple[float, Array]:
        y = np.clip(weights @ vertices, low, high)
        slope = np.asarray(psi.gradient(y)) - theta
        return float(psi.value(y)) - float(theta @ y), vertices @ slope

    count = len(vertices)
    found = minimize(
        objective,
        np.full(count, 1.0 / count),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * count,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(count)},
        options={"maxiter": 400, "ftol": 1e-14},
    )
    weights = np.maximum(found.x, 0.0)
    return np.asarray(weights @ vertices / weights.sum())
