"""Entropic predictions over any matroid, by decomposition.

Σ y ln y − ⟨θ, y⟩ is minimised over a matroid's polytope by splitting it [Fujishige 1980; Groenevelt 1991]:
ignore all constraints but the total, find the set whose rank the result exceeds the most, and go on with the
matroid on that set and with the one that is left when the set is contracted. The set shows in the Euclidean
projection of the result, whose entries add up to a rank: the Frank–Wolfe engine finds it at every scale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array
from osp_core.frank_wolfe import Quadratic, minimize
from osp_core.frank_wolfe.result import Status
from osp_core.predictions import Prediction

if TYPE_CHECKING:
    from osp_matroids.space import Indices, MatroidSpace

FEASIBLE = 1e-9  # how far a part of the answer may be from its polytope
_VISIBLE = 1e-10  # how far above its projection an entry counts as too large


def entropic_prediction(space: MatroidSpace, theta: Array) -> Prediction:
    """Return the minimiser over the bases or the independent sets, with its Frank–Wolfe gap."""
    slopes, calls, status = _slopes(space, theta)
    if not space.bases:
        # Where the derivative would be positive, the minimum is reached before the capacity is.
        slopes = np.minimum(slopes, 0.0)
    point = np.exp(np.minimum(theta + slopes - 1.0, 0.0))
    point[space.loops] = slopes[space.loops] = 0.0
    # The derivatives ln y + 1 − θ are known even where y underflows.
    gap = float(slopes @ (point - space.lmo(slopes)))
    return Prediction(point, None, max(gap, 0.0), status, calls + 1)


def _slopes(space: MatroidSpace, theta: Array) -> tuple[Array, int, Status]:
    """ln y + 1 − θ at the minimiser over the bases, the oracle calls spent, and how it ended."""
    slopes, calls, status = np.zeros(space.dim), 0, Status.OPTIMAL
    nothing = np.empty(0, dtype=np.intp)
    parts: list[tuple[Indices, Indices]] = [(nothing, np.flatnonzero(~space.loops))]
    while parts:
        contracted, kept = parts.pop()
        basis = space.greedy(contracted)
        rank = len(space.greedy(np.concatenate([basis, kept]))) - len(basis)
        if rank == len(kept):  # no choice: y = 1
            slopes[kept] = 1.0 - theta[kept]
            continue
        # With nothing but Σ y = rank to obey, y is a multiple of exp θ.
        log_total = np.logaddexp.reduce(theta[kept])
        slopes[kept] = 1.0 + np.log(rank) - log_total
        values = rank * np.exp(theta[kept] - log_total)
        result = minimize(_minor_oracle(space, basis, kept), Quadratic(values))
        calls += result.lmo_calls
        excess = values - result.point
        if excess.max() <= FEASIBLE:
            continue
        tight = space.closure(np.concatenate([contracted, kept[excess > _VISIBLE]]))
        inside = np.isin(kept, tight)
        if inside.all() or result.status is not Status.OPTIMAL:
            status = Status.STALLED  # the projection is too inaccurate to tell where to split
            continue
        parts.append((contracted, kept[inside]))
        parts.append((np.concatenate([contracted, kept[inside]]), kept[~inside]))
    return slopes, calls, status


def _minor_oracle(space: MatroidSpace, basis: Indices, kept: Indices) -> Callable[[Array], Array]:
    """The greedy oracle of the matroid on `kept` with the span of `basis` contracted."""
    place = np.zeros(space.dim, dtype=np.intp)
    place[kept] = np.arange(len(kept))

    def oracle(cost: Array) -> Array:
        order = kept[np.argsort(cost, kind="stable")]
        chosen = space.greedy(np.concatenate([basis, order]))[len(basis) :]
        vertex = np.zeros(len(kept))
        vertex[place[chosen]] = 1.0
        return vertex

    return oracle
