"""Spaces with forbidden coordinates, which may change from round to round."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osp_core.errors import Array, InvalidInputError, NotAVertexError, UnsupportedError
from osp_core.geometry.predictions import Prediction
from osp_core.regularizers import Regularizer
from osp_core.spaces.base import OutputSpace
from osp_core.spaces.derived import derived
from osp_core.spaces.product import SumOfFactors
from osp_core.spaces.zero_one import ZeroOneSpace
from osp_core.targets import AffineLoss

_KEPT = 256  # masks whose spaces `at` remembers


class InfeasibleMaskError(InvalidInputError):
    """Every output uses a forbidden coordinate."""


class Masked(ZeroOneSpace):
    """The outputs of a 0/1 space that are zero at forbidden coordinates.

    Classes that are out of stock, edges that are closed, pairs that may not be matched. The oracle is
    that of the space with costs on the forbidden coordinates that no output is worth; a space with a
    method ``without(coordinates)`` restricts itself exactly instead.

    Parameters
    ----------
    space : OutputSpace
        With 0/1 outputs.
    forbidden : collection of int, or array of bool
        Indices, or a mask that is true where an output must be zero.
    psi, norm
        Those of the space by default.

    Examples
    --------
    >>> import numpy as np, osp_core as osp
    >>> space = osp.masked(osp.vertices(np.eye(3), labels=["red", "green", "blue"]), [1])
    >>> space.to_label(space.lmo(np.array([1.0, 0.0, 0.5])))
    'blue'
    >>> space.at([0]).vertices().tolist()  # this round red is forbidden as well
    [[0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        space: OutputSpace,
        forbidden: Any = (),
        *,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        if not isinstance(space, OutputSpace) or not space.zero_one:
            raise InvalidInputError(f"masked needs a space of 0/1 outputs, got {space!r}.")
        if psi is None and isinstance(space.psi, SumOfFactors):
            raise InvalidInputError("Mask the factors of a product one by one: product([masked(…), …]).")
        super().__init__(psi=space.psi if psi is None else psi, norm=space.norm if norm is None else norm)
        self._given, self.dim = space, space.dim
        self.forbidden = as_coordinates(forbidden, space.dim)
        self.equal_norm = space.equal_norm
        self.lmo(np.zeros(self.dim))  # a mask that leaves nothing is refused here

    def __repr__(self) -> str:
        return f"Masked({self._given!r}, {len(self.forbidden)} forbidden)"

    @derived
    def space(self) -> OutputSpace:
        """The space behind the mask, with the same Ψ."""
        return self._given if self._given.psi == self.psi else self._given.with_psi(self.psi)

    @derived
    def _restricted(self) -> OutputSpace | None:
        """The space that restricts itself, where it can."""
        without = getattr(self.space, "without", None)
        if without is None or not len(self.forbidden):
            return None
        try:
            restricted: OutputSpace = without(self.forbidden)
        except UnsupportedError:
            return None
        except InvalidInputError as error:
            raise self._nothing_left() from error
        return restricted

    def memory(self) -> dict[str, Any]:
        return (self._restricted or self.space).memory()

    def recall(self, memory: Mapping[str, Any]) -> None:
        (self._restricted or self.space).recall(memory)

    def lmo(self, cost: Array) -> Array:
        if self._restricted is not None:
            return self._restricted.lmo(cost)
        vertex = self.space.lmo(self._penalised(cost))
        if vertex[self.forbidden].any():
            raise self._nothing_left()
        return vertex

    def _penalised(self, cost: Array) -> Array:
        # One forbidden coordinate costs more than all others together could save.
        high = cost.copy()
        high[self.forbidden] = 0.0
        high[self.forbidden] = 4.0 * float(np.abs(high).sum()) or 1.0
        return high

    def _lowered(self, scores: Array, depth: float) -> Array:
        """Scores that keep the forbidden coordinates at zero in any regularised prediction."""
        lowered = scores.copy()
        lowered[self.forbidden] = 0.0
        lowered[self.forbidden] = -depth - 4.0 * float(np.abs(lowered).sum())
        return lowered

    def _nothing_left(self) -> InfeasibleMaskError:
        shown = ", ".join(map(str, self.forbidden[:8].tolist())) + (", …" if len(self.forbidden) > 8 else "")
        return InfeasibleMaskError(
            f"No output of {self.space!r} avoids the forbidden coordinates {shown}. Allow some output."
        )

    # --- predictions ---------------------------------------------------------------------------------

    def project(self, point: Array) -> Prediction:
        if self._restricted is not None:
            return self._restricted.accurate_to(self.accuracy).project(point)
        if type(self.space).project is not OutputSpace.project:
            whole = self.space.accurate_to(self.accuracy)
            answer = self._kept(whole.project(self._lowered(point, 4.0 + self.dim)))
            if answer is not None:
                return answer
        return super().project(point)

    def kl_project(self, log_weights: Array) -> Prediction:
        return self._entropic("kl_project", log_weights)

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        return self._entropic("binary_kl_project", log_odds)

    def _entropic(self, method: str, scores: Array) -> Prediction:
        if self._restricted is not None:
            restricted = self._restricted.accurate_to(self.accuracy)
            return getattr(restricted, method)(scores)  # type: ignore[no-any-return]
        whole = self.space.accurate_to(self.accuracy)
        answer = self._kept(getattr(whole, method)(self._lowered(scores, 800.0)))
        if answer is None:
            raise UnsupportedError(
                f"The entropic prediction of {self.space!r} does not reach zero on forbidden coordinates; "
                "use psi=SquaredNorm()."
            )
        return answer

    def _kept(self, answer: Prediction) -> Prediction | None:
        """The prediction of the whole space, if it is one of the masked space."""
        return None if answer.point[self.forbidden].any() else answer

    def marginals(self, theta: Array) -> Array:
        marginals = self.space.marginals(self._lowered(theta, 800.0)).copy()
        marginals[self.forbidden] = 0.0  # e^−800 is below the smallest number, but rounding is not
        return marginals

    def log_partition(self, theta: Array) -> float:
        return self.space.log_partition(self._lowered(theta, 800.0))

    # --- membership and labels -----------------------------------------------------------------------

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        return (
            vector.shape == (self.dim,) and not vector[self.forbidden].any() and self.space.is_vertex(vector)
        )

    def vertices(self) -> Array:
        rows = self.space.vertices()
        return np.asarray(rows[~rows[:, self.forbidden].any(axis=1)])

    def from_label(self, label: Any) -> Array:
        y = self.space.from_label(label)
        if y[self.forbidden].any():
            where = self.forbidden[np.flatnonzero(y[self.forbidden])[0]]
            raise NotAVertexError(f"{label!r} uses coordinate {where}, which is forbidden in this round.")
        return y

    def to_label(self, vertex: Array) -> Any:
        return self.space.to_label(vertex)

    # --- constants -----------------------------------------------------------------------------------

    @derived
    def nu(self) -> float:
        """Fewer outputs are no closer to one another; and they may have a common mass where all had not."""
        return max(self.space.nu_in(self.norm), float(self.nu1 ** (1.0 / self.norm)))

    def diameter_in(self, p: float) -> float:
        return min(super().diameter_in(p), self.space.diameter_in(p))

    def target_loss(self) -> AffineLoss:
        return self.space.target_loss()

    def at(self, context: Any) -> OutputSpace:
        """The space of a round that forbids these coordinates besides those always forbidden.

        `context` is like `forbidden`; or a mapping with the keys "forbidden" and "context", the latter for
        the masked space itself.
        """
        if context is None:
            return self
        if isinstance(context, Mapping):
            space = self.space.at(context.get("context"))
            round_mask = as_coordinates(context.get("forbidden", ()), space.dim)
            instance = Masked(space, np.union1d(self.forbidden, round_mask), psi=self.psi, norm=self.norm)
            return instance.accurate_to(self.accuracy)
        both = np.union1d(self.forbidden, as_coordinates(context, self.dim))
        key = both.tobytes()
        if key not in self._instances:
            self._instances[key] = Masked(self.space, both, psi=self.psi, norm=self.norm)
            if len(self._instances) > _KEPT:
                self._instances.popitem(last=False)
        self._instances.move_to_end(key)
        return self._instances[key].accurate_to(self.accuracy)

    @derived
    def _instances(self) -> OrderedDict[bytes, Masked]:
        """The spaces of earlier rounds, by mask."""
        return OrderedDict()

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        from osp_core.regularizers import GibbsEntropy
        from osp_core.spaces.from_lmo import space_from_lmo
        from osp_core.spaces.vertices import Vertices

        lines = space_from_lmo(_cheapest_pair, 5)
        corners = Vertices(np.eye(4), norm=1.0)
        cube = space_from_lmo(_cheapest_corner, 4)
        return (
            cls(lines, [0]),
            cls(corners, [1, 3], psi=GibbsEntropy(1.0)),
            cls(cube, [2]),
            cls(lines, [0, 4, 3]),
        )


def _cheapest_pair(cost: Array) -> Array:
    pairs = np.eye(5)[:4] + np.eye(5)[1:]
    return np.asarray(pairs[np.argmin(pairs @ cost)])


def _cheapest_corner(cost: Array) -> Array:
    return (cost < 0).astype(np.float64)


def as_coordinates(forbidden: Any, dim: int) -> NDArray[np.intp]:
    """Sorted distinct indices from a collection of them, or from a mask."""
    try:
        array = np.asarray(sorted(forbidden) if isinstance(forbidden, set | frozenset) else forbidden)
    except (TypeError, ValueError) as error:  # ragged, or not even comparable
        raise InvalidInputError(f"forbidden must be indices or a boolean mask, got {forbidden!r}.") from error
    if array.dtype == np.bool_:
        if array.shape != (dim,):
            raise InvalidInputError(f"A mask must have {dim} entries, got an array of shape {array.shape}.")
        return np.flatnonzero(array)
    if array.size == 0:
        return np.zeros(0, dtype=np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidInputError(f"forbidden must be indices or a boolean mask, got {forbidden!r}.")
    if array.min() < 0 or array.max() >= dim:
        raise InvalidInputError(
            f"forbidden has index {array.min() if array.min() < 0 else array.max()}; "
            f"there are coordinates 0 to {dim - 1}."
        )
    return np.unique(array).astype(np.intp)
