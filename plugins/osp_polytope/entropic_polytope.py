"""Entropic predictions over a polytope given by its constraints."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from osp_core.errors import Array, NumericalError
from osp_core.frank_wolfe import Status
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction
from osp_polytope.canonical import StandardForm
from osp_polytope.entropies import SMALLEST, Entropy
from osp_polytope.interior_point import EntropicProgram
from osp_polytope.relative_interior import relative_interior

_OUTSIDE = 1e-8  # how far the answer may miss the constraints
_ENTRY = 1e-9  # outputs that stay this near to the end of the domain are constant


class EntropicPolytope:
    """Minimises Σ φ(yᵢ) − ⟨w, y⟩ over a polytope: the interior is found once, then all is Newton steps."""

    def __init__(self, form: StandardForm, entropy: Entropy) -> None:
        self.form, self.entropy = form, entropy

    def minimize(self, weights: Array, lmo: Callable[[Array], Array]) -> Prediction:
        """Return the minimiser with its Frank–Wolfe gap."""
        if not (self._interior.free.any() and self._moving.any()):  # there is one output only
            return Prediction(lmo(np.zeros(self.form.dim)), lmo_calls=1)
        x = self._interior.point.copy()
        x[self._interior.free], inside, rest = self._program.solve(weights[self._moving])
        read = self.form.outputs @ x + self.form.offset
        y = np.round(read)
        y[self._moving] = inside
        missed = max(self.form.violation(x), float(np.abs(y - read).max()))
        if missed > _OUTSIDE * (1.0 + float(np.abs(x).max())):
            raise NumericalError(
                f"The entropic prediction misses the constraints by {missed:.3g}: the set is too thin in "
                "some direction. Make it flat with equations, or use psi=SquaredNorm()."
            )
        return certified(self.entropy, weights, y, self._moving, lmo, rest)

    @cached_property
    def _interior(self) -> Any:
        return relative_interior(self.form)

    @cached_property
    def _moving(self) -> Any:
        """The outputs inside the domain of the entropy; the others are 0, or 1, at every point."""
        y = self.form.outputs @ self._interior.point + self.form.offset
        return (y > _ENTRY) & (y < self.entropy.high - _ENTRY)

    @cached_property
    def _program(self) -> EntropicProgram:
        form, interior = self.form, self._interior
        fixed = np.where(interior.free, 0.0, interior.point)
        outputs = form.outputs[self._moving][:, interior.free].toarray()
        diagonal = None
        if ((outputs == 0) | (outputs == 1)).all() and (outputs.sum(axis=1) == 1).all():
            columns = outputs.argmax(axis=1)
            diagonal = columns if len(np.unique(columns)) == len(columns) else None
        return EntropicProgram(
            interior.matrix,
            outputs,
            (form.outputs @ fixed + form.offset)[self._moving],
            form.low[interior.free],
            form.high[interior.free],
            interior.point[interior.free],
            self.entropy,
            diagonal,
        )


def certified(
    entropy: Entropy,
    weights: Array,
    y: Array,
    moving: Any,
    lmo: Callable[[Array], Array],
    rest: Array | None = None,
    combination: ConvexCombination | None = None,
) -> Prediction:
    """A prediction with the gap that one oracle call proves; constant outputs have no part in it."""
    slope = np.zeros(len(y))
    inside = np.maximum(y[moving], SMALLEST)
    outside = np.maximum(1.0 - inside, 1e-17) if rest is None else np.maximum(rest, SMALLEST)
    slope[moving] = entropy.slope(inside, outside) - weights[moving]
    gap = max(0.0, float(slope @ (y - lmo(slope))))
    value = abs(entropy.value(inside, outside) - float(weights[moving] @ inside))
    status = Status.OPTIMAL if gap <= 1e-8 * (1.0 + value) else Status.STALLED
    return Prediction(y, combination, gap, status, 1)
