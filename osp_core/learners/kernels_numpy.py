"""Columns that are behind, in plain numpy: all of them together, epoch by epoch."""

from __future__ import annotations

from osp_core.errors import Array
from osp_core.learners.columns import PAST


def settle_columns(memory: Array, behind: Array, epochs: Array, numbers: Array) -> None:
    """Bring all columns to the present epoch, which becomes the first."""
    for epoch in range(int(numbers[PAST])):
        late = behind <= epoch
        memory[late, 1] += epochs[epoch, 1] * memory[late, 0]
        memory[late, 0] *= epochs[epoch, 0]
    behind[:], numbers[PAST] = 0, 0.0
