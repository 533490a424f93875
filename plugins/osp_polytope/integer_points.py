"""What rounding and enumeration tell about integer points, without a solver."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_core.spaces import OutputSpace

LISTED = 1 << 16
"""0/1 or integer points that are tried one by one; fewer where each trial is a linear program."""


def rounded(space: Any, point: Array) -> Array | None:
    """The nearest integer vector, if it is an output; halves go down."""
    nearby = np.ceil(point - 0.5) + 0.0
    return nearby if space.program.feasible(nearby) else None


def can_list(space: OutputSpace) -> bool:
    """Whether the outputs can be enumerated."""
    try:
        space.vertices()
    except UnsupportedError:
        return False
    return True


def feasible_points(space: Any, low: Array, high: Array) -> Array:
    """All integer points of a box that satisfy the constraints."""
    count = float(np.prod(high - low + 1))
    if count > (LISTED if not space.program.form.hidden.any() else 4096):
        raise UnsupportedError(f"The outputs of {space!r} cannot be enumerated: there are up to {count:.3g}.")
    ranges = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    rows = np.array([y for y in map(np.array, itertools.product(*ranges)) if space.program.feasible(y)])
    rows = rows.reshape(-1, space.dim)
    rows.setflags(write=False)
    return rows


def integer_span(space: Any) -> Any:
    """span(Y − Y), through neighbours of one output where they suffice: they cost no oracle call."""
    from osp_core.geometry.directions import Span, discover_span

    first = space.lmo(np.zeros(space.dim))
    if not space.program.form.hidden.any():
        steps = (first + sign * axis for axis in np.eye(space.dim) for sign in (1.0, -1.0))
        reached = {int(np.argmax(np.abs(y - first))) for y in steps if space.program.feasible(y)}
        if len(reached) == space.dim:
            return Span(np.zeros((space.dim, 0)))
    return discover_span(space.lmo, space.dim)
