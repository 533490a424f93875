"""Online gradient descent with a constant step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError, as_positive
from osp_core.guarantees import Bound
from osp_core.learners.base import RunSummary
from osp_core.learners.rule_learner import RuleLearner
from osp_core.learners.run_premises import require_inside, require_no_delay, to_batch
from osp_core.learners.states import number
from osp_core.learners.step_sizes import Rule, constant_step, every, one
from osp_core.surrogates.surrogate_gap import SurrogateGap


class OGD(RuleLearner):
    """W_{t+1} = W_t − η∇S_t(W_t), projected on a ball where one is given, [SBTO24, Prop. 6].

    Parameters
    ----------
    step_size : float, optional
        η. By default that of Thm 7, 2·min(1/2, a)/b; where there is no guarantee (a ≤ 0 or unknown), 1/b.
    radius : float, optional
        Keep W in the Frobenius ball of this radius; comparators must lie in it too.
    """

    rule = Rule(constant_step, multiplier=one, admits=every)

    def __init__(self, step_size: float | None = None, radius: float | None = None) -> None:
        self.step_size = None if step_size is None else as_positive(step_size, "step_size")
        self.radius = None if radius is None else as_positive(radius, "radius")
        self.bounded = radius is not None
        self._numbers = np.array([np.nan if self.step_size is None else self.step_size])

    def __repr__(self) -> str:
        return f"OGD(step_size={self.step_size}, radius={self.radius})"

    def start(self, shape: tuple[int, ...], *, certificate: SurrogateGap | None = None) -> None:
        eta = self.step_size
        if eta is None:
            if certificate is None:
                raise InvalidInputError(
                    "OGD takes its step from a SurrogateGap; give step_size=… to run without one."
                )
            eta = certificate.step_size if certificate.certified else 1.0 / certificate.b
        super().start(shape, certificate=certificate)
        self._numbers = np.array([eta])

    @property
    def eta(self) -> float:
        """The step in use."""
        if np.isnan(self._numbers[0]):
            raise InvalidInputError("OGD has no step size before start().")
        return float(self._numbers[0])

    @property
    def ball(self) -> float:
        return math.inf if self.radius is None else self.radius

    def bound(self, certificate: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        """Thm 7 for the step that ran, with delays and inexact predictions accounted for."""
        self._check_domain(run, norm_U)
        exact = certificate.expected_bound(norm_U, step_size=self.eta, delay=run.delay)
        return exact.for_inexact_predictions(run.total_gap)

    def high_probability_bound(
        self, certificate: SurrogateGap, run: RunSummary, norm_U: float, delta: float
    ) -> Bound:
        """Thm 8 in its anytime form, for the step that ran."""
        self._check_domain(run, norm_U)
        exact = certificate.high_probability_bound(
            norm_U, delta, form="anytime", step_size=self.eta, delay=run.delay
        )
        return exact.for_inexact_predictions(run.total_gap)

    def online_to_batch_bound(self, certificate: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        """Thm 11 for the step that ran."""
        return to_batch(self.bound(certificate, run, norm_U), run)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "eta": self.eta}

    def _read_numbers(self, state: Mapping[str, Any]) -> list[float]:
        return [number(state, "eta", least=math.ulp(0.0))]

    def _check_domain(self, run: RunSummary, norm_U: float) -> None:
        if self.radius is not None:
            require_inside(norm_U, self.radius)
            require_no_delay(run, "OGD on a bounded domain")
