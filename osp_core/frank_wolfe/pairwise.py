"""Pairwise Frank–Wolfe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from osp_core.frank_wolfe.moves import move_pairwise
from osp_core.frank_wolfe.search import Search
from osp_core.frank_wolfe.step_rules import StepRule, default_step


@dataclass(frozen=True)
class Pairwise:
    """Every step moves weight from the worst atom to the oracle's vertex [Lacoste-Julien & Jaggi 2015].

    Converges linearly for strongly convex objectives, with one oracle call a step.

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
            move_pairwise(search, view, stepper, int(np.argmax(view.slopes)), answer.vertex)
