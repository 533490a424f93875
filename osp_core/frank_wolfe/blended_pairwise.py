"""Blended pairwise conditional gradients, lazified: the default for objectives that are not quadratic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from osp_core.frank_wolfe.moves import move_pairwise, move_towards
from osp_core.frank_wolfe.search import Answer, Search, View
from osp_core.frank_wolfe.step_rules import StepRule, default_step

_ENOUGH = 0.5  # the part of the estimated gap that a direction must offer to be taken without asking


@dataclass(frozen=True)
class BlendedPairwise:
    """Pairwise steps inside the active set, Frank–Wolfe steps when they promise more [Tsuji et al. 2022].

    The lazy variant keeps an estimate of the gap and calls the oracle only when neither the active set nor
    the cache offers a direction of about that slope; an answer below it lowers the estimate
    [Braun, Pokutta & Zink 2019].

    Parameters
    ----------
    lazy : bool
        Whether to look for a direction before calling the oracle.
    step : StepRule, optional
        By default exact for quadratic objectives, a secant search for others.
    """

    lazy: bool = True
    step: StepRule | None = None
    default_tol: ClassVar[float] = 1e-9

    def run(self, search: Search) -> None:
        """Minimise; the verdict is left in `search.status`."""
        stepper = (self.step or default_step(search.objective)).begin(search.objective)
        estimate = np.inf if self.lazy else 0.0
        while search.proceed():
            view = search.look()
            if search.close_enough(view):
                return
            away, toward = int(np.argmax(view.slopes)), int(np.argmin(view.slopes))
            local = search.active.atoms.dense(toward)
            slope = float(view.slopes[away] - view.slopes[toward])
            if self.lazy and _is_real(search, view, away, slope) and slope >= _ENOUGH * estimate:
                move_pairwise(search, view, stepper, away, local)
                continue
            answer = self._recall(search, view, _ENOUGH * estimate)
            if answer is None:
                answer = search.ask(view)
                if search.settled(view, answer):
                    return
                if answer.gap < _ENOUGH * estimate:
                    estimate = min(answer.gap, estimate / 2)
            if slope >= (_ENOUGH * estimate if self.lazy else answer.gap):
                move_pairwise(search, view, stepper, away, local)
            else:
                move_towards(search, view, stepper, answer.vertex)

    def _recall(self, search: Search, view: View, enough: float) -> Answer | None:
        """Return a cached vertex that promises at least `enough`."""
        answer = search.recall(view) if self.lazy else None
        return answer if answer is not None and answer.gap >= enough else None


def _is_real(search: Search, view: View, away: int, slope: float) -> bool:
    """Whether a slope between two atoms is more than rounding."""
    return slope > search.rounding(view, view.point - search.active.atoms.dense(away))
