"""Columns of weights that take up past factors when they are touched; see `LazyWeights`.

Plain Python within what numba can compile: one text is both the compiled form and its twin.
"""

from __future__ import annotations

from typing import Any

FACTOR, MASS, SQUARED_NORM, UPDATES, PAST = range(5)
"""Entries of the `numbers` of LazyWeights."""


def catch_up(column: Any, epochs: Any, first: int, last: int) -> None:
    """Bring one column, its core and then its residue, from one epoch to another."""
    core, residue = column[: column.size // 2], column[column.size // 2 :]
    for epoch in range(first, last):
        if (epoch - first) % 32 == 0 and not core.any():  # never touched, or long forgotten
            return
        factor, mass = epochs[epoch, 0], epochs[epoch, 1]
        for i in range(core.size):
            residue[i] += mass * core[i]
            core[i] *= factor


def settle_columns(memory: Any, behind: Any, epochs: Any, numbers: Any) -> None:
    """Bring all columns to the present epoch, which becomes the first."""
    past = int(numbers[PAST])
    flat = memory.reshape(memory.shape[0], 2 * memory.shape[2])
    for column in range(memory.shape[0]):
        if behind[column] < past:
            catch_up(flat[column], epochs, behind[column], past)
        behind[column] = 0
    numbers[PAST] = 0.0
