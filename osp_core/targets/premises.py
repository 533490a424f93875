"""What every guarantee assumes of a target: L(y; y) = 0, L ≥ 0 on conv(Y) and L(y′; y) ≤ γ‖y′ − y‖.

From a target that is no such loss nothing follows, whatever a formula makes of its γ. So `surrogate_gap`,
where every certificate comes from, has the target examined here; what a round reveals is looked at as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from osp_core.errors import (
    Array,
    GuaranteeError,
    InvalidInputError,
    MissingConstantError,
    OspError,
    UnsupportedError,
)
from osp_core.targets.affine import ROUNDING, AffineLoss, RoundLoss, show
from osp_core.targets.named import absolute, alignment, hamming, mismatch, zero_one
from osp_core.targets.ndcg import ndcg

if TYPE_CHECKING:
    from osp_core.spaces import Block, OutputSpace

NAMED = (zero_one, hamming, absolute, mismatch, alignment, ndcg)
SMALL, MOST = 6, 128  # all outputs are looked at up to this dimension and this number
SOME, FEW = 8, 2  # otherwise so many; so few where the form of the target tells the rest


@dataclass(frozen=True)
class Premises:
    """How it is known that a target is 0 at the truth and never negative.

    Attributes
    ----------
    by_form : bool
        It follows from the formula of the target.
    outputs : int
        For how many true outputs it was checked.
    all_outputs : bool
        Whether there are no others.
    """

    by_form: bool
    outputs: int
    all_outputs: bool

    def __str__(self) -> str:
        if self.by_form:
            known = "which follows from its form"
        elif self.all_outputs:
            known = f"checked for all {self.outputs} outputs"
        else:
            known = f"checked for {self.outputs} outputs and for that of every round"
        return f"the target is 0 at the truth and never negative on Y, {known}"


_examined: WeakKeyDictionary[OutputSpace, WeakKeyDictionary[AffineLoss, Premises]] = WeakKeyDictionary()


def examine(target: AffineLoss, space: OutputSpace) -> Premises:
    """Check the premises of a target on a space; raise a GuaranteeError that names the targets that fit.

    For every true output y that is looked at, L(y; y) must be 0, and the oracle finds the least and the
    greatest L(y′; y): below 0, or above a γ that was stated, the target is refused. On small spaces all
    outputs are looked at. On others it is a sample, the answers of the oracle to a few fixed costs, which may
    miss a fault; but `reveal` looks at the output of every round. The result is remembered.
    """
    try:
        return _examined[space][target]
    except (KeyError, TypeError):  # not seen before, or of a class that cannot be looked up
        pass
    memory = space.memory()
    try:
        premises = _examine(target, space)
    except (GuaranteeError, InvalidInputError) as error:
        raise GuaranteeError(
            f"There is no guarantee for the target {target.name!r} on {space!r}. {error} {_advice(space)}"
        ) from error
    finally:
        space.recall(memory)  # a copy of the space, which may be examined later, goes on in the same way
    with suppress(TypeError):
        _examined.setdefault(space, WeakKeyDictionary())[target] = premises
    return premises


def reveal(target: AffineLoss, space: OutputSpace, feedback: Any) -> tuple[Array, RoundLoss]:
    """Return the true output and the loss of a round, as the target reveals them, or refuse a false loss.

    Where the form of the target does not tell, one oracle call finds the least loss of the round.
    """
    y, loss = target.reveal(space, feedback)
    if not examine(target, space).by_form:
        _check_truth(space, y, loss)
        loss(space.lmo(loss.cost))  # raises where it is negative
    return y, loss


def examine_parts(target: AffineLoss, space: OutputSpace, blocks: Sequence[Block]) -> None:
    """Check that the parts of a target on blocks are losses, and that they add up to it.

    As all are 0 at the truth, they add up if target and part differ by the same amount on all outputs of a
    block: the oracle finds the least and the greatest difference. That is looked at in the first and the last
    copy of each block, at a few true outputs.
    """
    if not _reads_outputs(target):
        return
    outputs = _some_outputs(space, FEW)
    for block in blocks:
        part = target.on_block(space, block)
        if part is None:
            continue
        examine(part, block.space)
        for y in outputs:
            whole = _loss_at(target, y)
            for place in block.coordinates[[0, -1]]:
                cost, own = whole.cost[place], _loss_at(part, y[place]).cost
                ends = block.space.lmo_many([cost - own, own - cost])
                apart, sizes = np.ptp(ends @ (cost - own)), np.abs(ends) @ (np.abs(cost) + np.abs(own))
                if apart > ROUNDING * sizes.max():
                    raise GuaranteeError(
                        f"The parts of the target {target.name!r} on the blocks of {space!r} do not add up "
                        f"to it: that on {block.space!r} differs by {apart:.6g} at y = {show(y)}. Mend "
                        "on_block, or return None there."
                    )


def fitting_targets(space: OutputSpace) -> list[str]:
    """The names of the named targets whose premises hold on a space, its own first where it has another."""
    candidates = [*NAMED]
    with suppress(MissingConstantError):
        usual = space.target_loss()
        candidates = candidates if usual in candidates else [usual, *candidates]
    return [target.name for target in candidates if _fits(target, space)]


def _fits(target: AffineLoss, space: OutputSpace) -> bool:
    try:
        _examine(target, space)
    except OspError:
        return False
    return True


def _advice(space: OutputSpace) -> str:
    names = fitting_targets(space)
    known = f"Of the named targets these fit: {', '.join(names)}." if names else "No named target fits."
    return f"{known} Any other loss is an AffineLoss(cost, constant)."


def _examine(target: AffineLoss, space: OutputSpace) -> Premises:
    by_form = target.holds_by_form(space)
    if not _reads_outputs(target):
        return Premises(by_form, 0, all_outputs=False)
    outputs = None if by_form else _all_outputs(space)
    complete = outputs is not None
    if outputs is None:
        outputs = _some_outputs(space, FEW if by_form else SOME)
    gamma = _stated_gamma(target, space)
    for y in outputs:
        loss = _loss_at(target, y)
        _check_truth(space, y, loss)
        extremes = [] if complete else [space.lmo(loss.cost), space.lmo(-loss.cost)]
        # The centre is where many losses are steepest: γ is for the hull, not for outputs alone.
        points = np.vstack([outputs, outputs.mean(axis=0), *extremes])
        _check_values(space, y, loss, points, gamma)
    return Premises(by_form, len(outputs), complete)


def _reads_outputs(target: AffineLoss) -> bool:
    """Whether the feedback of a round is an output; if not, only rounds can tell what a target is."""
    return type(target).reveal is AffineLoss.reveal


def _all_outputs(space: OutputSpace) -> Array | None:
    if space.dim > SMALL:
        return None
    try:
        outputs = space.vertices()
    except UnsupportedError:
        return None
    return outputs if len(outputs) <= MOST else None


def _some_outputs(space: OutputSpace, count: int) -> Array:
    """Up to `count` different outputs, always the same: what the oracle answers to some costs."""
    rng, ones, axis = np.random.default_rng(0), np.ones(space.dim), np.eye(1, space.dim)[0]
    costs = [0.0 * ones, rng.standard_normal(space.dim), ones, -ones, axis, -axis]
    costs += [rng.standard_normal(space.dim) for _ in range(count - len(costs))]
    found = [space.lmo(cost) for cost in costs[:count]]
    return np.array(list({y.tobytes(): y for y in found}.values()))


def _stated_gamma(target: AffineLoss, space: OutputSpace) -> float | None:
    """γ where somebody says so; what is enumerated is right."""
    if type(target).gamma is AffineLoss.gamma and getattr(target, "_gamma", None) is None:
        return None
    try:
        gamma = float(target.gamma(space))
    except MissingConstantError:
        return None
    if not 0 <= gamma < np.inf:
        raise GuaranteeError(f"Its gamma is {gamma}; it must be a non-negative number.")
    return gamma


def _loss_at(target: AffineLoss, y: Array) -> RoundLoss:
    try:
        return target.at(y)
    except OspError:
        raise
    except Exception as error:  # whatever the functions of a stranger do
        raise GuaranteeError(
            f"Its cost or constant fails at y = {show(y)} with {type(error).__name__}: {error}."
        ) from error


def _check_truth(space: OutputSpace, y: Array, loss: RoundLoss) -> None:
    """Refuse a loss of the wrong length, one that is no number, or one that is not 0 at the truth."""
    if loss.cost.shape != (space.dim,):
        raise GuaranteeError(
            f"The cost of the target {loss.name!r} has shape {loss.cost.shape} at y = {show(y)}; on "
            f"{space!r} it must be a vector of length {space.dim}."
        )
    if not (np.isfinite(loss.cost).all() and np.isfinite(loss.constant)):  # first: 0·∞ would warn
        raise GuaranteeError(
            f"The cost and the constant of the target {loss.name!r} must be finite; at y = {show(y)} they "
            f"are {show(loss.cost)} and {loss.constant}."
        )
    value = float(loss.cost @ y) + loss.constant
    if abs(value) <= float(loss.rounding(y)):
        return
    raise GuaranteeError(
        f"L(y; y) = {value:.6g} instead of 0 for the target {loss.name!r} at y = {show(y)} of {space!r}. A "
        "target must be 0 at the truth: subtract that from its constant."
    )


def _check_values(space: OutputSpace, y: Array, loss: RoundLoss, points: Array, gamma: float | None) -> None:
    """Refuse a loss that is negative at one of the points, or larger than γ times the distance."""
    values, rounding = points @ loss.cost + loss.constant, loss.rounding(points)
    worst = int(np.argmin(values + rounding))
    if values[worst] < -rounding[worst]:
        raise GuaranteeError(
            f"L(y′; y) = {values[worst]:.6g} is negative at y′ = {show(points[worst])}, y = {show(y)}. A "
            "target must be at least 0 on all outputs."
        )
    if gamma is None:
        return
    distances = space.distance(points, y)
    lack = values - gamma * distances * (1 + ROUNDING) - rounding
    worst = int(np.argmax(lack))
    if lack[worst] > 0:
        raise GuaranteeError(
            f"gamma = {gamma:.6g} is too small: L(y′; y) = {values[worst]:.6g} is "
            f"{values[worst] / distances[worst]:.6g} times the distance of y′ = {show(points[worst])} from "
            f"y = {show(y)}. State a larger one, or none where the outputs can be enumerated."
        )
