"""Small constraint sets for the conformance kit: every kind of vertices, shapes, regularizers and norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from osp_core.regularizers import BinaryEntropy, NegativeEntropy, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_core.targets import AffineLoss


def examples(backend: str = "highs") -> tuple[OutputSpace, ...]:
    """Small instances that predict with the given solver; integer sets only for "highs"."""
    entropy = NegativeEntropy(1.0) if backend != "osqp" else SquaredNorm(2.0)
    linear = (_simplex(backend, psi=entropy, norm=1.0), _schedules(backend), _diamond(backend))
    if backend != "highs":
        return linear
    return (
        *linear,
        _matchings(backend),
        _segment(backend),
        _knapsack(),
        _knapsack(psi=BinaryEntropy(0.5), norm=1.0),
        _shares(),
        _trees(),
    )


def _polytope(constraints: Any, variable: Any, **options: Any) -> OutputSpace:
    from osp_polytope.factory import polytope

    return polytope(constraints, variable, **options)


def _simplex(solver: str, **options: Any) -> OutputSpace:
    import cvxpy as cp

    y = cp.Variable(4, nonneg=True)
    return _polytope([cp.sum(y) == 1], y, solver=solver, **options)


def _matchings(solver: str) -> OutputSpace:
    import cvxpy as cp

    y = cp.Variable((3, 3), nonneg=True)
    return _polytope([cp.sum(y, axis=0) == 1, cp.sum(y, axis=1) == 1], y, solver=solver)


def _schedules(solver: str) -> OutputSpace:
    """Three jobs share 3.5 hours, none more than 2: vertices have fractional entries."""
    import cvxpy as cp

    hours = cp.Variable(3)
    return _polytope([hours >= 0, hours <= 2, cp.sum(hours) <= 3.5], hours, solver=solver, target=_lateness())


def _lateness() -> AffineLoss:
    # Linear in the played output, zero at the truth and never negative: the truth weighs hours it does not
    # use.
    return AffineLoss(_cost_of_hours, _offset_of_hours, name="lateness")


def _cost_of_hours(y: np.ndarray) -> np.ndarray:
    return np.where(y <= 0, 1.0, np.where(y >= 2, -1.0, 0.0)) / y.size


def _offset_of_hours(y: np.ndarray) -> float:
    return -float(_cost_of_hours(y) @ y)


def _diamond(solver: str) -> OutputSpace:
    """The ℓ1 ball: a piecewise linear constraint, hence auxiliary variables, and negative entries."""
    import cvxpy as cp

    y = cp.Variable(3)
    return _polytope([cp.norm1(y) <= 1], y, solver=solver)


def _segment(solver: str) -> OutputSpace:
    """Empty interior: two outputs, (⅓, 0) and (⅓, 1)."""
    import cvxpy as cp

    y = cp.Variable(2)
    return _polytope([y[0] == 1 / 3, y[1] >= 0, y[1] <= 1], y, solver=solver)


def _knapsack(**options: Any) -> OutputSpace:
    import cvxpy as cp

    items = cp.Variable(6, boolean=True)
    return _polytope([np.array([3, 4, 5, 6, 7, 9]) @ items <= 14], items, **options)


def _shares() -> OutputSpace:
    """Whole units for three customers: integer points, some of them inside the hull."""
    import cvxpy as cp

    units = cp.Variable(3, integer=True)
    return _polytope([units >= 0, units <= 3, np.array([2, 3, 1]) @ units <= 7], units)


def _trees() -> OutputSpace:
    """Spanning trees of a square with a diagonal, by a flow from its first corner."""
    import cvxpy as cp

    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    chosen = cp.Variable(len(edges), boolean=True)
    flow = cp.Variable((2, len(edges)), nonneg=True)
    incidence = np.zeros((4, len(edges)))
    for number, (tail, head) in enumerate(edges):
        incidence[tail, number], incidence[head, number] = -1.0, 1.0
    supply = np.array([-3.0, 1.0, 1.0, 1.0])
    return _polytope(
        [cp.sum(chosen) == 3, incidence @ (flow[0] - flow[1]) == supply, flow[0] + flow[1] <= 3 * chosen],
        chosen,
    )
