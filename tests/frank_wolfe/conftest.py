"""Tiny linear oracles and slow, obvious solvers to test the engine against."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment


def hypercube(cost):
    return (cost < 0).astype(float)


def k_subsets(k):
    def cheapest_subset(cost):
        vertex = np.zeros(cost.size)
        vertex[np.argsort(cost, kind="stable")[:k]] = 1.0
        return vertex

    return cheapest_subset


def birkhoff(n):
    def cheapest_assignment(cost):
        rows, columns = linear_sum_assignment(cost.reshape(n, n))
        vertex = np.zeros((n, n))
        vertex[rows, columns] = 1.0
        return vertex.ravel()

    return cheapest_assignment


def spanning_trees(n, edges):
    def cheapest_tree(cost):
        """Kruskal with the components as labels."""
        label = list(range(n))
        vertex = np.zeros(len(edges))
        for edge in np.argsort(cost, kind="stable"):
            a, b = label[edges[edge][0]], label[edges[edge][1]]
            if a != b:
                vertex[edge] = 1.0
                label = [a if each == b else each for each in label]
        return vertex

    return cheapest_tree


def vertex_list(vertices):
    vertices = np.asarray(vertices, dtype=float)
    return lambda cost: vertices[int(np.argmin(vertices @ cost))].copy()


def complete_graph(n):
    return list(itertools.combinations(range(n), 2))


def project_k_subsets(centre, k):
    """Bisection on the threshold of clip(centre − τ, 0, 1)."""
    low, high = centre.min() - 1.0, centre.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.clip(centre - middle, 0, 1).sum() > k else (low, middle)
    return np.clip(centre - 0.5 * (low + high), 0, 1)


def project_hull(vertices, centre):
    """Try the affine hull of every small subset: the projection is the nearest feasible candidate."""
    best, best_distance = None, np.inf
    most = min(len(vertices), vertices.shape[1] + 1)
    for size in range(1, most + 1):
        for subset in itertools.combinations(range(len(vertices)), size):
            chosen = vertices[list(subset)]
            differences = chosen[1:] - chosen[0]
            tail = (
                np.linalg.lstsq(differences.T, centre - chosen[0], rcond=None)[0] if size > 1 else np.empty(0)
            )
            weights = np.concatenate([[1.0 - tail.sum()], tail])
            candidate = weights @ chosen
            distance = np.linalg.norm(candidate - centre)
            if weights.min() >= -1e-9 and distance < best_distance:
                best, best_distance = candidate, distance
    return best


class Counted:
    """An oracle that counts its calls."""

    def __init__(self, lmo):
        self.lmo, self.calls = lmo, 0

    def __call__(self, cost):
        self.calls += 1
        return self.lmo(cost)


def check_result(result, *, tol=1e-10):
    """Assert everything a result promises whatever its status."""
    combination = result.combination
    vertices = combination.vertices
    assert np.isfinite(result.point).all()
    assert np.isfinite(result.gap)
    assert result.gap >= 0.0
    assert combination.weights.min() > 0.0
    assert abs(combination.weights.sum() - 1.0) <= 1e-12
    assert np.abs(combination.weights @ vertices - result.point).max(initial=0.0) <= tol * (
        1 + np.abs(vertices).max()
    )
    assert len({row.tobytes() for row in np.round(vertices, 9) + 0.0}) == len(vertices)


@pytest.fixture(scope="session")
def fw():
    """The helpers of this file, as one namespace."""
    return SimpleNamespace(**{name: value for name, value in globals().items() if callable(value)})
