"""copt's Frank–Wolfe on the same problems, with an oracle written for its interface."""

from __future__ import annotations

import contextlib
import io
import time
from typing import Any

import numpy as np
from frank_wolfe_problems import Array, Problem

VARIANTS = ("pairwise, DR", "pairwise, backtracking", "vanilla, DR")


class Watch:
    """copt asks its oracle for a direction; this one also records the Frank–Wolfe gap and the time."""

    def __init__(self, problem: Problem, pairwise: bool) -> None:
        self.problem, self.pairwise = problem, pairwise
        self.vertices: Array = np.empty((16, problem.dim))
        self.index: dict[bytes, int] = {}
        self.trajectory: list[tuple[int, int, float, float]] = []
        self.start = time.perf_counter()

    def register(self, vertex: Array) -> int:
        key = vertex.astype(np.int8).tobytes()
        if key not in self.index:
            self.index[key] = count = len(self.index)
            if count == len(self.vertices):
                self.vertices = np.concatenate([self.vertices, np.empty_like(self.vertices)])
            self.vertices[count] = vertex
        return self.index[key]

    def __call__(self, ascent: Array, point: Array, active: dict[int, float] | None) -> tuple[Any, ...]:
        vertex = self.problem.lmo(-ascent)
        calls = len(self.trajectory) + 1
        gap = float(ascent @ (vertex - point))
        self.trajectory.append((calls, calls, time.perf_counter() - self.start, gap))
        if not self.pairwise:
            return vertex - point, None, None, 1.0
        assert active is not None
        # copt keeps dropped atoms with weight zero; they must not be chosen again.
        used = np.array([each for each, weight in active.items() if weight > 0.0])
        slopes = self.vertices[: len(self.index)] @ ascent
        away = int(used[np.argmin(slopes[used])])
        return vertex - self.vertices[away], self.register(vertex), away, active[away]


def run(problem: Problem, seed: int, variant: str, tol: float, time_limit: float) -> dict[str, Any]:
    """Return the trajectory and the size of the active set of one run."""
    import copt

    kind, step = variant.split(", ")
    centre = problem.centre(seed)
    watch = Watch(problem, kind == "pairwise")
    start = problem.lmo(-centre)
    first = watch.register(start)

    def stop(_: dict[str, Any]) -> bool:
        _, _, seconds, gap = watch.trajectory[-1]
        return gap > tol and seconds < time_limit

    with contextlib.redirect_stdout(io.StringIO()):  # it prints its estimate of the Lipschitz constant
        result = copt.minimize_frank_wolfe(
            lambda y: (0.5 * float((y - centre) @ (y - centre)), y - centre),
            start,
            watch,
            x0_rep=first,
            variant=kind,
            jac=True,
            step=step,
            lipschitz=1.0 if step == "DR" else None,
            max_iter=10**6,
            tol=0.0,
            callback=stop,
        )
    active = result.active_set or {}
    return {
        "trajectory": [(i, calls + 1, seconds, gap) for i, calls, seconds, gap in watch.trajectory],
        "active": sum(weight > 0 for weight in active.values()) or len(watch.index),
    }
