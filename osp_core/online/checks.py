"""What a predictor checks of its parts while it runs: rounds, instances and states."""

from __future__ import annotations

import numpy as np

from osp_core.errors import GuaranteeError, InvalidInputError
from osp_core.learners import OnlineLearner
from osp_core.surrogates.surrogate_gap import SurrogateGap


def refuse_wild_weights(learner: OnlineLearner, plays: int) -> None:
    """Refuse weights, or a number of rounds, that no run of so many plays could have led to."""
    with np.errstate(all="ignore"):
        finite = np.isfinite(learner.weights).all() and np.isfinite(learner.average_weights).all()
    if not finite or learner.rounds > plays:
        raise InvalidInputError(
            f"The state of the learner is not that of any run: its weights are not finite, or its "
            f"{learner.rounds} rounds are more than the {plays} plays."
        )


def verify_round(
    certificate: SurrogateGap, expected_loss: float, surrogate_loss: float, squared_gradient: float
) -> None:
    """Check the two conditions of [SBTO24, Prop. 6] on a round."""
    if certificate.a is None:
        raise GuaranteeError(f"There is nothing to verify: {certificate.reason}")
    slack, b = 1e-9 * (1.0 + surrogate_loss), certificate.b
    allowed = (1.0 - certificate.a) * surrogate_loss
    if expected_loss > allowed + slack:
        raise GuaranteeError(
            f"Lemma 4 fails: E L = {expected_loss:.9g} exceeds (1 − a)·S = {allowed:.9g}. A constant (ν, γ "
            "or λ) is wrong, or the predictions are not optimal."
        )
    if squared_gradient > b * surrogate_loss + b * slack:
        raise GuaranteeError(
            f"‖∇S‖² = {squared_gradient:.9g} exceeds b·S = {b * surrogate_loss:.9g}. λ is wrong, or the "
            "predictions are not optimal."
        )


def no_worse(certificate: SurrogateGap, reference: SurrogateGap) -> bool:
    """Whether what holds with the constants of `reference` holds with those of `certificate`."""
    if certificate.a is None or reference.a is None:
        return False
    same_losses = certificate.largest_loss <= reference.largest_loss * (1 + 1e-9)
    return certificate.a >= reference.a and certificate.b <= reference.b and same_losses
