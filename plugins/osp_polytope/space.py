"""Spaces over constraint sets: linear programs with any vertices, 0/1 sets, and integer points."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, UnsupportedError, as_positive
from osp_core.geometry.predictions import Prediction
from osp_core.regularizers import Regularizer
from osp_core.spaces import OutputSpace, ZeroOneSpace, derived
from osp_core.targets import AffineLoss
from osp_polytope.canonical import Family, StandardForm
from osp_polytope.entropies import BINARY, NEGATIVE, Entropy
from osp_polytope.enumeration import enumerate_vertices
from osp_polytope.integer_points import feasible_points, integer_span, rounded
from osp_polytope.integer_program import IntegerProgram
from osp_polytope.linear_program import LinearProgram
from osp_polytope.snapping import snap

_CONTEXTS = 128  # instances kept by `at`


class Polytope(OutputSpace):
    """The vertices of a polytope given by constraints; make it with `polytope`.

    Vectors are the entries of the cvxpy variable in C order (row by row). Vertices are exact to 1e−10:
    entries that near to a fraction with a denominator up to 1000 are that fraction.
    """

    def __init__(
        self,
        program: LinearProgram | IntegerProgram,
        shape: tuple[int, ...],
        *,
        integral: bool | None = None,
        family: Family | None = None,
        conic: Any = None,
        nu: float | None = None,
        target: AffineLoss | None = None,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        self.program, self.shape, self.family = program, shape, family
        self.dim = program.form.dim
        self.integral, self.given_nu, self.given_target = integral, nu, target
        self._conic = conic
        if nu is not None:
            self.nu = as_positive(nu, "nu")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.program.describe()}, dim={self.dim})"

    @property
    def solver(self) -> str:
        """Who computes predictions first."""
        return "highs" if self._conic is None else str(self._conic.name)

    @property
    def oracle_calls(self) -> int:
        """How often a linear cost was minimised so far, by anybody who shares this space's solver."""
        return self.program.calls

    @property
    def solves(self) -> int:
        """How many of these needed branch and bound; 0 for linear programs."""
        return getattr(self.program, "solves", 0)

    def lmo(self, cost: Array) -> Array:
        return self.program.minimize(cost)

    # --- predictions ---------------------------------------------------------------------------------

    def project(self, point: Array) -> Prediction:
        if self._conic is not None:
            answer = self._conic.project(point, self.lmo)
            if answer is not None:
                return answer
        return super().project(point)

    def kl_project(self, log_weights: Array) -> Prediction:
        return self._entropic(NEGATIVE, log_weights)

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        return self._entropic(BINARY, log_odds)

    def _entropic(self, entropy: Entropy, weights: Array) -> Prediction:
        self.psi.strong_convexity(self, self.norm)  # refuses entries outside the domain
        if self._conic is not None:
            answer = self._conic.entropic(entropy, weights, self.lmo)
            if answer is not None:
                return answer
        return self._entropic_over[entropy.binary].minimize(weights, self.lmo)

    @cached_property
    def _entropic_over(self) -> dict[bool, Any]:
        from osp_polytope.entropic_polytope import EntropicPolytope

        return {one.binary: EntropicPolytope(self.program.form, one) for one in (NEGATIVE, BINARY)}

    # --- membership and labels -----------------------------------------------------------------------

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        if vector.shape != (self.dim,) or not np.isfinite(vector).all():
            return False
        if not np.array_equal(snap(vector), vector):
            return False
        known = self.program.is_basic(vector)
        return super().is_vertex(vector) if known is None else known

    def from_label(self, label: Any) -> Array:
        array = label if isinstance(label, np.ndarray) else np.array(label, dtype=object)
        if array.size == self.dim and array.shape == self.shape:
            label = array.reshape(-1)
        return super().from_label(label)

    def to_label(self, vertex: Array) -> Any:
        """The vertex in the shape of the cvxpy variable."""
        return vertex if len(self.shape) == 1 else np.asarray(vertex).reshape(self.shape)

    def vertices(self) -> Array:
        return self._vertices

    @derived
    def _vertices(self) -> Array:
        rows = enumerate_vertices(self.lmo, self.dim, self._span.complement, repr(self))
        rows.setflags(write=False)
        return rows

    def target_loss(self) -> AffineLoss:
        return self.given_target if self.given_target is not None else super().target_loss()

    # --- instances -----------------------------------------------------------------------------------

    def at(self, context: Any) -> OutputSpace:
        """The set with other values of its cvxpy parameters: ``space.at({"capacity": 7})``; kept by value."""
        if context is None:
            return self
        if self.family is None or not self.family.parameters:
            raise UnsupportedError(f"{self!r} has no cvxpy Parameter, so it is the same in every round.")
        if not isinstance(context, Mapping):
            raise InvalidInputError(
                f"The context of {self!r} is a mapping from parameter names to values, got {context!r}."
            )
        key = tuple((name, np.asarray(context[name], dtype=float).tobytes()) for name in sorted(context))
        if key not in self._instances:
            self._instances[key] = self._make(self.family.instance(context))
            if len(self._instances) > _CONTEXTS:
                self._instances.popitem(last=False)
        self._instances.move_to_end(key)
        return self._instances[key].accurate_to(self.accuracy)

    @derived
    def _instances(self) -> OrderedDict[Any, OutputSpace]:
        """The sets of earlier rounds, by the values of the parameters."""
        return OrderedDict()

    def without(self, coordinates: Any) -> OutputSpace:
        """The outputs that are zero at these coordinates: what `masked` asks for."""
        from osp_polytope.factory import forbid

        return self._make(forbid(self.program.form, coordinates))

    def _make(self, form: StandardForm) -> OutputSpace:
        from osp_polytope.factory import make_like

        return make_like(self, form)


class ZeroOnePolytope(Polytope, ZeroOneSpace):
    """Constraints with 0/1 vertices: Prop. 5 finds the nearest one, and all constants are known."""

    def nearest_vertex(self, point: Array) -> Array:
        # Rounding is nearest entry by entry; if the constraints allow it, no solver is needed.
        if (nearby := rounded(self, point)) is not None:
            return nearby
        return ZeroOneSpace.nearest_vertex(self, point)

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        if vector.shape != (self.dim,) or not ((vector == 0) | (vector == 1)).all():
            return False
        return self.program.feasible(vector)

    @derived
    def _vertices(self) -> Array:
        return feasible_points(self, np.zeros(self.dim), np.ones(self.dim))

    @derived
    def nu1(self) -> float:
        return 2.0 if self.constant_mass else 1.0

    @derived
    def _span(self) -> Any:
        return integer_span(self)

    def target_loss(self) -> AffineLoss:
        return self.given_target if self.given_target is not None else ZeroOneSpace.target_loss(self)
