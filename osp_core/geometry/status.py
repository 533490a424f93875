"""How a computation ended: what a prediction and a run of the engine both say of themselves."""

from enum import StrEnum


class Status(StrEnum):
    """How a computation ended."""

    EXACT = "exact"  # a closed form: no iteration, no gap
    OPTIMAL = "optimal"  # the gap is below the tolerance
    MAX_ITER = "max_iter"
    TIME_LIMIT = "time_limit"
    STALLED = "stalled"  # no progress is possible in floating point, the gap is above the tolerance
    INTERRUPTED = "interrupted"  # the callback asked to stop
