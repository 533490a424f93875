"""Labels and inputs as compiled rounds take them: tables of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from osp_core.errors import Array, OspError
from osp_core.spaces import OutputSpace
from osp_core.targets import AffineLoss, RoundLoss
from osp_core.targets.premises import reveal

REMEMBERED = 4096  # labels whose vertex and loss are kept
NO_COLUMNS = np.empty(0, dtype=np.int64)

Rows = tuple[Any, Any, Array]
"""Rows of inputs: where each starts, the columns of the entries (empty when dense), and the entries."""


class Told(NamedTuple):
    """What a label reveals: `row` is a table of one row with the true vertex, the cost and the constant."""

    row: Array
    truth: Array
    cost: Array
    constant: float


class Feedback:
    """The labels of one space and target, each revealed once."""

    def __init__(self, space: OutputSpace, target: AffineLoss) -> None:
        self.space, self.target = space, target
        self._remembers = type(target).reveal is AffineLoss.reveal
        self._revealed: dict[Hashable, Told] = {}

    def reveal(self, y: Any) -> Told | None:
        """What a label says; None if the loss is not affine."""
        if not self._remembers:  # what is told may depend on more than the label
            return self._reveal(y)
        key: Hashable = (y.__class__, y)
        if y.__class__ is np.ndarray:
            key = (y.dtype.str, y.shape, y.tobytes())
        try:
            return self._revealed[key]
        except KeyError:
            pass
        except TypeError:  # not hashable
            return self._reveal(y)
        told = self._reveal(y)
        if told is not None:
            if len(self._revealed) >= REMEMBERED:
                self._revealed.clear()
            self._revealed[key] = told
        return told

    def _reveal(self, y: Any) -> Told | None:
        truth, loss = reveal(self.target, self.space, y)
        if type(loss) is not RoundLoss:
            return None
        row, d = np.concatenate([truth, loss.cost, [loss.constant]])[np.newaxis], self.space.dim
        vertex = row[0, :d]
        vertex.flags.writeable = False  # shared by all rounds with this label
        return Told(row, vertex, row[0, d : 2 * d], float(loss.constant))

    def encode(self, Y: Sequence[Any]) -> tuple[Any, Array]:
        """Number the labels of a chunk, up to the first bad one, with a table of what they reveal."""
        labels, index = Y, np.arange(len(Y))
        if isinstance(Y, np.ndarray) and Y.ndim == 1:
            if Y.dtype.kind in "iuU":
                labels, index = np.unique(Y, return_inverse=True)
            labels = labels.tolist()  # numbers and words of Python, as they would come one by one
        numbers: dict[int, int] = {}
        revealed: list[Told] = []
        code = np.full(len(labels), -1)
        for k, y in enumerate(labels):
            try:
                told = self.reveal(y)
            except OspError:
                told = None
            if told is not None:
                # What is remembered is one object per label, and the list keeps the others alive.
                code[k] = numbers.setdefault(id(told), len(revealed))
                if code[k] == len(revealed):
                    revealed.append(told)
            elif len(labels) == len(Y):
                break  # nothing after a bad round is looked at
        index = code[index]
        index = index[: np.argmax(index < 0)] if (index < 0).any() else index
        if not revealed:
            return index[:0], np.empty((0, 0))
        return index, np.concatenate([told.row for told in revealed])


def as_row(x: Any) -> Rows:
    """One input: a copy where it is read-only or in pieces."""
    if isinstance(x, np.ndarray):
        return np.array([0, len(x)]), NO_COLUMNS, x.copy()
    values, columns = x
    if columns is None:
        return np.array([0, len(values)]), NO_COLUMNS, values
    if not len(columns):  # no columns would mean dense
        return np.array([0, 1]), np.zeros(1, dtype=np.int64), np.zeros(1)
    return np.array([0, len(values)]), columns.astype(np.int64), np.array(values)


def as_rows(X: Any, shape: tuple[int, ...]) -> Rows | None:
    """The rows of a matrix; None when it is no matrix of numbers as wide as the weights."""
    if getattr(X, "ndim", 0) != 2 or X.shape[1] != shape[-1] or X.dtype.kind not in "fiu":
        return None
    if isinstance(X, np.ndarray):
        values = np.ascontiguousarray(X, dtype=np.float64).reshape(-1)
        return np.arange(len(X) + 1) * X.shape[1], NO_COLUMNS, values
    if getattr(X, "format", None) != "csr" or not X.has_canonical_format or not len(X.indices):
        return None  # without any entry, no columns would mean dense
    return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)
