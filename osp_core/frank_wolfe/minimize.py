"""The entry point of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, as_count, as_positive
from osp_core.frank_wolfe.blended_pairwise import BlendedPairwise
from osp_core.frank_wolfe.min_norm_point import MinNormPoint
from osp_core.frank_wolfe.objectives import Objective, Quadratic
from osp_core.frank_wolfe.oracle import Oracle, VertexCache
from osp_core.frank_wolfe.result import Result
from osp_core.frank_wolfe.search import Limits, Progress, Search
from osp_core.frank_wolfe.start import starting_set
from osp_core.geometry.combinations import ConvexCombination


class Method(Protocol):
    """An algorithm: `run` works on the search until it is settled or out of budget."""

    @property
    def default_tol(self) -> float: ...

    def run(self, search: Search) -> None: ...


def minimize(
    lmo: Callable[[Array], ArrayLike] | Oracle,
    objective: Objective,
    *,
    method: Method | None = None,
    start: ConvexCombination | Result | None = None,
    dim: int | None = None,
    tol: float | None = None,
    distance_tol: float | None = None,
    max_iter: int = 100_000,
    time_limit: float | None = None,
    cache: VertexCache | None = None,
    callback: Callable[[Progress], object] | None = None,
    trajectory: bool = False,
) -> Result:
    """Minimise a smooth convex function over the convex hull of the vertices a linear oracle returns.

    Parameters
    ----------
    lmo : callable or Oracle
        Takes a cost vector and returns a vertex *minimising* ⟨cost, v⟩. Wrap it in `Oracle` to have its
        answers checked against 0/1 entries or a test of your own.
    objective : Quadratic or Smooth
    method : optional
        `MinNormPoint()` for `Quadratic`, `BlendedPairwise()` otherwise.
    start : ConvexCombination or Result, optional
        Where to begin, for instance the combination of an earlier run; by default a vertex.
    dim : int, optional
        Length of the vertices; needed only for `Smooth` without `start`.
    tol : float, optional
        Stop when gap ≤ tol·(1 + |f|); by default 1e−12 for `MinNormPoint`, which ends exactly, 1e−9
        for the other linearly convergent methods and 1e−4 for the rest. For `Quadratic` the run goes on until
        gap ≤ tol·(1 + ½‖y‖²), where rounding permits, so that a large centre does not loosen the tolerance.
    distance_tol : float, optional
        For `Quadratic`: stop when ‖y − centre‖ ≤ distance_tol instead, to write a point of the hull as a
        combination of vertices. A centre outside the hull ends in `STALLED`.
    max_iter : int
        Steps at most.
    time_limit : float, optional
        Seconds, checked between steps.
    cache : VertexCache, optional
        Vertices from earlier calls on the same set, for methods that can use them.
    callback : callable, optional
        Called with a `Progress` after every step; a true return value stops the run.
    trajectory : bool
        Whether to record (iteration, LMO calls, seconds, gap) whenever the gap is certified.

    Returns
    -------
    Result
        Always feasible, with its certificate, whatever the status says.
    """
    oracle = lmo if isinstance(lmo, Oracle) else Oracle(lmo)
    method = method or _default_method(objective)
    limits = Limits(
        tol=method.default_tol if tol is None else _as_tolerance(tol, "tol"),
        distance_tol=_distance(distance_tol, objective),
        max_iter=as_count(max_iter, "max_iter", least=0),
        time_limit=None if time_limit is None else as_positive(time_limit, "time_limit"),
        callback=callback,
        trajectory=trajectory,
    )
    search = Search(oracle, objective, limits, cache)
    search.active = starting_set(search, start, dim)
    method.run(search)
    return search.result()


def _default_method(objective: Objective) -> Method:
    return MinNormPoint() if isinstance(objective, Quadratic) else BlendedPairwise()


def _as_tolerance(value: float, name: str) -> float:
    if not (np.isfinite(value) and value >= 0):
        raise InvalidInputError(f"{name} must be non-negative and finite, got {value}.")
    return float(value)


def _distance(distance_tol: float | None, objective: Objective) -> float | None:
    if distance_tol is None:
        return None
    if not isinstance(objective, Quadratic):
        raise InvalidInputError(
            "distance_tol is for Quadratic objectives, which have a centre to be near to."
        )
    return _as_tolerance(distance_tol, "distance_tol")
