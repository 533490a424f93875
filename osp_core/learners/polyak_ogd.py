"""Online gradient descent with a Polyak-type step, for comparators that move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError, as_positive
from osp_core.guarantees import Bound
from osp_core.learners.base import RunSummary
from osp_core.learners.rule_learner import RuleLearner
from osp_core.learners.run_premises import require_inside, require_no_delay
from osp_core.learners.states import number
from osp_core.learners.step_sizes import Rule, every, one, polyak_step
from osp_core.models import Gradient
from osp_core.surrogates.surrogate_gap import SurrogateGap


class PolyakOGD(RuleLearner):
    """η_t = min(η_{t−1}, 2(S_t(W_t) − E_t L_t)/‖∇S_t(W_t)‖²) on the ball of radius diameter/2.

    E_t L_t is known exactly once y_t is. The step never falls below 2a/b, since S − E L ≥ aS and ‖∇S‖² ≤ bS,
    and is usually far longer. Then Σ E L ≤ ΣS_t(U_t) + (D/η_T)(D/2 + Σ‖U_{t+1} − U_t‖) for U_t in the ball.

    Parameters
    ----------
    diameter : float
        D. Comparators must lie in the ball of radius D/2.
    """

    bounded = True
    rule = Rule(polyak_step, multiplier=one, admits=every)

    def __init__(self, diameter: float) -> None:
        self.diameter = as_positive(diameter, "diameter")
        self._numbers = np.array([math.inf, 0.0])

    def __repr__(self) -> str:
        return f"PolyakOGD(diameter={self.diameter:g})"

    def start(self, shape: tuple[int, ...], *, certificate: SurrogateGap | None = None) -> None:
        super().start(shape, certificate=certificate)
        floor = 0.0
        if certificate is not None:
            floor = (
                2.0 * certificate.require_gap() / certificate.b
                if certificate.certified
                else 1.0 / certificate.b
            )
        self._numbers = np.array([math.inf, floor])

    @property
    def eta(self) -> float:
        """The last step; infinite before the first gradient."""
        return float(self._numbers[0])

    @property
    def ball(self) -> float:
        return self.diameter / 2.0

    def admit(
        self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None
    ) -> None:
        if loss is None or expected_loss is None:
            raise InvalidInputError("PolyakOGD needs the loss and the expected target loss of every round.")

    def bound(self, certificate: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        """The bound for the last step that was taken."""
        return self.nonstationary_bound(certificate, run, norm_U, 0.0)

    def nonstationary_bound(
        self, certificate: SurrogateGap, run: RunSummary, norm_U: float, path_length: float
    ) -> Bound:
        """The same against comparators of norm at most `norm_U` that move by `path_length` in all."""
        require_inside(norm_U, self.diameter / 2.0)
        require_no_delay(run, "PolyakOGD")
        eta = self.eta if math.isfinite(self.eta) else None
        bound = certificate.nonstationary_bound(self.diameter, path_length, step_size=eta)
        return bound.for_inexact_predictions(run.total_gap)

    def state(self) -> dict[str, Any]:
        eta = self.eta if math.isfinite(self.eta) else 0.0  # 0: there was no gradient yet
        return {**super().state(), "eta": eta, "floor": float(self._numbers[1])}

    def _read_numbers(self, state: Mapping[str, Any]) -> list[float]:
        floor, eta = number(state, "floor", least=0.0), number(state, "eta", least=0.0)
        if 0.0 < eta < floor:
            raise InvalidInputError(f"The state has the step {eta:g}, below its floor {floor:g}.")
        return [eta or math.inf, floor]
