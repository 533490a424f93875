"""Labels and inputs as compiled rounds take them: tables of numbers, looked at before they enter."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from osp_core.errors import LARGEST, Array
from osp_core.spaces import OutputSpace
from osp_core.targets import AffineLoss, DecisionRegret, RoundLoss
from osp_core.targets.premises import reveal

MEMORY = 2**22  # numbers that are kept of labels seen before
# What a label may be to be looked up by itself; a subclass might change, or compare in its own way.
NAMES = frozenset({int, str, bool, float, bytes, np.str_, np.bool_, np.float64, np.float32})
NAMES |= {np.dtype(code).type for code in "bBhHiIlLqQ"}
WORDS = frozenset({int, str})  # of which sets and tuples are made
FLOAT64 = np.dtype(np.float64)
NO_COLUMNS = np.empty(0, dtype=np.int64)

Rows = tuple[Any, Any, Array]
"""Rows of inputs: where each starts, the columns of the entries (empty when dense), and the entries."""


class Revealed(NamedTuple):
    """What a label reveals: `row` is a table of one row with the true vertex, the cost and the constant."""

    row: Array
    truth: Array
    cost: Array
    constant: float


class Feedback:
    """The labels of one space and target, each revealed once."""

    def __init__(self, space: OutputSpace, target: AffineLoss) -> None:
        self.space, self.target = space, target
        self._most = max(1, MEMORY // (2 * space.dim + 1))
        self._remembers = type(target) is not DecisionRegret  # costs hardly come twice
        self._revealed: dict[Hashable, Revealed] = {}

    def reveal(self, y: Any) -> Revealed | None:
        """What a label says; None where it is for the general code to judge."""
        key = label_key(y) if self._remembers else None
        if key is None:
            return self._reveal(y)
        revealed = self._revealed.get(key)
        if revealed is None:
            revealed = self._reveal(y)
            if revealed is not None:
                if len(self._revealed) >= self._most:
                    self._revealed.clear()
                self._revealed[key] = revealed
        return revealed

    def _reveal(self, y: Any) -> Revealed | None:
        truth, loss = reveal(self.target, self.space, y)
        if not is_readable(self.space, truth, loss):
            return None
        row, d = np.concatenate([truth, loss.cost, [loss.constant]])[np.newaxis], self.space.dim
        return Revealed(row, row[0, :d], row[0, d : 2 * d], float(loss.constant))

    def encode(self, Y: Sequence[Any]) -> tuple[Any, Array]:
        """Number the labels of a chunk, up to the first bad one, with a table of what they reveal."""
        labels: Any = Y
        index = np.arange(len(Y))
        if type(labels) is np.ndarray and labels.ndim == 1 and labels.dtype.kind in "biufU":
            labels, index = np.unique(labels, return_inverse=True)
        numbers: dict[int, int] = {}
        distinct: list[Revealed] = []
        code = np.full(len(labels), -1)
        for k, y in enumerate(labels):
            try:
                revealed = self.reveal(y)
            except Exception:  # a target may raise anything, and will again in the round that is bad
                revealed = None
            if revealed is not None:
                # What is remembered is one object per label, and the list keeps the others alive.
                code[k] = numbers.setdefault(id(revealed), len(distinct))
                if code[k] == len(distinct):
                    distinct.append(revealed)
            elif labels is Y:
                break  # nothing after a bad round is looked at
        index = code[index]
        index = index[: np.argmax(index < 0)] if (index < 0).any() else index
        if not distinct:
            return index[:0], np.empty((0, 0))
        return index, np.concatenate([revealed.row for revealed in distinct])


def label_key(y: Any) -> Hashable | None:
    """What tells a label from all others for good; None where nothing does.

    Equal is not enough: (1, 2) equals (True, 2.0), which a space may refuse; objects may change; and arrays
    of objects hold addresses, which are used again.
    """
    kind = y.__class__
    if kind in NAMES:
        return kind, y
    if kind is np.ndarray:
        return (y.dtype.str, y.shape, y.tobytes()) if y.dtype.kind in "biufU" else None
    if kind in (tuple, frozenset) and WORDS.issuperset(map(type, y)):
        return kind, y
    return None


def is_readable(space: OutputSpace, truth: Any, loss: RoundLoss) -> bool:
    """Whether compiled code can read what was revealed: finite numbers, as many as there are coordinates.

    `reveal` has seen that L(·; y) is 0 at y and nowhere negative, so that what compiled rounds compute from
    it is at least 0 up to rounding.
    """
    for vector in (truth, loss.cost):
        if not isinstance(vector, np.ndarray) or vector.shape != (space.dim,) or vector.dtype != FLOAT64:
            return False
        if not np.abs(vector).max() <= LARGEST:  # NaN, too
            return False
    return abs(loss.constant) <= LARGEST


def as_row(x: Any) -> Rows:
    """One input: a copy where it is read-only or in pieces."""
    if isinstance(x, np.ndarray):
        return np.array([0, len(x)]), NO_COLUMNS, x.copy()
    values, columns = x
    if columns is None:
        return np.array([0, len(values)]), NO_COLUMNS, values
    return np.array([0, len(values)]), _sparse(columns), np.array(values)


def as_rows(X: Any, shape: tuple[int, ...]) -> Rows | None:
    """The rows of a matrix; None when it is no matrix of numbers as wide as the weights."""
    if getattr(X, "ndim", 0) != 2 or X.shape[1] != shape[-1]:
        return None
    if X.dtype.kind not in "fiub" or X.dtype.itemsize > FLOAT64.itemsize:
        return None
    if X.__class__ in (np.ndarray, np.memmap):  # others may mean more than their numbers, as masked arrays do
        values = np.ascontiguousarray(X, dtype=np.float64).reshape(-1)
        if not values.flags.carray:  # numba would compile a second form for what is read-only or unaligned
            values = values.copy()
        return np.arange(len(X) + 1) * X.shape[1], NO_COLUMNS, values
    if getattr(X, "format", None) != "csr" or not _in_order(X):
        return None
    if not X.has_canonical_format:  # as the model reads a single row
        X = X.copy()
        X.sum_duplicates()
    return X.indptr.astype(np.int64), _sparse(X.indices), X.data.astype(np.float64)


def _in_order(X: Any) -> bool:
    """Whether the rows of a csr matrix lie one after the other within its entries."""
    starts = X.indptr
    inside = starts[0] == 0 and starts[-1] <= min(len(X.indices), len(X.data))
    return bool(inside and (starts[1:] >= starts[:-1]).all())


def _sparse(columns: Any) -> Any:
    """Columns of entries, never empty: that would mean dense."""
    return columns.astype(np.int64) if len(columns) else np.zeros(1, dtype=np.int64)
