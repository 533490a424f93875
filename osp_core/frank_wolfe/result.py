"""What a run of the engine returns: the point, its atoms and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from osp_core.combinations import ConvexCombination
from osp_core.errors import Array


class Status(StrEnum):
    """How a computation ended."""

    EXACT = "exact"  # a closed form: no iteration, no gap
    OPTIMAL = "optimal"  # the gap is below the tolerance
    MAX_ITER = "max_iter"
    TIME_LIMIT = "time_limit"
    STALLED = "stalled"  # no progress is possible in floating point, the gap is above the tolerance
    INTERRUPTED = "interrupted"  # the callback asked to stop


@dataclass(frozen=True, eq=False)
class Result:
    """A certified approximate minimiser of f over conv(Y).

    `gap` is max_v ⟨∇f(point), point − v⟩, recomputed at exit with one oracle call; it bounds
    f(point) − min f from above.
    """

    point: Array
    combination: ConvexCombination
    gap: float
    status: Status
    iterations: int
    lmo_calls: int
    trajectory: tuple[tuple[int, int, float, float], ...] = ()
    """On request, (iteration, LMO calls, seconds, gap) of every step."""
