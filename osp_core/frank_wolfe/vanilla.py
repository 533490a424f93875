"""The original Frank–Wolfe method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from osp_core.frank_wolfe.moves import move_towards
from osp_core.frank_wolfe.search import Search
from osp_core.frank_wolfe.step_rules import StepRule, default_step


@dataclass(frozen=True)
class Vanilla:
    """Every step goes towards the oracle's vertex [Frank & Wolfe 1956]; for reference.

    The gap falls like 1/t whenever the solution lies inside a face, so tolerances below 1e−4 are usually
    out of reach.

    Parameters
    ----------
    step : StepRule, optional
        By default exact for quadratic objectives, a secant search for others; `OpenLoop()` is
        the textbook rule.
    """

    step: StepRule | None = None
    default_tol: ClassVar[float] = 1e-4

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
            move_towards(search, view, stepper, answer.vertex)
