"""One run of the engine: the state every method works on, its limits and its certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from osp_core.errors import Array
from osp_core.frank_wolfe.active_set import ActiveSet
from osp_core.frank_wolfe.objectives import Objective
from osp_core.frank_wolfe.oracle import Oracle, VertexCache
from osp_core.frank_wolfe.result import Result
from osp_core.geometry.status import Status

_PATIENCE = 3  # steps in a row that may change nothing before the run counts as stalled


@dataclass(frozen=True, eq=False)
class Progress:
    """What a callback is told after every step; `gap` is the last one certified."""

    iteration: int
    lmo_calls: int
    seconds: float
    gap: float
    point: Array


@dataclass(frozen=True)
class Limits:
    """When to stop, and whom to tell."""

    tol: float
    distance_tol: float | None
    max_iter: int
    time_limit: float | None
    callback: Callable[[Progress], object] | None
    trajectory: bool


@dataclass(frozen=True, eq=False)
class View:
    """The current point, the gradient there, and ⟨gradient, atom⟩ for every atom up to a constant."""

    point: Array
    gradient: Array
    slopes: Array


@dataclass(frozen=True, eq=False)
class Answer:
    """A vertex and ⟨gradient, point − vertex⟩; the Frank–Wolfe gap when the vertex is the oracle's."""

    vertex: Array
    gap: float


class Search:
    """The state of one run: objective, oracle, active set, counts and verdict."""

    def __init__(
        self,
        oracle: Oracle,
        objective: Objective,
        limits: Limits,
        cache: VertexCache | None,
    ) -> None:
        self.objective = objective
        self.active: ActiveSet  # set once the first vertices are known
        self.limits = limits
        self.status = Status.MAX_ITER
        self.iterations = 0
        self.lmo_calls = 0
        self._oracle = oracle
        self._cache = cache
        self._start = time.perf_counter()
        self._gap = np.inf
        self._certified = False  # whether `_gap` belongs to the current point
        self._noisy = 0  # certificates not far above the rounding
        self._idle = 0  # steps in a row that changed nothing
        self._trajectory: list[tuple[int, int, float, float]] = []

    def proceed(self) -> bool:
        """Count one more iteration, unless a limit or the callback forbids it."""
        limits = self.limits
        self.forget_certificate()  # a step has moved the point
        if limits.callback is not None and self.iterations and limits.callback(self._progress()):
            self.status = Status.INTERRUPTED
        elif limits.time_limit is not None and self.seconds > limits.time_limit:
            self.status = Status.TIME_LIMIT
        elif self._idle >= _PATIENCE:
            self.status = Status.STALLED
        elif self.iterations >= limits.max_iter:
            self.status = Status.MAX_ITER
        else:
            self.iterations += 1
            return True
        return False

    def look(self) -> View:
        """Evaluate the gradient at the current point."""
        point = self.active.mean
        gradient = self.objective.gradient(point)
        return View(point, gradient, self.active.slopes(gradient))

    def ask(self, view: View) -> Answer:
        """Call the oracle; the answer carries the Frank–Wolfe gap of the current point."""
        best = self.active.atoms.dense(int(np.argmin(view.slopes)))
        vertex = self._oracle.cheaper(view.gradient, self.vertex(view.gradient), best)
        gap = float(view.gradient @ (view.point - vertex))
        self._gap, self._certified = max(gap, 0.0), True
        if self.limits.trajectory:
            self._trajectory.append((self.iterations, self.lmo_calls, self.seconds, self._gap))
        return Answer(vertex, gap)

    def vertex(self, cost: Array) -> Array:
        """Call the oracle and remember its answer."""
        self.lmo_calls += 1
        vertex = self._oracle(cost)
        if self._cache is not None:
            self._cache.add(vertex)
        return vertex

    def recall(self, view: View) -> Answer | None:
        """Return the most promising vertex of the cache, without calling the oracle."""
        vertex = None if self._cache is None else self._cache.cheapest(view.gradient)
        if vertex is None:
            return None
        return Answer(vertex, float(view.gradient @ (view.point - vertex)))

    def note(self, point: Array) -> None:
        """Take notice of the point a step leads to; a run of steps that change nothing is a stall."""
        self._idle = self._idle + 1 if np.array_equal(point, self.active.mean) else 0

    def settled(self, view: View, answer: Answer) -> bool:
        """Whether the gap of the oracle's answer is below its target or below what rounding lets one see."""
        self.status = Status.STALLED  # unless the final certificate says better
        floor = self.rounding(view, view.point - answer.vertex)
        if answer.gap <= max(self.target(view), floor):
            return True
        if answer.gap <= 100 * floor:
            self._noisy += 1
        return self._noisy > 100

    def forget_certificate(self) -> None:
        """Note that the last certified gap no longer belongs to the current point."""
        self._certified = False

    def close_enough(self, view: View) -> bool:
        """Whether the point is as near to the centre as was asked for."""
        limit = self.limits.distance_tol
        return limit is not None and float(np.linalg.norm(view.gradient)) <= limit

    def target(self, view: View) -> float:
        """The gap at which to stop, rounding aside."""
        if self.limits.distance_tol is not None:
            return 0.0
        return self.limits.tol * self.objective.scale(view.point)

    def rounding(self, view: View, difference: Array) -> float:
        """How far ⟨gradient, difference⟩ may be off because of rounding."""
        return self.objective.rounding(view.point, view.gradient, difference)

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.perf_counter() - self._start

    def result(self) -> Result:
        """Return the final point, recomputed from the atoms, with its gap."""
        self.active.prune()
        self.active.normalise()
        view = self.look()
        if not self._certified:
            self.ask(view)
        return Result(
            point=view.point.copy(),
            combination=self.active.combination(),
            gap=self._gap,
            status=self._verdict(view),
            iterations=self.iterations,
            lmo_calls=self.lmo_calls,
            trajectory=tuple(self._trajectory),
        )

    def _verdict(self, view: View) -> Status:
        if self.status is Status.INTERRUPTED:
            return self.status
        if self.limits.distance_tol is not None:
            return Status.OPTIMAL if self.close_enough(view) else self.status
        allowed = self.limits.tol * (1.0 + abs(self.objective.value(view.point)))
        return Status.OPTIMAL if self._gap <= allowed else self.status

    def _progress(self) -> Progress:
        return Progress(self.iterations, self.lmo_calls, self.seconds, self._gap, self.active.mean.copy())
