"""How a and b follow from the constants of a space, a target, a loss and a decoder."""

from __future__ import annotations

from osp_core.errors import LARGEST, GuaranteeError, InvalidInputError, MissingConstantError, as_positive
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import BlockwiseDecoder, Decoder, RandomizedDecoder, default_decoder
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.surrogates.surrogate_gap import Constants, SurrogateGap
from osp_core.targets import AffineLoss
from osp_core.targets.premises import examine, examine_parts


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
        "paper" uses Lemma 4 with Algorithm 1 and κ²/λ in the norm of the space, as printed; "sharp" lets b
        use ℓ2 and a the best proven ratio.
    """
    _check_parts(space, target, loss, decoder)
    if constants not in ("sharp", "paper"):
        raise InvalidInputError(f"constants must be 'sharp' or 'paper', got {constants!r}.")
    bound = as_positive(feature_bound, "feature_bound")
    if not 1.0 / LARGEST <= bound <= LARGEST:
        raise InvalidInputError(
            f"feature_bound must be between {1.0 / LARGEST:g} and {LARGEST:g}, because its square sets the "
            f"step; got {bound:g}. Scale the inputs."
        )
    reason, ratio, examined = "", None, None
    try:
        target = target if target is not None else space.target_loss()
    except MissingConstantError as error:
        reason = str(error)
    if target is not None:
        examined = examine(target, space)  # what is no loss on this space is refused: nothing follows from it
    if decoder is None:
        decoder = RandomizedDecoder(space) if constants == "paper" else default_decoder(space, target)
    if target is not None:
        if isinstance(decoder, BlockwiseDecoder):
            examine_parts(target, space, decoder.blocks)
        try:
            ratio = _lemma_4(space, target) if constants == "paper" else decoder.ratio(target)
        except (MissingConstantError, GuaranteeError) as error:
            reason = str(error)
    scale = _loss_scale(space, ratio, loss)
    gradient_ratio = 2.0 * space.kappa**2 / space.lam if constants == "paper" else space.gradient_ratio()
    return SurrogateGap(
        a=None if ratio is None else 1.0 - ratio / scale,
        # Where there is one output only every gradient is 0: any b holds, and a positive one gives a step.
        b=bound**2 * scale * (gradient_ratio or 1.0),
        loss=loss if loss is not None else FenchelYoungLoss(space, scale),
        target=target,
        decoder=decoder,
        feature_bound=bound,
        constants=constants,
        ratio=ratio,
        reason=reason,
        examined=examined,
    )


def scale_for_gap(space: OutputSpace, target: AffineLoss | None = None, a: float = 0.5) -> float:
    """Return the loss scale s that gives the surrogate gap `a`: 1 − r/s = a with r the decoding ratio."""
    if not 0 < a < 1:
        raise InvalidInputError(f"a must be between 0 and 1, got {a}.")
    certificate = surrogate_gap(space, target)
    if certificate.ratio is None:
        raise GuaranteeError(f"The scale for a = {a} is not known: {certificate.reason}")
    # Where nothing can be lost every scale gives a = 1; a loss needs a positive one.
    return certificate.ratio / (1.0 - a) or certificate.loss.scale


def _check_parts(
    space: OutputSpace, target: AffineLoss | None, loss: FenchelYoungLoss | None, decoder: Decoder | None
) -> None:
    """Refuse what is of another kind, or of another space: its constants would not be those of the run."""
    kinds = (
        ("space", space, OutputSpace),
        ("target", target, AffineLoss),
        ("loss", loss, FenchelYoungLoss),
        ("decoder", decoder, Decoder),
    )
    for name, part, kind in kinds:
        if not isinstance(part, kind) and (part is not None or kind is OutputSpace):
            raise InvalidInputError(f"{name} must be of the kind {kind.__name__}, got {part!r}.")
    for name, own in (("loss", loss), ("decoder", decoder)):
        if own is not None and own.space is not space:
            raise InvalidInputError(
                f"The {name} belongs to another space, {own.space!r} with {own.space.psi!r}; make it with "
                f"the space of the guarantee, {space!r} with {space.psi!r}."
            )


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
