"""Slow, obvious twins of what the library computes fast: everything by going through all vertices."""

import itertools

import numpy as np
from scipy.optimize import minimize

from osp_core.testing.slow_twins import gibbs_marginals, hull_distance, hull_projection

__all__ = [
    "binary_entropic_prediction",
    "cheapest",
    "closest_pair",
    "diameter",
    "entropic_prediction",
    "gibbs_marginals",
    "hull_distance",
    "hull_projection",
    "log_partition",
    "nearest",
    "zero_one_points",
]


def cheapest(vertices, cost):
    """The least value of ⟨cost, y⟩."""
    return min(float(vertex @ cost) for vertex in vertices)


def nearest(vertices, point, p=2.0):
    """The least ℓp distance of a vertex from `point`."""
    return min(float(np.linalg.norm(vertex - point, ord=p)) for vertex in vertices)


def closest_pair(vertices, p=2.0):
    """ν: the least ℓp distance of two vertices."""
    return min(float(np.linalg.norm(u - v, ord=p)) for u, v in itertools.combinations(vertices, 2))


def diameter(vertices, p=2.0):
    """The greatest ℓp distance of two vertices."""
    return max(
        (float(np.linalg.norm(u - v, ord=p)) for u, v in itertools.combinations(vertices, 2)), default=0.0
    )


def log_partition(vertices, theta):
    """log Σ exp⟨θ, y⟩."""
    scores = [float(vertex @ theta) for vertex in vertices]
    return max(scores) + float(np.log(sum(np.exp(score - max(scores)) for score in scores)))


def entropic_prediction(vertices, theta, scale=1.0):
    """argmax ⟨θ, y⟩ − scale·Σ yᵢ ln yᵢ over the hull, to about 1e−4."""
    return _maximise(
        vertices,
        lambda y: theta @ y - scale * np.sum(y * np.log(y)),
        lambda y: theta - scale * (np.log(y) + 1.0),
        upper=np.inf,
    )


def binary_entropic_prediction(vertices, theta, scale=1.0):
    """argmax ⟨θ, y⟩ − scale·Σ (yᵢ ln yᵢ + (1−yᵢ) ln(1−yᵢ)) over the hull, to about 1e−4."""
    return _maximise(
        vertices,
        lambda y: theta @ y - scale * np.sum(y * np.log(y) + (1.0 - y) * np.log(1.0 - y)),
        lambda y: theta - scale * (np.log(y) - np.log(1.0 - y)),
        upper=1.0,
    )


def zero_one_points(dim):
    """All of {0, 1}^dim, one a row."""
    return np.array(list(itertools.product([0.0, 1.0], repeat=dim)))


def _maximise(vertices, value, gradient, upper):
    """Sequential quadratic programming over the weights of the vertices."""
    count, tiny = len(vertices), 1e-10

    def objective(weights):
        y = np.clip(weights @ vertices, tiny, upper - tiny)
        return -value(y), -vertices @ gradient(y)

    found = minimize(
        objective,
        np.full(count, 1.0 / count),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * count,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(count)},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    weights = np.maximum(found.x, 0.0)
    return weights @ vertices / weights.sum()
