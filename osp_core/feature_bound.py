"""Inputs held to the feature bound C."""

from __future__ import annotations

from typing import Any

from osp_core.errors import InvalidInputError
from osp_core.models import Model

ROOM = 1e-9  # relative; what computing a norm in float64 may add to it


def read_within(model: Model, x: Any, dim: int, bound: float) -> Any:
    """Read an input of norm at most `bound`; refuse a longer one."""
    read = model.read(x, dim)
    size = model.size(read)
    if size > bound * (1 + ROOM):
        raise InvalidInputError(
            f"x has norm {size:.6g}, above the feature bound {bound:.6g}. Scale the inputs, or state a "
            "larger feature_bound=… when the predictor is made."
        )
    return read
