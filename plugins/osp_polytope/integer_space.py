"""Spaces of integral outputs: integral vertices of linear programs, and the points of integer programs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction
from osp_core.spaces import OutputSpace, derived
from osp_core.spaces.by_oracle import projection_tol
from osp_polytope.entropies import BINARY, NEGATIVE
from osp_polytope.enumeration import enumerate_vertices
from osp_polytope.integer_points import can_list, feasible_points, integer_span, rounded
from osp_polytope.integer_program import IntegerProgram
from osp_polytope.space import Polytope, ZeroOnePolytope


class IntegerPolytope(Polytope):
    """Integer points, or integral vertices: ν = 1, or 2^(1/p) when all have the same sum.

    Over the integer points of an integer program, rounding, or a second integer program, finds the nearest
    output. Over the vertices of a linear program they are listed where they are few; otherwise the decoder
    has a candidate.
    """

    @derived
    def nu(self) -> float:
        return float((2.0 if self.constant_mass else 1.0) ** (1.0 / self.norm))

    def nu_in(self, p: float) -> float:
        if self.given_nu is not None:
            return super().nu_in(p)
        return float((2.0 if self.constant_mass else 1.0) ** (1.0 / p))

    def nearest_vertex(self, point: Array) -> Array:
        if not isinstance(self.program, IntegerProgram):
            return OutputSpace.nearest_vertex(self, point)
        if (nearby := rounded(self, point)) is not None:
            return nearby
        return self.program.nearest(point, self.norm)

    @derived
    def nearest_is_exact(self) -> bool:
        if isinstance(self.program, IntegerProgram):
            return not np.isinf(self.norm)
        return can_list(self)

    def is_vertex(self, y: ArrayLike) -> bool:
        if not isinstance(self.program, IntegerProgram):
            return super().is_vertex(y)
        vector = np.asarray(y, dtype=np.float64)
        return (
            vector.shape == (self.dim,) and bool(np.isfinite(vector).all()) and self.program.feasible(vector)
        )

    @derived
    def _vertices(self) -> Array:
        if isinstance(self.program, IntegerProgram):
            return feasible_points(self, *self._box)
        return enumerate_vertices(self.lmo, self.dim, self._span.complement, repr(self))

    @derived
    def _span(self) -> Any:
        return integer_span(self)


class _Hull:
    """Predictions over the hull of integer points: the engine with a cache of the points found so far."""

    program: IntegerProgram

    def project(self: Any, point: Array) -> Prediction:
        from osp_polytope.hull_projection import project_on_hull

        return project_on_hull(point, self.lmo, self.program.cache, projection_tol(self))

    @cached_property
    def _entropic_over(self: Any) -> dict[bool, Any]:
        from osp_polytope.entropic_hull import EntropicHull

        return {one.binary: EntropicHull(self.program.cache, self.dim, one) for one in (NEGATIVE, BINARY)}

    # Which of several combinations of a point is found depends on the points that are known.
    def memory(self: Any) -> dict[str, Array]:
        known = {f"cache.{key}": value for key, value in self.program.cache.state().items()}
        for binary, hull in self.__dict__.get("_entropic_over", {}).items():
            known["binary" if binary else "entropic"] = hull.known()
        return known

    def recall(self: Any, memory: Mapping[str, Array]) -> None:
        cache = {key.removeprefix("cache."): memory[key] for key in memory if key.startswith("cache.")}
        self.program.cache.load_state(cache)
        self.__dict__.pop("_entropic_over", None)
        if "entropic" in memory:
            for binary, hull in self._entropic_over.items():
                hull.learn(memory["binary" if binary else "entropic"])


class ZeroOneHull(_Hull, ZeroOnePolytope):
    """The 0/1 points of an integer program."""


class IntegerHull(_Hull, IntegerPolytope):
    """The integer points of an integer program."""

    def decompose(self, point: Array) -> ConvexCombination:
        # An output inside the hull is a mixture of others too, but it is played as itself.
        if self.is_vertex(point):
            return ConvexCombination(point[np.newaxis] + 0.0, np.ones(1))
        return super().decompose(point)
