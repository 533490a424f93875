"""A learner that needs to know nothing about the comparator: coin betting in every direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from osp_core.errors import GuaranteeError, InvalidInputError, as_positive
from osp_core.guarantees import Bound, SurrogateGap
from osp_core.guarantees.formulas import CURVATURE
from osp_core.learners.base import OnlineLearner, RunSummary, number
from osp_core.learners.premises import require_no_delay, to_batch, with_high_probability
from osp_core.models import Gradient


class ParameterFree(OnlineLearner):
    """W = z·Y: a bettor chooses the length z, an adaptive learner on the unit ball the direction Y.

    The construction of Cutkosky & Orabona (2018), which [SBTO24, App. D.2] uses, with online Newton steps for
    the betting fraction. W₁ = 0, because the first bet is 0.

    Parameters
    ----------
    lipschitz : float, optional
        A bound of every ‖∇S_t‖; by default C·(ℓ2 diameter of Y)·(loss scale).
    wealth : float
        The initial wealth: what the regret against U = 0 may cost, in units of `lipschitz`.
    """

    bounded = True

    def __init__(self, lipschitz: float | None = None, wealth: float = 1.0) -> None:
        self.lipschitz = None if lipschitz is None else as_positive(lipschitz, "lipschitz")
        self.wealth = as_positive(wealth, "wealth")
        self._lip = self.lipschitz
        self._reset()

    def __repr__(self) -> str:
        return f"ParameterFree(lipschitz={self.lipschitz}, wealth={self.wealth:g})"

    def _reset(self) -> None:
        # The logarithm of the wealth: the wealth itself overflows on long easy runs.
        self._log_wealth, self._fraction = math.log(self.wealth), 0.0
        self._curvatures, self._squared_gradients = 1.0, 0.0

    def start(self, shape: tuple[int, ...], *, gap: SurrogateGap | None = None) -> None:
        super().start(shape, gap=gap)
        self._reset()
        if self.lipschitz is None:
            if gap is None:
                raise InvalidInputError(
                    "ParameterFree takes its Lipschitz constant from a SurrogateGap; give lipschitz=…."
                )
            self._lip = gap.lipschitz if gap.lipschitz > 0 else 1.0  # one output only: every gradient is 0

    @property
    def multiplier(self) -> float:
        """z, the bet: the betting fraction of the wealth."""
        return self._fraction * math.exp(min(self._log_wealth, 700.0))

    def admit(
        self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None
    ) -> None:
        size, lip = math.sqrt(gradient.squared_norm), self._known_lipschitz()
        if size > lip * (1 + 1e-9):
            raise GuaranteeError(
                f"A gradient has norm {size:.6g}, above the Lipschitz constant {lip:.6g} that ParameterFree "
                f"bets on. Use ParameterFree(lipschitz={size:.6g}) or larger, or scale the inputs down."
            )

    def update(
        self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None
    ) -> None:
        self.admit(gradient)
        lip = self._known_lipschitz()
        self._begin_round()
        # |c| ≤ ‖g‖·‖Y‖ ≤ 1 up to rounding.
        c = self._array.factor * gradient.inner(self._array.core) / lip
        c = min(1.0, max(-1.0, c))
        kept = 1.0 - c * self._fraction
        self._log_wealth += math.log(kept)
        slope = c / kept
        self._curvatures += slope**2
        step = slope / (2.0 * CURVATURE * self._curvatures)
        self._fraction = min(0.5, max(-0.5, self._fraction - step))
        self._squared_gradients += gradient.squared_norm / lip**2
        if self._squared_gradients > 0.0:
            self._array.add(gradient, -math.sqrt(2.0 / self._squared_gradients) / lip)
            self._array.shrink_to(1.0)

    def bound(self, gap: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        require_no_delay(run, "ParameterFree")
        exact = gap.parameter_free_bound(norm_U, lipschitz=self._known_lipschitz(), wealth=self.wealth)
        return exact.for_inexact_predictions(run.total_gap)

    def high_probability_bound(
        self, gap: SurrogateGap, run: RunSummary, norm_U: float, delta: float
    ) -> Bound:
        return with_high_probability(lambda reduced: self.bound(reduced, run, norm_U), gap, delta)

    def online_to_batch_bound(self, gap: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        return to_batch(self.bound(gap, run, norm_U), run)

    def state(self) -> dict[str, Any]:
        return {
            **super().state(),
            "lipschitz": self._known_lipschitz(),
            "log_wealth": self._log_wealth,
            "fraction": self._fraction,
            "curvatures": self._curvatures,
            "squared_gradients": self._squared_gradients,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        super().load_state(state)
        self._lip = as_positive(number(state, "lipschitz"), "lipschitz of the state")
        self._log_wealth, self._fraction = number(state, "log_wealth"), number(state, "fraction")
        self._curvatures = number(state, "curvatures")
        self._squared_gradients = number(state, "squared_gradients")

    def _known_lipschitz(self) -> float:
        if self._lip is None:
            raise InvalidInputError("ParameterFree has no Lipschitz constant before start().")
        return self._lip
