"""Where a run begins: an earlier combination, a vertex, or a point with positive entries."""

from __future__ import annotations

import numpy as np

from osp_core.errors import InvalidInputError
from osp_core.frank_wolfe.active_set import ActiveSet
from osp_core.frank_wolfe.objectives import Quadratic
from osp_core.frank_wolfe.result import Result
from osp_core.frank_wolfe.search import Search
from osp_core.geometry.combinations import ConvexCombination


def starting_set(search: Search, start: ConvexCombination | Result | None, dim: int | None) -> ActiveSet:
    """Return the first active set."""
    known = search.objective.centre.size if isinstance(search.objective, Quadratic) else None
    dim = known if dim is None else dim
    if start is not None:
        return _warm(search, start, dim)
    if dim is None:
        raise InvalidInputError("Give dim, the length of the vertices, or a start.")
    if known is not None and known != dim:
        raise InvalidInputError(f"dim is {dim}, but the centre has length {known}.")
    return _interior(search, dim) if search.objective.positive else _vertex(search, dim)


def _warm(search: Search, start: ConvexCombination | Result, dim: int | None) -> ActiveSet:
    combination = start.combination if isinstance(start, Result) else start
    if dim is not None and combination.atoms.shape[1] != dim:
        raise InvalidInputError(f"start has vertices of length {combination.atoms.shape[1]}, expected {dim}.")
    active = ActiveSet.from_combination(combination)
    if search.objective.positive and active.mean.min() <= 0.0:
        where = int(np.argmin(active.mean))
        raise InvalidInputError(
            f"This objective needs positive entries, but start has {active.mean[where]} at index {where}; "
            "leave start out to begin inside the set."
        )
    return active


def _vertex(search: Search, dim: int) -> ActiveSet:
    """The cheapest vertex for the gradient at zero, or any vertex when that is not known to exist."""
    objective = search.objective
    cost = -objective.centre if isinstance(objective, Quadratic) else np.zeros(dim)
    active = ActiveSet(dim)
    active.add(search.vertex(cost), 1.0)
    return active


def _interior(search: Search, dim: int) -> ActiveSet:
    """The mean of vertices that together are positive in every coordinate."""
    active = ActiveSet(dim)
    covered = np.zeros(dim)
    while not covered.all():
        # All uncovered coordinates at once: usually a handful of calls instead of one per coordinate.
        vertex = search.vertex(-(covered == 0.0).astype(np.float64))
        if not (vertex[covered == 0.0] > 0.0).any():
            where = int(np.argmin(covered))
            raise InvalidInputError(
                f"Every vertex is zero at index {where}, where the objective needs positive entries; leave "
                "that coordinate out of the problem."
            )
        covered = np.maximum(covered, vertex > 0.0)
        active.add(vertex, 1.0)
    active.normalise()
    return active
