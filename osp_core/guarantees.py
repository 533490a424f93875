"""The guarantees: a, b, step sizes and the bounds, each with its premises.

With E L ≤ (1 − a)·S (Lemma 4) and ‖∇S‖² ≤ b·S (Prop. 3), online gradient descent has finite surrogate
regret, [SBTO24, Prop. 6 and Thm 7].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from osp_core.decoding import Decoder, RandomizedDecoder, default_decoder
from osp_core.errors import GuaranteeError, InvalidInputError, MissingConstantError, as_positive
from osp_core.losses import FenchelYoungLoss
from osp_core.spaces import OutputSpace
from osp_core.targets import AffineLoss

Constants = Literal["sharp", "paper"]


@dataclass(frozen=True)
class Bound:
    """A number that is only worth its premises.

    Attributes
    ----------
    value : float
        The bound.
    premises : tuple of str
        What it assumes.
    step_size : float or None
        The step of online gradient descent it holds for.
    coefficient : float or None
        That of ‖U‖² in it.
    surrogate_factor : float
        The factor of ΣS(U) in the inequality; below 1 only when a > 1/2.
    """

    value: float
    premises: tuple[str, ...]
    step_size: float | None = None
    coefficient: float | None = None
    surrogate_factor: float = 1.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.6g}, given that " + "; ".join(self.premises)


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

    @property
    def space(self) -> OutputSpace:
        return self.loss.space

    @property
    def certified(self) -> bool:
        """Whether a > 0: the premise of every bound."""
        return self.a is not None and self.a > 0

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
        a, b = self.require_gap(), (1 + 2 * delay) * self.b
        eta = step_size if step_size is not None else 2.0 * min(0.5, a) / b
        m = eta * b / 2.0  # min(1/2, a) for the step of the theorem
        if not 0 < m <= a * (1 + 1e-12) or m >= 1:
            raise GuaranteeError(
                f"The step size {eta:.6g} is too long for a bound: with delays up to {delay} it must be at most "
                f"2a/b = {2 * a / b:.6g}. Use OGD(step_size={2 * min(0.5, a) / b:.6g})."
            )
        coefficient = (1.0 - a) * b / (4.0 * (1.0 - m) * m)
        late = f", feedback at most {delay} rounds late" if delay else ""
        premises = (*self.premises, f"OGD with step {eta:.6g} from W₁ = 0{late}")
        return Bound(coefficient * _norm(norm_U) ** 2, premises, eta, coefficient, (1.0 - a) / (1.0 - m))

    @property
    def premises(self) -> tuple[str, ...]:
        """What every bound of this gap assumes."""
        return (
            f"‖x_t‖ ≤ {self.feature_bound:.6g} in every round",
            f"loss {self.loss!r}",
            f"target {self.target!r} with {type(self.decoder).__name__}",
            f"a = {self.a:.6g}, b = {self.b:.6g} ({self.constants} constants)",
        )

    def require_gap(self) -> float:
        """Return a, or raise an error that says how to make it positive."""
        if self.a is None:
            raise GuaranteeError(f"There is no bound: {self.reason}")
        if self.a <= 0:
            assert self.ratio is not None
            raise GuaranteeError(
                f"The surrogate gap a = {self.a:.6g} is not positive, so Thm 7 does not apply. Its premise is "
                f"loss scale > {self.ratio:.6g}; FenchelYoungLoss(space, scale={2 * self.ratio:.6g}) gives a = 1/2."
            )
        return self.a


def surrogate_gap(
    space: OutputSpace,
    target: AffineLoss | None = None,
    *,
    loss: FenchelYoungLoss | None = None,
    decoder: Decoder | None = None,
    feature_bound: float = 1.0,
    constants: Constants = "sharp",
) -> SurrogateGap:
    """Compute a and b of [SBTO24, Prop. 6].

    Parameters
    ----------
    space : OutputSpace
    target : AffineLoss, optional
        The usual target of the space otherwise.
    loss : FenchelYoungLoss, optional
        The paper's loss where that gives a > 0 (the base-2 logistic loss on the simplex), otherwise the
        scale that makes a = 1/2.
    decoder : Decoder, optional
        BlockwiseDecoder where space and target allow it, otherwise RandomizedDecoder.
    feature_bound : float
        C, with ‖x_t‖ ≤ C in every round.
    constants : {"sharp", "paper"}
        "paper" uses Lemma 4 with Algorithm 1 and κ²/λ in the norm of the space, as printed; "sharp" lets b use
        ℓ2 and a the best proven ratio.
    """
    if constants not in ("sharp", "paper"):
        raise InvalidInputError(f"constants must be 'sharp' or 'paper', got {constants!r}.")
    bound = as_positive(feature_bound, "feature_bound")
    reason, ratio = "", None
    try:
        target = target if target is not None else space.target_loss()
        if decoder is None:
            decoder = RandomizedDecoder(space) if constants == "paper" else default_decoder(space, target)
        ratio = _lemma_4(space, target) if constants == "paper" else decoder.ratio(target)
    except (MissingConstantError, GuaranteeError) as error:
        reason = str(error)
    scale = _loss_scale(space, ratio, loss)
    gradient_ratio = 2.0 * space.kappa**2 / space.lam if constants == "paper" else space.gradient_ratio()
    return SurrogateGap(
        a=None if ratio is None else 1.0 - ratio / scale,
        b=bound**2 * scale * gradient_ratio,
        loss=loss if loss is not None else FenchelYoungLoss(space, scale),
        target=target,
        decoder=decoder if decoder is not None else RandomizedDecoder(space),
        feature_bound=bound,
        constants=constants,
        ratio=ratio,
        reason=reason,
    )


def scale_for_gap(space: OutputSpace, target: AffineLoss | None = None, a: float = 0.5) -> float:
    """Return the loss scale s that gives the surrogate gap `a`: 1 − r/s = a with r the decoding ratio."""
    if not 0 < a < 1:
        raise InvalidInputError(f"a must be between 0 and 1, got {a}.")
    ratio = surrogate_gap(space, target, loss=FenchelYoungLoss(space)).ratio
    if ratio is None:
        raise GuaranteeError(f"The scale for a = {a} is not known: {surrogate_gap(space, target).reason}")
    return ratio / (1.0 - a)


def _lemma_4(space: OutputSpace, target: AffineLoss) -> float:
    return 4.0 * target.gamma(space) / (space.lam * space.nu)


def _loss_scale(space: OutputSpace, ratio: float | None, loss: FenchelYoungLoss | None) -> float:
    """The scale of the loss: given; the paper's where a > 0 with it; otherwise the one with a = 1/2."""
    if loss is not None:
        return loss.scale
    paper = space.paper_loss_scale
    if ratio is None or ratio < paper:
        return paper
    return 2.0 * ratio


def _norm(norm_U: float) -> float:
    if not (norm_U >= 0 and np.isfinite(norm_U)):
        raise InvalidInputError(f"The norm of U must be a non-negative number, got {norm_U!r}.")
    return float(norm_U)
