"""The linear oracle and what is checked of its answers; a cache of the vertices it gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osp_core.errors import Array, InvalidInputError, OracleError, as_count
from osp_core.frank_wolfe.active_set import ActiveSet

_INTEGRAL = 1e-6  # an LP solver's 0/1 vertices are 0/1 to this accuracy
_RELATIVE, _ABSOLUTE = 1e-6, 1e-7  # optimality tolerances of LP solvers, the least exact oracles there are


class Oracle:
    """A function that returns a vertex minimising ⟨cost, v⟩, with checks of every answer.

    `minimize` wraps a plain function in one of these; make it yourself to ask for the optional checks.

    Parameters
    ----------
    lmo : callable
        Takes a cost vector, returns a vertex.
    zero_one : bool
        Vertices are known to be 0/1: answers are rounded when close to it and refused otherwise.
    is_vertex : callable, optional
        Any further test of an answer.
    name : str, optional
        What error messages call it; by default the name of `lmo`.
    """

    def __init__(
        self,
        lmo: Callable[[Array], ArrayLike],
        *,
        zero_one: bool = False,
        is_vertex: Callable[[Array], bool] | None = None,
        name: str | None = None,
    ) -> None:
        if not callable(lmo):
            raise InvalidInputError(f"The linear oracle must be callable, got {type(lmo).__name__}.")
        self.lmo = lmo
        self.zero_one = zero_one
        self.is_vertex = is_vertex
        self.name = name or getattr(lmo, "__qualname__", type(lmo).__name__)

    def __call__(self, cost: Array) -> Array:
        """Return a vertex of least cost, or raise `OracleError`."""
        answer = self.lmo(cost.copy())  # a copy: an oracle may scribble on its argument
        try:
            vertex = np.array(answer, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._error("a value that is no vector of numbers") from error
        if vertex.shape != cost.shape:
            raise self._error(f"an array of shape {vertex.shape} for a cost of shape {cost.shape}")
        if not np.isfinite(vertex).all():
            where = int(np.flatnonzero(~np.isfinite(vertex))[0])
            raise self._error(f"a vertex with {vertex[where]} at index {where}")
        if self.zero_one:
            vertex = self._rounded(vertex)
        if self.is_vertex is not None and not self.is_vertex(vertex):
            raise self._error("a point that is not a vertex")
        return vertex

    def cheaper(self, cost: Array, vertex: Array, rival: Array) -> Array:
        """Return the cheaper of two vertices; `OracleError` if the answer loses by more than rounding."""
        difference = vertex - rival
        excess = float(cost @ difference)
        if excess <= 0.0:
            return vertex
        tolerance = _RELATIVE * float(np.abs(cost).max(initial=0.0)) + _ABSOLUTE
        rounding = 1e-15 * float(np.abs(cost) @ (np.abs(vertex) + np.abs(rival)))
        if excess > tolerance * float(np.abs(difference).sum()) + rounding:
            raise self._error(
                f"a vertex that costs {excess:.3g} more than another vertex it returned before; it must "
                "minimise the cost (did it maximise?)"
            )
        return rival

    def _rounded(self, vertex: Array) -> Array:
        rounded = np.round(vertex)
        if (
            np.abs(vertex - rounded).max(initial=0.0) > _INTEGRAL
            or not ((rounded == 0) | (rounded == 1)).all()
        ):
            raise self._error("a point with entries other than 0 and 1, which is no vertex of a 0/1 set")
        return rounded + 0.0  # −0.0 becomes 0.0

    def _error(self, what: str) -> OracleError:
        return OracleError(f"The linear oracle {self.name!r} returned {what}.")


class VertexCache:
    """Vertices an oracle has returned, kept across calls of `minimize`.

    Methods that are lazy look here before they ask an expensive oracle; optimality is always
    certified by the oracle itself.

    Parameters
    ----------
    capacity : int
        The number of vertices kept; beyond it the one unused for longest is forgotten.
    """

    def __init__(self, capacity: int = 1000) -> None:
        self.capacity = as_count(capacity, "capacity")
        self._vertices: ActiveSet | None = None
        self._last_used: list[int] = []
        self._clock = 0

    def __len__(self) -> int:
        return len(self._last_used)

    def add(self, vertex: Array) -> None:
        """Remember a vertex."""
        if self._vertices is None:
            self._vertices = ActiveSet(vertex.size)
        if vertex.size != self._vertices.dim:
            raise InvalidInputError(
                f"This cache holds vertices of length {self._vertices.dim}, not {vertex.size}; "
                "use one cache per space."
            )
        position = self._vertices.add(vertex)
        if position == len(self._last_used):
            self._last_used.append(0)
        self._touch(position)
        if len(self._last_used) > self.capacity:
            oldest = int(np.argmin(self._last_used))
            self._vertices.drop(oldest)
            del self._last_used[oldest]

    def cheapest(self, cost: Array) -> Array | None:
        """Return the remembered vertex of least cost, or None when there is none."""
        if self._vertices is None or self._vertices.dim != cost.size:
            return None
        position = int(np.argmin(self._vertices.slopes(cost)))
        self._touch(position)
        return self._vertices.atoms.dense(position)

    def state(self) -> dict[str, NDArray[Any]]:
        """What is remembered and when it was used, as arrays; empty when nothing is."""
        if self._vertices is None:
            return {}
        rows = [self._vertices.atoms.dense(position) for position in range(len(self))]
        return {"vertices": np.array(rows), "used": np.array([*self._last_used, self._clock])}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Remember what `state` returned, and nothing else."""
        self._vertices, self._last_used, self._clock = None, [], 0
        if state:
            for vertex in state["vertices"]:
                self.add(vertex)
            *self._last_used, self._clock = (int(moment) for moment in state["used"])

    def _touch(self, position: int) -> None:
        self._clock += 1
        self._last_used[position] = self._clock
