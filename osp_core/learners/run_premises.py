"""Premises that several learners share, checked against the run that was."""

from __future__ import annotations

from collections.abc import Callable

from osp_core.errors import GuaranteeError
from osp_core.guarantees import Bound
from osp_core.guarantees.bound import per_round
from osp_core.guarantees.inputs import as_norm
from osp_core.learners.base import RunSummary
from osp_core.surrogates.surrogate_gap import SurrogateGap


def require_no_delay(run: RunSummary, name: str) -> None:
    """Refuse a bound for a run with late feedback."""
    if run.delay:
        raise GuaranteeError(
            f"No theorem is known for {name} with delayed feedback, and some came {run.delay} rounds late; "
            "use OGD()."
        )


def require_inside(norm_U: float, radius: float) -> None:
    """Refuse a comparator outside the ball."""
    if as_norm(norm_U) > radius * (1 + 1e-12):
        raise GuaranteeError(
            f"The comparator's norm {norm_U:.6g} exceeds the radius {radius:.6g} of the learner's domain; "
            "give the learner a larger one."
        )


def with_high_probability(
    bound: Callable[[SurrogateGap], Bound],
    certificate: SurrogateGap,
    delta: float,
    *,
    keep: float | None = None,
) -> Bound:
    """Turn a bound that follows from a and b alone into one with probability 1 − delta.

    Multiplying E L by (e^τ − 1)/τ only lowers a, so the learner's own bound for the lower a applies.
    """
    reserve = certificate.with_reserve(delta, keep=keep)
    return reserve.add_to(bound(reserve.gap))


def to_batch(bound: Bound, run: RunSummary) -> Bound:
    """Online-to-batch conversion for a learner whose bound also bounds (1 − a)ΣS(W_t) − ΣS(U)."""
    if not run.rounds:
        raise GuaranteeError("There is no average of iterates before the first round.")
    if run.delay:
        raise GuaranteeError(
            f"Online-to-batch conversion needs prompt feedback; some came {run.delay} rounds late."
        )
    return per_round(bound, run.rounds)
