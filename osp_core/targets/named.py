"""The targets people name: 0–1, Hamming, mismatch, alignment, absolute error, and any table of losses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, GuaranteeError, InvalidInputError
from osp_core.targets.affine import AffineLoss, RoundLoss, always

if TYPE_CHECKING:
    from osp_core.spaces import Block, OutputSpace


class ProportionalLoss(AffineLoss):
    """L(y′; y) = weight(y)·(⟨slope·y + offset·1, y′⟩ + shift(y)).

    `weight` is the same for all y of a space. Every target of the paper has this form, and its γ needs no
    enumeration. `proven_on` says where the formula alone makes it a loss.
    """

    def __init__(
        self,
        name: str,
        weight: Callable[[Array], float],
        *,
        slope: float,
        offset: float,
        shift: Callable[[Array], float],
        needs_constant_mass: bool = False,
        proven_on: Callable[[OutputSpace], bool] | None = None,
    ) -> None:
        super().__init__(self._cost, self._constant, name=name)
        self.weight, self.slope, self.offset, self.shift = weight, slope, offset, shift
        self.needs_constant_mass, self.proven_on = needs_constant_mass, proven_on

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        # The targets of this module are what they are by identity: no copy of one may pass for another loss.
        return self.name if globals().get(self.name) is self else super().__reduce_ex__(protocol)

    def _cost(self, y: Array) -> Array:
        return self.weight(y) * (self.slope * y + self.offset)

    def _constant(self, y: Array) -> float:
        return self.weight(y) * self.shift(y)

    def at(self, y: Array) -> RoundLoss:
        weight = self.weight(y)
        return RoundLoss(weight * (self.slope * y + self.offset), float(weight * self.shift(y)), self.name)

    def holds_by_form(self, space: OutputSpace) -> bool:
        self._check_mass(space)
        proven = self.proven_on is not None and self.proven_on(space)
        return proven and type(self) is ProportionalLoss  # a subclass may have another formula

    def gamma(self, space: OutputSpace) -> float:
        """γ along span(Y − Y), over all y."""
        weight = self.weight_on(space)
        gamma_2 = weight * self._largest_projected_cost(space)
        if space.norm == 2:
            return gamma_2
        ends = self.slope * np.array([space.min_entry, space.max_entry]) + self.offset
        # ℓ∞ of the cost is the dual norm of ℓ1; with constant mass the cost may be shifted to centre it.
        gamma_1 = weight * (abs(ends[1] - ends[0]) / 2 if space.constant_mass else np.abs(ends).max())
        return float(min(gamma_2 * space.kappa, gamma_1 * float(space.dim) ** (1.0 - 1.0 / space.norm)))

    def on_block(self, space: OutputSpace, block: Block) -> AffineLoss:
        # The whole space fixes the weight (1/d, …); the block only restricts the coordinates.
        weight = self.weight_on(space)
        return ProportionalLoss(
            self.name,
            partial(always, weight),
            slope=self.slope,
            offset=self.offset,
            shift=self.shift,
            proven_on=self.proven_on,
        )

    def weight_on(self, space: OutputSpace) -> float:
        """The weight that all outputs of `space` share."""
        self._check_mass(space)
        return float(self.weight(space.lmo(np.zeros(space.dim))))

    def _check_mass(self, space: OutputSpace) -> None:
        if self.needs_constant_mass and not space.constant_mass:
            raise GuaranteeError(
                f"The target {self.name!r} needs outputs of constant mass; those of {space!r} differ. "
                "Use hamming."
            )

    def _largest_projected_cost(self, space: OutputSpace) -> float:
        """max over y of ‖P(slope·y + offset·1)‖₂ with P the projector on span(Y − Y).

        (I − P)y is the same vector for every y of Y, so ‖Pc‖² = ‖c‖² − ‖(I − P)c‖² needs one vertex,
        and ‖c‖² is affine in the mass of y when vertices are 0/1 or of equal norm.
        """
        y = space.lmo(np.zeros(space.dim))
        cost = self.slope * y + self.offset
        outside = cost - space.project_direction(cost)
        masses = np.array([space.min_mass, space.max_mass])
        squares = masses if space.zero_one else np.full(2, space.max_square)
        largest = (
            self.slope**2 * squares + 2 * self.slope * self.offset * masses + self.offset**2 * space.dim
        ).max()
        return float(np.sqrt(max(0.0, largest - float(outside @ outside))))


def _largest_misalignment(y: Array) -> float:
    """M = ‖w‖² − ⟨w, reversed w⟩: the alignment loss of the least aligned permutation."""
    ordered = np.sort(y)
    return float(ordered @ ordered - ordered @ ordered[::-1])


def _zero_one_outputs(space: OutputSpace) -> bool:
    return space.zero_one


def _equal_norms(space: OutputSpace) -> bool:
    return space.equal_norm


def _share(y: Array) -> float:
    return 1.0 / y.size


def _mass(y: Array) -> float:
    return float(y.sum())


def _share_of_the_chosen(y: Array) -> float:
    return 1.0 / _mass(y) if y.any() else 0.0


def _share_of_the_misalignment(y: Array) -> float:
    return 1.0 / most if (most := _largest_misalignment(y)) > 0 else 0.0


def _square(y: Array) -> float:
    return float(y @ y)


zero_one = ProportionalLoss(
    "zero_one",
    partial(always, 1.0),
    slope=-1.0,
    offset=1.0,
    shift=partial(always, 0.0),
    needs_constant_mass=True,
    proven_on=_zero_one_outputs,
)
"""1 when the class is wrong: L = ⟨y′, 1 − y⟩ on the simplex; the number of wrong elements on other 0/1
outputs of constant mass."""

hamming = ProportionalLoss(
    "hamming",
    _share,
    slope=-2.0,
    offset=1.0,
    shift=_mass,
    proven_on=_zero_one_outputs,
)
"""The fraction of the d entries that differ: L = (⟨y′, 1⟩ + ⟨y, 1⟩ − 2⟨y′, y⟩)/d on 0/1 outputs."""

absolute = ProportionalLoss(
    "absolute",
    _share,
    slope=-2.0,
    offset=1.0,
    shift=_mass,
    proven_on=_zero_one_outputs,
)
"""|level′ − level|/d on ordinal outputs; ‖y′ − y‖₁/d, the Hamming loss, on any 0/1 outputs."""

mismatch = ProportionalLoss(
    "mismatch",
    _share_of_the_chosen,
    slope=-1.0,
    offset=1.0,
    shift=partial(always, 0.0),
    needs_constant_mass=True,
    proven_on=_zero_one_outputs,
)
"""The fraction of the chosen elements that are wrong: L = ⟨y′, 1 − y⟩/Σy on 0/1 outputs of constant mass."""

alignment = ProportionalLoss(
    "alignment",
    _share_of_the_misalignment,
    slope=-1.0,
    offset=0.0,
    shift=_square,
    needs_constant_mass=True,
    proven_on=_equal_norms,
)
"""⟨y, y − y′⟩/M on permutations of a weight vector; 1 for the reversed ranking."""


class TableLoss(AffineLoss):
    """Any loss on a finite set; see `table`."""

    def holds_by_form(self, space: OutputSpace) -> bool:
        # One entry of a non-negative table, from its diagonal at the truth.
        return space.zero_one and space.constant_mass and space.max_mass == 1.0 and type(self) is TableLoss


def table(matrix: ArrayLike, *, gamma: float | None = None) -> AffineLoss:
    """Any loss on a finite set: L(e_i; e_j) = matrix[i, j] on the simplex.

    Parameters
    ----------
    matrix : array of shape (d, d)
        Entry (i, j) is the cost of playing class i when class j is true; non-negative, zero diagonal.
    gamma : float, optional
        A known γ; computed from the columns otherwise.
    """
    losses = np.asarray(matrix, dtype=np.float64)
    if losses.ndim != 2 or losses.shape[0] != losses.shape[1]:
        raise InvalidInputError(f"A loss table must be square, got an array of shape {losses.shape}.")
    if not (losses >= 0).all() or losses.diagonal().any():
        raise InvalidInputError("A loss table must be non-negative with zeros on its diagonal.")
    return TableLoss.bilinear(losses, gamma=gamma, name="table")
