"""What a run of the engine returns: the point, its atoms and its certificate."""

from __future__ import annotations

from dataclasses import dataclass

from osp_core.errors import Array
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.status import Status


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
