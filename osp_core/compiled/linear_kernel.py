"""The linear side of a round: scores from an input, and the step back, within what numba can compile."""

from __future__ import annotations

from typing import Any

from osp_core.learners.columns import catch_up


def squared_norm(values: Any, first: int, last: int) -> float:
    """‖x‖² of the entries from first to last."""
    total = 0.0
    for j in range(first, last):
        total += values[j] * values[j]
    return total


def are_columns(columns: Any, first: int, last: int, width: int) -> bool:
    """Whether a sparse x has its entries where the weights have columns."""
    inside = True
    for j in range(first, last):
        inside = inside and 0 <= columns[j] < width
    return inside


def add_up(flat: Any, x: Any, scores: Any) -> None:
    """scores = core·x, four columns at a time."""
    for i in range(scores.size):  # a loop: numba takes seconds to compile the assignment of a slice
        scores[i] = 0.0
    k = 0
    while k + 4 <= x.size:
        a, b, c, e = x[k], x[k + 1], x[k + 2], x[k + 3]
        first, second, third, fourth = flat[k], flat[k + 1], flat[k + 2], flat[k + 3]
        for i in range(scores.size):
            scores[i] += a * first[i] + b * second[i] + c * third[i] + e * fourth[i]
        k += 4
    while k < x.size:
        for i in range(scores.size):
            scores[i] += x[k] * flat[k, i]
        k += 1


def add_up_active(
    flat: Any,
    columns: Any,
    values: Any,
    first: int,
    last: int,
    behind: Any,
    epochs: Any,
    past: int,
    scores: Any,
) -> None:
    """scores = core·x for a sparse x, whose columns take up past factors; half of the next one is fetched.

    The other half is fetched by `move_active`: only so many lines of memory can be under way at once.
    """
    for i in range(scores.size):
        scores[i] = 0.0
    for j in range(first, last):
        ahead, column = j + last - first, flat[columns[j]]  # ahead is most likely in the next round
        if ahead < columns.size:
            if j % 2 == 1:
                prefetch(flat, columns[ahead])
            if past > 0:
                prefetch(behind, columns[ahead])
        if past > 0 and behind[columns[j]] < past:
            catch_up(column, epochs, behind[columns[j]], past)
            behind[columns[j]] = past
        for i in range(scores.size):
            scores[i] += values[j] * column[i]


def move(flat: Any, x: Any, change: Any) -> None:
    """Add the outer product of `change` and x."""
    for k in range(x.size):
        for i in range(change.size):
            flat[k, i] += x[k] * change[i]


def move_active(flat: Any, columns: Any, values: Any, first: int, last: int, change: Any) -> None:
    """Add the outer product of `change` and a sparse x."""
    for j in range(first, last):
        ahead, column = j + last - first, flat[columns[j]]
        if ahead < columns.size and j % 2 == 0:
            prefetch(flat, columns[ahead])
        for i in range(change.size):
            column[i] += values[j] * change[i]


def prefetch(array: Any, index: int) -> None:
    """Say that array[index] will be needed: compiled, it is fetched from main memory in the meantime."""
