"""The surrogate gap: a and b, and the bounds that follow from them.

With E L ≤ (1 − a)·S (Lemma 4) and ‖∇S‖² ≤ b·S (Prop. 3), online gradient descent has finite surrogate
regret, [SBTO24, Prop. 6 and Thm 7].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from osp_core.errors import GuaranteeError, InvalidInputError, as_count, as_nonnegative, as_positive
from osp_core.guarantees.bound import Bound, per_round
from osp_core.guarantees.formulas import parameter_free_supremum, rate_of_excess
from osp_core.guarantees.inputs import as_length, as_norm, as_probability
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import Decoder
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.targets import AffineLoss
from osp_core.targets.premises import Premises

Constants = Literal["sharp", "paper"]
Form = Literal["printed", "corrected", "anytime"]

LEAST_RESERVE = 1e-9
"""The share of a gap that must be left for deviations: below, their price is rounding, and enormous."""


@dataclass(frozen=True, eq=False)
class SurrogateGap:
    """a and b of [SBTO24, Prop. 6] for a space, a target, a loss and a decoder.

    Attributes
    ----------
    a : float or None
        The surrogate gap, 1 − (decoding ratio)/(loss scale). Not positive: no guarantee. None: unknown.
    b : float
        ‖∇S_t(W)‖² ≤ b·S_t(W).
    ratio : float or None
        r with E L ≤ r·S for the unscaled loss.
    reason : str
        Why `a` is unknown, when it is.
    examined : Premises or None
        How it is known that the target is a loss on the space.
    """

    a: float | None
    b: float
    loss: FenchelYoungLoss
    target: AffineLoss | None
    decoder: Decoder
    feature_bound: float
    constants: Constants
    ratio: float | None
    reason: str = ""
    examined: Premises | None = None

    @property
    def space(self) -> OutputSpace:
        return self.loss.space

    @property
    def certified(self) -> bool:
        """Whether a > 0: the premise of every bound."""
        return self.a is not None and self.a > 0

    @property
    def complement(self) -> float:
        """1 − a, without the cancellation that a large scale of the loss brings."""
        a, share = self.require_gap(), (self.ratio or 0.0) / self.loss.scale
        return share if 1.0 - share == a else 1.0 - a  # where a reserve has lowered a

    @property
    def step_size(self) -> float:
        """η = 2·min(1/2, a)/b, the step of [SBTO24, Prop. 6]."""
        return 2.0 * min(0.5, self.require_gap()) / self.b

    @property
    def coefficient(self) -> float:
        """The factor of ‖U‖² in Thm 7: (1 − a)b/(4(1 − m)m) with m = min(1/2, a)."""
        coefficient = self.expected_bound(1.0).coefficient
        assert coefficient is not None
        return coefficient

    def expected_bound(self, norm_U: float, *, step_size: float | None = None, delay: int = 0) -> Bound:
        """Bound Σ E L − ΣS(U) for any U of Frobenius norm `norm_U`, [SBTO24, Thm 7].

        Parameters
        ----------
        norm_U : float
        step_size : float, optional
            The constant step that OGD uses; that of the theorem otherwise. Valid up to 2a/b.
        delay : int
            Feedback may come this many rounds late: b becomes (1 + 2·delay)·b.
        """
        a, b = self.require_gap(), self._slowed(delay)
        eta = 2.0 * min(0.5, a) / b if step_size is None else as_positive(step_size, "step_size")
        m = eta * b / 2.0  # min(1/2, a) for the step of the theorem
        coefficient = factor = 0.0
        if self.complement > 0:  # otherwise nothing is ever lost, whatever the step
            if m > a * (1 + 1e-12):
                raise GuaranteeError(
                    f"The step size {eta:.6g} is too long for a bound: with delays up to {delay} it must be "
                    f"at most 2a/b = {2 * a / b:.6g}. Use OGD(step_size={2 * min(0.5, a) / b:.6g})."
                )
            rest = self.complement + max(0.0, a - m)  # 1 − m
            coefficient, factor = self.complement * b / (4.0 * rest * m), self.complement / rest
        late = f", feedback at most {delay} rounds late" if delay else ""
        premises = (*self.premises, f"OGD with step {eta:.6g} from W₁ = 0{late}")
        return Bound(coefficient * as_norm(norm_U) ** 2, premises, eta, coefficient, factor)

    def high_probability_bound(
        self,
        norm_U: float,
        delta: float,
        *,
        form: Form | None = None,
        step_size: float | None = None,
        delay: int = 0,
    ) -> Bound:
        """Bound ΣL − ΣS(U) with probability at least 1 − delta, [SBTO24, Thm 8].

        Parameters
        ----------
        norm_U : float
        delta : float
            The probability that the bound may fail.
        form : {"anytime", "corrected", "printed"}, optional
            "anytime" holds for all rounds at once and against adaptive adversaries. "corrected" is Thm 8 with
            the factor 1/(1 − a/2) that the last step of its proof loses; it needs labels that do not
            depend on the plays. "printed" is Thm 8 as it stands. By default "printed" for the paper's
            constants, "anytime" otherwise.
        step_size : float, optional
            The constant step that OGD uses; a/b otherwise, which is not the step of Thm 7. Only the "anytime"
            form allows another one, below 2a/b.
        delay : int
            As in `expected_bound`; only for the "anytime" form.
        """
        a, delta, b = self.require_gap(), as_probability(delta), self._slowed(delay)
        form = form or ("printed" if self.constants == "paper" else "anytime")
        if form == "anytime":
            eta = a / b if step_size is None else as_positive(step_size, "step_size")
            if self.complement > 0 and eta * b / 2.0 > a * (1 - LEAST_RESERVE):
                raise GuaranteeError(
                    f"The step size {eta:.6g} leaves nothing of the gap a = {a:.6g} for deviations from the "
                    f"expectation. A bound with high probability needs a shorter one, below 2a/b = "
                    f"{2 * a / b:.6g} with delays up to {delay}: OGD(step_size={a / b:.6g})."
                )
            reserved = self.with_reserve(delta, keep=max(eta * b / 2.0, a / 2.0))
            return reserved.add_to(reserved.gap.expected_bound(norm_U, step_size=eta, delay=delay))
        if form not in ("printed", "corrected"):
            raise InvalidInputError(f"form must be 'printed', 'corrected' or 'anytime', got {form!r}.")
        if delay or (step_size is not None and not math.isclose(step_size, a / self.b, rel_tol=1e-9)):
            raise GuaranteeError(
                f"The {form} form of Thm 8 needs the step a/b = {a / self.b:.6g} and no delay; use "
                "form='anytime'."
            )
        lost = 1.0 if form == "printed" else 1.0 - a / 2.0
        coefficient = self.complement * self.b / (a * lost)
        deviation = -self.largest_loss * math.log(delta) / a
        premises = (
            *self.premises,
            f"OGD with step {a / self.b:.6g} from W₁ = 0",
            "labels that do not depend on the plays",
            f"failure probability {delta:g}" + (" (as printed; see the errata)" if form == "printed" else ""),
        )
        return Bound(coefficient * as_norm(norm_U) ** 2 + deviation, premises, a / self.b, coefficient)

    def with_reserve(self, delta: float, *, keep: float | None = None) -> Reserve:
        """Split the gap: `keep` (a/2 by default) stays for the regret, the rest pays for deviations of ΣL."""
        a, spread = self.require_gap(), -math.log(as_probability(delta))
        kept = a / 2.0 if keep is None else keep
        if self.complement == 0:  # E L = 0: no loss has anything to deviate by
            return Reserve(self, 0.0, delta)
        if not 0 < kept <= a * (1 - LEAST_RESERVE):
            raise GuaranteeError(
                f"Keeping {kept:.6g} of the gap a = {a:.6g} leaves nothing for deviations from the "
                f"expectation; keep less, such as {a / 2:.6g}, which a shorter step needs."
            )
        tau = rate_of_excess((a - kept) / self.complement)
        return Reserve(replace(self, a=kept), self.largest_loss / tau * spread, delta)

    def online_to_batch_bound(self, norm_U: float, T: int, *, step_size: float | None = None) -> Bound:
        """Bound E L(ψ(W̄x); y) − E S(Ux; y) for W̄ = (W₁ + … + W_T)/T and i.i.d. data, [SBTO24, Thm 11]."""
        rounds = as_count(T, "T")
        return per_round(self.expected_bound(norm_U, step_size=step_size), rounds)

    def adaptive_bound(self, B: float) -> Bound:
        """Bound ΣE L − ΣS(U) for `AdaptiveOGD` on a domain of diameter B that contains U, [SBTO24, App. D.1].

        The paper prints 2(1 − a)bB²/a. The regret √(2bB²·ΣS(W)) of the causal step gives more: with
        x = ΣS(W) ≤ ΣS(U) + √(2bB²x), the surrogate regret is at most the largest of
        min((1 − a)x, −ax + √(2bB²x)) over x, which is the coefficient of Thm 7 with 2B² for ‖U‖².
        """
        a, diameter = self.require_gap(), as_length(B, "B")
        printed = 2.0 * self.complement * self.b / a
        m = min(0.5, a)
        sharp = 2.0 * self.complement * self.b / (4.0 * (1.0 - m) * m)
        coefficient = printed if self.constants == "paper" else sharp
        premises = (*self.premises, f"AdaptiveOGD on a domain of diameter {diameter:.6g} that contains U")
        return Bound(coefficient * diameter**2, premises)

    def parameter_free_bound(
        self, norm_U: float, *, lipschitz: float | None = None, wealth: float = 1.0
    ) -> Bound:
        """Bound ΣE L − ΣS(U) for `ParameterFree`, [SBTO24, App. D.2], with explicit constants."""
        a, norm, bet = self.require_gap(), as_norm(norm_U), as_length(wealth, "wealth")
        lip = self.lipschitz if lipschitz is None else as_length(lipschitz, "lipschitz")
        value = 0.0  # what holds without any loss, or without any gradient
        if self.complement > 0 and lip > 0:
            value = parameter_free_supremum(a, self.b, norm, lip, bet)
        premises = (*self.premises, f"ParameterFree with wealth {bet:g} and every ‖∇S_t‖ ≤ {lip:.6g}")
        return Bound(value, premises)

    def nonstationary_bound(
        self, diameter: float, path_length: float = 0.0, *, step_size: float | None = None
    ) -> Bound:
        """Bound ΣE L − ΣS_t(U_t) for `PolyakOGD` against comparators that move by `path_length` in all.

        (D/η)(D/2 + P) with η the last step, which is at least 2a/b.
        """
        a, D = self.require_gap(), as_length(diameter, "diameter")
        eta = 2.0 * a / self.b if step_size is None else as_positive(step_size, "step_size")
        path_length = as_nonnegative(path_length, "path_length")
        premises = (
            *self.premises,
            f"PolyakOGD on a domain of diameter {D:.6g} that contains every U_t, last step {eta:.6g}",
            f"Σ‖U_(t+1) − U_t‖ ≤ {path_length:.6g}",
        )
        return Bound(D / eta * (D / 2.0 + path_length), premises, eta)

    @property
    def lipschitz(self) -> float:
        """A bound of every ‖∇S_t(W)‖: C·(ℓ2 diameter of Y)·(loss scale)."""
        return self.feature_bound * self.space.diameter2 * self.loss.scale

    @property
    def largest_loss(self) -> float:
        """γ·D, an upper bound of the target loss of a round."""
        if self.target is None:
            raise GuaranteeError(f"The largest target loss is not known: {self.reason}")
        return self.target.gamma(self.space) * self.space.diameter

    @property
    def premises(self) -> tuple[str, ...]:
        """What every bound of this gap assumes."""
        return (
            f"‖x_t‖ ≤ {self.feature_bound:.6g} in every round",
            f"loss {self.loss!r}",
            f"target {self.target!r} with {type(self.decoder).__name__}",
            *([] if self.examined is None else [str(self.examined)]),
            f"a = {self.a:.6g}, b = {self.b:.6g} ({self.constants} constants)",
        )

    def _slowed(self, delay: int) -> float:
        """b for feedback that comes up to this many rounds late."""
        return (1 + 2 * as_count(delay, "delay", least=0)) * self.b

    def require_gap(self) -> float:
        """Return a, or raise an error that says how to make it positive."""
        if self.a is None:
            raise GuaranteeError(f"There is no bound: {self.reason}")
        if self.a <= 0:
            assert self.ratio is not None
            raise GuaranteeError(
                f"The surrogate gap a = {self.a:.6g} is not positive, so Thm 7 does not apply. Its premise "
                f"is loss scale > {self.ratio:.6g}; FenchelYoungLoss(space, scale={2 * self.ratio:.6g}) "
                "gives a = 1/2."
            )
        return self.a


@dataclass(frozen=True, eq=False)
class Reserve:
    """A gap reduced to pay for deviations of the losses from their expectation, and their price."""

    gap: SurrogateGap
    cost: float
    delta: float

    def add_to(self, bound: Bound) -> Bound:
        """Turn a bound in expectation for the reduced gap into one with probability 1 − delta."""
        return bound.plus(
            self.cost,
            f"failure probability {self.delta:g}, for all rounds at once; part of the gap pays for it",
        )
