"""Online gradient descent with a constant step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from osp_core.errors import GuaranteeError, InvalidInputError, as_positive
from osp_core.guarantees import Bound, SurrogateGap
from osp_core.learners.base import OnlineLearner, RunSummary
from osp_core.models import Gradient


class OGD(OnlineLearner):
    """W_{t+1} = W_t − η∇S_t(W_t), projected on a ball where one is given, [SBTO24, Prop. 6].

    Parameters
    ----------
    step_size : float, optional
        η. By default that of Thm 7, 2·min(1/2, a)/b; where there is no guarantee (a ≤ 0 or unknown), 1/b.
    radius : float, optional
        Keep W in the Frobenius ball of this radius; comparators must lie in it too.
    """

    def __init__(self, step_size: float | None = None, radius: float | None = None) -> None:
        self.step_size = None if step_size is None else as_positive(step_size, "step_size")
        self.radius = None if radius is None else as_positive(radius, "radius")
        self._eta = self.step_size

    def __repr__(self) -> str:
        return f"OGD(step_size={self.step_size}, radius={self.radius})"

    def start(self, shape: tuple[int, ...], *, gap: SurrogateGap | None = None) -> None:
        super().start(shape, gap=gap)
        if self.step_size is None:
            if gap is None:
                raise InvalidInputError("OGD takes its step from a SurrogateGap; give step_size=… to run without one.")
            self._eta = gap.step_size if gap.certified else 1.0 / gap.b

    @property
    def eta(self) -> float:
        """The step in use."""
        if self._eta is None:
            raise InvalidInputError("OGD has no step size before start().")
        return self._eta

    def update(self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None) -> None:
        self.rounds += 1
        self._move(gradient, -self.eta)
        if self.radius is not None:
            self._shrink_to_ball(self.radius)

    def bound(self, gap: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        """Thm 7 for the step that ran, with delays and inexact predictions accounted for."""
        if self.radius is not None and norm_U > self.radius:
            raise GuaranteeError(f"The comparator's norm {norm_U:.6g} exceeds the radius {self.radius:.6g} of the domain.")
        if self.radius is not None and run.delay:
            raise GuaranteeError("There is no bound for delayed feedback on a bounded domain; use OGD(radius=None).")
        exact = gap.expected_bound(norm_U, step_size=self.eta, delay=run.delay)
        if not run.total_gap:
            return exact
        # Σ E L ≤ (1 − a)·Σ(S̃ + g): what the predictions lack enters with the factor of ΣS(U).
        inexactness = exact.surrogate_factor * run.total_gap
        premises = (*exact.premises, f"predictions certified to a total gap of {run.total_gap:.3g}")
        return replace(exact, value=exact.value + inexactness, premises=premises)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "eta": self.eta}

    def load_state(self, state: Mapping[str, Any]) -> None:
        super().load_state(state)
        self._eta = as_positive(state["eta"], "eta of the state")
