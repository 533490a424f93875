"""Frank–Wolfe with a nearest-extreme-point step, for 0/1 vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from osp_core.errors import InvalidInputError, OracleError
from osp_core.frank_wolfe.atoms import is_zero_one
from osp_core.frank_wolfe.moves import move_towards
from osp_core.frank_wolfe.search import Search
from osp_core.frank_wolfe.step_rules import StepRule, default_step


@dataclass(frozen=True)
class NearestExtremePoint:
    """Steps towards argmin_v ⟨g, v⟩ + (βη/2)‖v − x‖², the oracle of [Garber & Wolf 2021].

    For 0/1 vertices ‖v‖² = ⟨1, v⟩, so the oracle is one linear minimisation with cost g + (βη/2)(1 − 2x),
    where β is the smoothness and η = 2/(t + 2). This is the plain step with that oracle and a line search on
    top. It is not the linearly convergent variant of the same article: measured, its gap falls like 1/t, so
    it is here for reference and comparison.

    Parameters
    ----------
    smoothness : float, optional
        β; by default the one the objective declares.
    step : StepRule, optional
        By default exact for quadratic objectives, a secant search for others.
    """

    smoothness: float | None = None
    step: StepRule | None = None
    default_tol: ClassVar[float] = 1e-4

    def run(self, search: Search) -> None:
        """Minimise; the verdict is left in `search.status`."""
        stepper = (self.step or default_step(search.objective)).begin(search.objective)
        beta = self.smoothness or search.objective.smoothness
        if beta is None:
            raise InvalidInputError("NearestExtremePoint needs NearestExtremePoint(smoothness=…) here.")
        while search.proceed():
            view = search.look()
            if search.close_enough(view):
                return
            eta = 2.0 / (search.iterations + 1.0)
            vertex = search.vertex(view.gradient + 0.5 * beta * eta * (1.0 - 2.0 * view.point))
            if not is_zero_one(vertex):
                raise OracleError("NearestExtremePoint needs 0/1 vertices; use Pairwise or BlendedPairwise.")
            slope = float(view.gradient @ (view.point - vertex))
            if slope <= search.target(view):
                # Only now can the gap be small: it is at least this slope.
                answer = search.ask(view)
                if search.settled(view, answer):
                    return
                vertex = answer.vertex
            move_towards(search, view, stepper, vertex)
