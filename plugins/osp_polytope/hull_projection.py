"""Euclidean projection on the hull of integer points with as few branch-and-bound runs as possible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from osp_core.errors import Array
from osp_core.frank_wolfe import Quadratic, Status, VertexCache, minimize
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction

_TOLERANCE = 1e-12  # relative gap, as for every projection
_ROUNDS = 10_000


def project_on_hull(
    point: Array, lmo: Callable[[Array], Array], cache: VertexCache, tol: float | None
) -> Prediction:
    """Project with the points that memory and local search offer, then ask the oracle for better ones.

    The oracle's answer either certifies the projection or is a new point to go on with, so it is called
    once more often than local search fails.
    """
    tol = _TOLERANCE if tol is None else tol
    calls = 0
    if (known := cache.cheapest(-point)) is None:
        known, calls = lmo(-point), 1
        cache.add(known)
    combination = ConvexCombination(known[np.newaxis], np.ones(1))
    offered: set[bytes] = set()
    for _ in range(_ROUNDS):
        for vertex in combination.vertices:
            cache.add(vertex)  # what is in use must not be forgotten
        result = minimize(lambda cost: _recalled(cache, cost), Quadratic(point), tol=tol, start=combination)
        combination, slope = result.combination, result.point - point
        vertex, calls = lmo(slope), calls + 1
        gap = max(result.gap, float(slope @ (result.point - vertex)), _rounding(slope, result.point))
        enough = tol * (1.0 + 0.5 * float(result.point @ result.point))
        if gap <= enough or vertex.tobytes() in offered:
            break  # what the oracle offers twice cannot be used in floating point
        offered.add(vertex.tobytes())
        cache.add(vertex)
    status = Status.OPTIMAL if gap <= tol * (1.0 + 0.5 * float(slope @ slope)) else Status.STALLED
    return Prediction(result.point, combination, gap, status, calls)


def _rounding(slope: Array, point: Array) -> float:
    """What a gap is known to: of several vertices so near to the best, the solver's history chooses one."""
    return 1e-15 * (1.0 + float(np.abs(slope).max()) * float(np.abs(point).sum()))


def _recalled(cache: VertexCache, cost: Array) -> Array:
    vertex = cache.cheapest(cost)
    assert vertex is not None
    return vertex
