"""A space from a linear oracle: a function is enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import (
    Array,
    InvalidInputError,
    OracleError,
    as_count,
    as_positive,
)
from osp_core.regularizers import Regularizer
from osp_core.spaces.base import OutputSpace
from osp_core.spaces.label_names import MOST_COORDINATES
from osp_core.spaces.zero_one import ZeroOneSpace
from osp_core.targets import AffineLoss


class _LmoSpace(OutputSpace):
    """A space known through its oracle alone."""

    def __init__(
        self,
        lmo: Callable[[Array], ArrayLike],
        dim: int,
        nu: float | None,
        diameter: float | None,
        target: AffineLoss | None,
        equal_norm: bool,
        psi: Regularizer | None,
        norm: float | None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        self.dim = dim
        self.equal_norm = equal_norm
        self._oracle, self._target = lmo, target
        if nu is not None:
            self.nu = as_positive(nu, "nu")
        if diameter is not None:
            self.diameter = as_positive(diameter, "diameter")

    def __repr__(self) -> str:
        return f"space_from_lmo({getattr(self._oracle, '__name__', 'lmo')}, dim={self.dim})"

    def lmo(self, cost: Array) -> Array:
        # The function gets a copy: one that sorts or masks its argument in place must not hurt the caller.
        vertex = np.array(self._oracle(cost.copy()), dtype=np.float64)
        if vertex.shape != (self.dim,) or not np.isfinite(vertex).all():
            raise OracleError(
                f"{self!r} returned an array of shape {vertex.shape}; it must return a finite "
                f"vertex of length {self.dim}."
            )
        return vertex + 0.0  # no −0.0: equal vertices have equal bytes

    def target_loss(self) -> AffineLoss:
        return self._target if self._target is not None else super().target_loss()


class _ZeroOneLmoSpace(_LmoSpace, ZeroOneSpace):
    def lmo(self, cost: Array) -> Array:
        vertex = super().lmo(cost)
        if not ((vertex == 0) | (vertex == 1)).all():
            raise OracleError(
                f"{self!r} returned {np.array2string(vertex, threshold=12)}, which is no 0/1 vector. "
                "Return 0/1 vertices, or pass zero_one=False and nu=…."
            )
        return vertex


def space_from_lmo(
    lmo: Callable[[Array], ArrayLike],
    dim: int,
    *,
    zero_one: bool = True,
    nu: float | None = None,
    diameter: float | None = None,
    target: AffineLoss | None = None,
    equal_norm: bool = False,
    psi: Regularizer | None = None,
    norm: float | None = None,
) -> OutputSpace:
    """Make a space of a function that minimises a linear cost over its outputs.

    Parameters
    ----------
    lmo : callable
        From a cost vector to an output minimising ⟨cost, y⟩.
    dim : int
        Length of the vectors.
    zero_one : bool
        Whether the outputs are 0/1 vectors; then ν, the diameter, the nearest vertex and a Hamming
        target come for free.
    nu, diameter : float, optional
        Constants in `norm`, where they are known better than they can be derived.
    target : AffineLoss, optional
        The usual target loss.
    equal_norm : bool
        Whether all outputs have the same Euclidean norm; then the oracle finds the nearest vertex.
    psi, norm
        As for every space.

    Examples
    --------
    >>> import numpy as np, osp_core as osp
    >>> def best_pair(cost):  # outputs: two neighbours on a line of five
    ...     pairs = np.eye(5)[:4] + np.eye(5)[1:]
    ...     return pairs[np.argmin(pairs @ cost)]
    >>> space = osp.space_from_lmo(best_pair, 5)
    >>> float(space.nu), space.predict(np.array([0, 3.0, 3, 0, 0])).point.tolist()
    (1.4142135623730951, [0.0, 1.0, 1.0, 0.0, 0.0])
    """
    if not callable(lmo):
        raise InvalidInputError(f"lmo must be a function of a cost vector, got {lmo!r}.")
    kind = _ZeroOneLmoSpace if zero_one else _LmoSpace
    return kind(lmo, as_count(dim, "dim", most=MOST_COORDINATES), nu, diameter, target, equal_norm, psi, norm)
