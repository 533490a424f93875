"""Online gradient descent that rests when nothing was lost."""

from __future__ import annotations

from dataclasses import replace

from osp_core import OGD, Bound, GuaranteeError, RunSummary, SurrogateGap
from osp_core.models import Gradient


class ConservativeOGD(OGD):
    """Like OGD, but W stays as it is in rounds whose expected target loss is zero.

    The bound of [SBTO24, Thm 7] stays true: it holds on the rounds that were learned from, and a round with
    E L = 0 adds E L − S(U) ≤ 0 to the regret, because S is never negative.
    """

    def __repr__(self) -> str:
        return f"ConservativeOGD(step_size={self.step_size}, radius={self.radius})"

    def update(
        self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None
    ) -> None:
        if expected_loss is not None and expected_loss <= 0.0:
            self._begin_round()
            return
        super().update(gradient, loss=loss, expected_loss=expected_loss)

    def bound(self, gap: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        if run.delay:
            raise GuaranteeError("ConservativeOGD has no bound for late feedback; use OGD.")
        bound = super().bound(gap, run, norm_U)
        return replace(bound, premises=(*bound.premises, "no update in rounds without expected loss"))

    # The argument above says nothing about W̄, nor about what was played: no bound rather than a wrong one.

    def high_probability_bound(self, gap: SurrogateGap, run: RunSummary, norm_U: float, delta: float) -> None:
        return None

    def online_to_batch_bound(self, gap: SurrogateGap, run: RunSummary, norm_U: float) -> None:
        return None
