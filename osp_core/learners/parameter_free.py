"""A learner that needs to know nothing about the comparator: coin betting in every direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import GuaranteeError, InvalidInputError, as_positive
from osp_core.guarantees import Bound
from osp_core.learners.base import RunSummary
from osp_core.learners.rule_learner import RuleLearner
from osp_core.learners.run_premises import require_no_delay, to_batch, with_high_probability
from osp_core.learners.states import number
from osp_core.learners.step_sizes import Rule, bet, betting_step, within_lipschitz
from osp_core.models import Gradient
from osp_core.surrogates.surrogate_gap import SurrogateGap

# What the bettor remembers, and the limits of each: those that `betting_step` keeps to.
NUMBERS = {
    "lipschitz": (math.ulp(0.0), math.inf),
    "log_wealth": (-math.inf, math.inf),
    "fraction": (-0.5, 0.5),
    "curvatures": (1.0, math.inf),
    "squared_gradients": (0.0, math.inf),
}


class ParameterFree(RuleLearner):
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
    rule = Rule(betting_step, multiplier=bet, admits=within_lipschitz)

    def __init__(self, lipschitz: float | None = None, wealth: float = 1.0) -> None:
        self.lipschitz = None if lipschitz is None else as_positive(lipschitz, "lipschitz")
        self.wealth = as_positive(wealth, "wealth")
        self._reset(self.lipschitz)

    def __repr__(self) -> str:
        return f"ParameterFree(lipschitz={self.lipschitz}, wealth={self.wealth:g})"

    def _reset(self, lipschitz: float | None) -> None:
        known = np.nan if lipschitz is None else lipschitz
        # The logarithm of the wealth: the wealth itself overflows on long easy runs.
        self._numbers = np.array([known, math.log(self.wealth), 0.0, 1.0, 0.0])

    def start(self, shape: tuple[int, ...], *, certificate: SurrogateGap | None = None) -> None:
        lipschitz = self.lipschitz
        if lipschitz is None:
            if certificate is None:
                raise InvalidInputError(
                    "ParameterFree takes its Lipschitz constant from a SurrogateGap; give lipschitz=…."
                )
            lipschitz = (
                certificate.lipschitz if certificate.lipschitz > 0 else 1.0
            )  # one output only: every gradient is 0
        super().start(shape, certificate=certificate)
        self._reset(lipschitz)

    @property
    def ball(self) -> float:
        return 1.0

    def admit(
        self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None
    ) -> None:
        lip = self._known_lipschitz()
        if not within_lipschitz(self._numbers, gradient.squared_norm):
            size = math.sqrt(gradient.squared_norm)
            raise GuaranteeError(
                f"A gradient has norm {size:.6g}, above the Lipschitz constant {lip:.6g} that ParameterFree "
                f"bets on. Use ParameterFree(lipschitz={size:.6g}) or larger, or scale the inputs down."
            )

    def bound(self, certificate: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        require_no_delay(run, "ParameterFree")
        exact = certificate.parameter_free_bound(
            norm_U, lipschitz=self._known_lipschitz(), wealth=self.wealth
        )
        return exact.for_inexact_predictions(run.total_gap)

    def high_probability_bound(
        self, certificate: SurrogateGap, run: RunSummary, norm_U: float, delta: float
    ) -> Bound:
        return with_high_probability(lambda reduced: self.bound(reduced, run, norm_U), certificate, delta)

    def online_to_batch_bound(self, certificate: SurrogateGap, run: RunSummary, norm_U: float) -> Bound:
        return to_batch(self.bound(certificate, run, norm_U), run)

    def state(self) -> dict[str, Any]:
        self._known_lipschitz()
        return {**super().state(), **dict(zip(NUMBERS, map(float, self._numbers), strict=True))}

    def _read_numbers(self, state: Mapping[str, Any]) -> list[float]:
        return [number(state, name, least=least, most=most) for name, (least, most) in NUMBERS.items()]

    def _known_lipschitz(self) -> float:
        if np.isnan(self._numbers[0]):
            raise InvalidInputError("ParameterFree has no Lipschitz constant before start().")
        return float(self._numbers[0])
