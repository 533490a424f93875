"""Wolfe's min-norm-point method: fully corrective, finite, the default for quadratic objectives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.frank_wolfe.blended_pairwise import BlendedPairwise
from osp_core.frank_wolfe.corral import Corral
from osp_core.frank_wolfe.objectives import Quadratic
from osp_core.frank_wolfe.search import Answer, Search, View

_ENOUGH = 0.25  # the part of the last certified gap that a cached vertex must offer
_PATIENCE = 50  # major cycles in a row without a decrease; near the solution half of them are noise


@dataclass(frozen=True)
class MinNormPoint:
    """The nearest point of a polytope to `centre`, by Wolfe's method [Wolfe 1976].

    Every major cycle adds the oracle's vertex to the corral, an affinely independent set of vertices, and
    moves to the point of its convex hull nearest to the centre; vertices whose weight becomes zero on the
    way are dropped. The result has at most dim + 1 atoms. The method ends after finitely many cycles, but
    their number can be exponential, so it gives way to `BlendedPairwise` from where it stands when there are
    too many of them, or when rounding stops its progress.

    Parameters
    ----------
    max_major : int, optional
        Major cycles before giving way; by default 1000 + 10·dim.
    """

    max_major: int | None = None
    default_tol: ClassVar[float] = 1e-12

    def run(self, search: Search) -> None:
        """Minimise; the verdict is left in `search.status`."""
        objective = search.objective
        if not isinstance(objective, Quadratic):
            raise InvalidInputError("MinNormPoint minimises Quadratic objectives only; use BlendedPairwise.")
        corral = Corral(search.active)
        corral.settle(objective)
        if self._major_cycles(search, corral, objective):
            return
        BlendedPairwise().run(search)
        if len(search.active) > search.active.dim + 1:
            Corral(search.active)  # Carathéodory: the same mean, but for rounding, with fewer atoms
            search.forget_certificate()

    def _major_cycles(self, search: Search, corral: Corral, objective: Quadratic) -> bool:
        """Run until settled or stopped; False when another method should take over."""
        limit = 1000 + 10 * search.active.dim if self.max_major is None else self.max_major
        idle, last_gap = 0, 0.0
        for _ in range(limit):
            if not search.proceed():
                return True
            view = _refined(search, corral, objective)
            if search.close_enough(view):
                return True
            answer = _recalled(search, view, _ENOUGH * last_gap)
            if answer is None:
                answer = search.ask(view)
                last_gap = answer.gap
                if search.settled(view, answer):
                    return True
            if not _enter(corral, objective, answer):
                return False
            idle = 0 if _decrease(view, search.active.mean) > 0.0 else idle + 1
            if idle == _PATIENCE:
                return False
        return False


def _refined(search: Search, corral: Corral, objective: Quadratic) -> View:
    """Look, after repeating the solve while its error is visible: cheaper than an oracle call."""
    view = search.look()
    for attempt in range(3):
        if _is_settled(search, view):
            break
        if attempt == 1:
            corral.refactor()
        corral.settle(objective)
        view = search.look()
    return view


def _is_settled(search: Search, view: View) -> bool:
    """Whether the slopes of all atoms are equal, as they are at the minimiser over the affine hull."""
    worst, best = int(np.argmax(view.slopes)), int(np.argmin(view.slopes))
    spread = float(view.slopes[worst] - view.slopes[best])
    if spread <= 0.1 * search.target(view):
        return True
    atoms = search.active.atoms
    return spread <= search.rounding(view, atoms.dense(worst) - atoms.dense(best))


def _recalled(search: Search, view: View, enough: float) -> Answer | None:
    """A cached vertex that promises more than `enough`, if there is one: it spares an oracle call."""
    answer = search.recall(view)
    if answer is None or search.active.find(answer.vertex) is not None:
        return None
    least = max(enough, search.target(view), search.rounding(view, view.point - answer.vertex))
    return answer if answer.gap > least else None


def _enter(corral: Corral, objective: Quadratic, answer: Answer) -> bool:
    """Bring the oracle's vertex into the corral and settle there; False when it cannot enter."""
    if corral.active.find(answer.vertex) is not None:
        return False
    if corral.push(answer.vertex):
        corral.settle(objective, corral.entering_step(answer.gap))
        return True
    if corral.pivot(answer.vertex):
        corral.settle(objective)
        return True
    return False


def _decrease(before: View, point: Array) -> float:
    """By how much the objective fell, computed without subtracting large values."""
    step = point - before.point
    return -float(before.gradient @ step) - 0.5 * float(step @ step)
