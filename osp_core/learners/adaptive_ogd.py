"""Online gradient descent with a step that adapts to the gradients seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import as_positive
from osp_core.guarantees import Bound
from osp_core.learners.base import RunSummary
from osp_core.learners.rule_learner import RuleLearner
from osp_core.learners.run_premises import require_inside, require_no_delay, to_batch, with_high_probability
from osp_core.learners.states import number
from osp_core.learners.step_sizes import Rule, adaptive_step, every, one
from osp_core.surrogates.surrogate_gap import SurrogateGap


class AdaptiveOGD(RuleLearner):
    """η_t = B/√(2Σ_{i≤t}‖∇S_i(W_i)‖²) on the ball of radius B/2, [SBTO24, App. D.1].

    The paper's formula sums to T, which nobody knows in round t; this is the causal step its proof needs.

    Parameters
    ----------
    diameter : float
        B. Comparators must lie in the ball of radius B/2.
    """

    bounded = True
    rule = Rule(adaptive_step, multiplier=one, admits=every)

    def __init__(self, diameter: float) -> None:
        self.diameter = as_positive(diameter, "diameter")
        self._numbers = np.array([self.diameter, 0.0])

    def __repr__(self) -> str:
        return f"AdaptiveOGD(diameter={self.diameter:g})"

    def start(self, shape: tuple[int, ...], *, certificate: SurrogateGap | None = None) -> None:
        super().start(shape, certificate=certificate)
        self._numbers = np.array([self.diameter, 0.0])

    @property
    def ball(self) -> float:
        return self.diameter / 2.0

    def bound(self, certificate: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        require_inside(norm_U, self.diameter / 2.0)
        require_no_delay(run, "AdaptiveOGD")
        return certificate.adaptive_bound(self.diameter).for_inexact_predictions(run.total_gap)

    def high_probability_bound(
        self, certificate: SurrogateGap, run: RunSummary, norm_U: float, delta: float
    ) -> Bound:
        return with_high_probability(lambda reduced: self.bound(reduced, run, norm_U), certificate, delta)

    def online_to_batch_bound(self, certificate: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        return to_batch(self.bound(certificate, run, norm_U), run)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "squared_gradients": float(self._numbers[1])}

    def _read_numbers(self, state: Mapping[str, Any]) -> list[float]:
        return [self.diameter, number(state, "squared_gradients", least=0.0)]
