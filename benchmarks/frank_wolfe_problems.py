"""The problems the Frank–Wolfe methods are compared on: projections of Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Project N(0, scale²) noise; `reference` is the number of LMO calls a fully corrective method needs."""

    name: str
    lmo: Callable[[Array], Array]
    dim: int
    scale: float
    reference: int | None = None

    def centre(self, seed: int) -> Array:
        return np.random.default_rng(seed).normal(0.0, self.scale, self.dim)


def birkhoff(n: int) -> Callable[[Array], Array]:
    rows = np.arange(n)

    def lmo(cost: Array) -> Array:
        vertex = np.zeros((n, n))
        vertex[rows, linear_sum_assignment(cost.reshape(n, n))[1]] = 1.0
        return vertex.ravel()

    return lmo


def k_subsets(k: int) -> Callable[[Array], Array]:
    def lmo(cost: Array) -> Array:
        vertex = np.zeros(cost.size)
        vertex[np.argpartition(cost, k - 1)[:k]] = 1.0
        return vertex

    return lmo


def hypercube(cost: Array) -> Array:
    return (cost < 0.0).astype(np.float64)


PROBLEMS = [
    Problem("Birkhoff 10, s=0.3", birkhoff(10), 100, 0.3, 39),
    Problem("Birkhoff 10, s=1", birkhoff(10), 100, 1.0, 17),
    Problem("Birkhoff 20, s=0.3", birkhoff(20), 400, 0.3),
    Problem("Birkhoff 20, s=1", birkhoff(20), 400, 1.0),
    Problem("Birkhoff 30, s=0.05", birkhoff(30), 900, 0.05, 338),
    Problem("Birkhoff 30, s=0.3", birkhoff(30), 900, 0.3, 152),
    Problem("Birkhoff 30, s=1", birkhoff(30), 900, 1.0, 72),
    Problem("Hypercube 100, s=1", hypercube, 100, 1.0, 29),
    Problem("10-subsets of 100, s=0.1", k_subsets(10), 100, 0.1, 60),
    Problem("50-subsets of 100, s=0.3", k_subsets(50), 100, 0.3, 57),
]
