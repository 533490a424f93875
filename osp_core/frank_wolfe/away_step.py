"""Away-step Frank–Wolfe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from osp_core.frank_wolfe.moves import move_away, move_towards
from osp_core.frank_wolfe.search import Search
from osp_core.frank_wolfe.step_rules import StepRule, default_step


@dataclass(frozen=True)
class AwayStep:
    """Towards the oracle's vertex or away from the worst atom, whichever is steeper.

    Converges linearly for strongly convex objectives [Guélat & Marcotte 1986; Lacoste-Julien & Jaggi 2015].

    Parameters
    ----------
    step : StepRule, optional
        By default exact for quadratic objectives, a secant search for others.
    """

    step: StepRule | None = None
    default_tol: ClassVar[float] = 1e-9

    def run(self, search: Search) -> None:
        """Minimise; the verdict is left in `search.status`."""
        stepper = (self.step or default_step(search.objective)).begin(search.objective)
        while search.proceed():
            view = search.look()
            if search.close_enough(view):
                return
            answer = search.ask(view)
            if search.settled(view, answer):
                return
            worst = int(np.argmax(view.slopes))
            away_gap = float(view.slopes[worst] - search.active.weights @ view.slopes)
            if answer.gap >= away_gap:
                move_towards(search, view, stepper, answer.vertex)
            else:
                move_away(search, view, stepper, worst)
