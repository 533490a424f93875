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

FEASIBLE = 1e-9  # how far a part of the answer may be from its polytope
_VISIBLE = 1e-10  # how far above its projection an entry counts as too large


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
        result = minimize(_minor_oracle(space, basis, kept), Quadratic(values))
        calls += result.lmo_calls
        excess = values - result.point
        if excess.max() <= FEASIBLE:
            continue
        tight = space.closure(np.concatenate([contracted, kept[excess > _VISIBLE]]))
        inside = np.isin(kept, tight)
        if inside.all() or result.status is not Status.OPTIMAL:
            raise NumericalError(
                f"The entropic prediction over {space!r} is outside its polytope by {excess.max():.3g}, too "
                "little to tell where. Scale the scores down, or use psi=SquaredNorm()."
            )
        parts.append((contracted, kept[inside]))
        parts.append((np.concatenate([contracted, kept[inside]]), kept[~inside]))
    return point, slopes, calls


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
