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

from osp_core.errors import Array, NumericalError
from osp_core.frank_wolfe import Quadratic, minimize
from osp_core.geometry.offsets import without_offset
from osp_core.geometry.predictions import Prediction
from osp_core.geometry.status import Status

if TYPE_CHECKING:
    from osp_matroids.space import Indices, MatroidSpace

_ROUNDING = 1e-13  # how far a set may exceed its rank, relative to that of all elements
_APART = 1e-9  # a point that is further from its projection is outside


def entropic_prediction(space: MatroidSpace, theta: Array) -> Prediction:
    """Return the minimiser over the bases or the independent sets, with its Frank–Wolfe gap."""
    if space.bases:
        theta = without_offset(theta)
    point, slopes, calls = _over_bases(space, theta)
    if not space.bases:
        # Where the derivative would be positive, the minimum is reached before the capacity is.
        point = np.where(slopes > 0.0, np.exp(np.minimum(theta - 1.0, 0.0)), point)
        slopes = np.minimum(slopes, 0.0)
    point[space.loops] = slopes[space.loops] = 0.0
    # The derivatives ln y + 1 − θ are known even where y underflows.
    gap = float(slopes @ (point - space.lmo(slopes)))
    return Prediction(point, None, max(gap, 0.0), Status.OPTIMAL, calls + 1)


def _over_bases(space: MatroidSpace, theta: Array) -> tuple[Array, Array, int]:
    """The minimiser y over the bases, ln y + 1 − θ there, and the oracle calls spent."""
    point, slopes, calls = np.zeros(space.dim), np.zeros(space.dim), 0
    nothing = np.empty(0, dtype=np.intp)
    parts: list[tuple[Indices, Indices]] = [(nothing, np.flatnonzero(~space.loops))]
    while parts:
        contracted, kept = parts.pop()
        basis = space.greedy(contracted)
        rank = len(space.greedy(np.concatenate([basis, kept]))) - len(basis)
        if rank == len(kept):  # no choice: y = 1
            point[kept], slopes[kept] = 1.0, 1.0 - theta[kept]
            continue
        # With nothing but Σ y = rank to obey, y is a multiple of exp θ.
        best = theta[kept].max()
        log_total = np.logaddexp.reduce(theta[kept] - best)
        values = rank * np.exp(theta[kept] - best - log_total)
        point[kept], slopes[kept] = np.minimum(values, 1.0), 1.0 + np.log(rank) - log_total - best
        oracle = _minor_oracle(space, basis, kept)
        result = minimize(oracle, Quadratic(values))
        calls += result.lmo_calls + 1
        excess = values - result.point
        fullest, overflow = _fullest_set(oracle, values, excess)
        if overflow > _ROUNDING * rank:
            inside = np.isin(kept, space.closure(np.concatenate([contracted, kept[fullest]])))
            parts.append((contracted, kept[inside]))
            parts.append((np.concatenate([contracted, kept[inside]]), kept[~inside]))
        elif excess.max() > _APART:
            raise NumericalError(
                f"The entropic prediction over {space!r} is outside its polytope by {excess.max():.3g}, too "
                "little to tell where. Scale the scores down, or use psi=SquaredNorm()."
            )
    return point, slopes, calls


def _fullest_set(oracle: Callable[[Array], Array], values: Array, excess: Array) -> tuple[Indices, float]:
    """The set whose values exceed its rank the most, and by how much.

    It is a level set of what the values exceed their projection by. Comparing sums with ranks, one oracle
    call for all levels, is exact to rounding, which the projection is not.
    """
    order = np.argsort(-excess, kind="stable")
    # Greedy by falling excess picks an element wherever the rank of the level set grows.
    overflows = np.cumsum((values - oracle(-excess))[order])
    last = int(np.argmax(overflows))
    return order[: last + 1], float(overflows[last])


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
