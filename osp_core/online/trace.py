"""The trace of a run: what every round cost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array
from osp_core.persistence.atomic import whole_file

if TYPE_CHECKING:
    from osp_core.online.comparator import Comparator
    from osp_core.online.records import Round

FIELDS = ("target_loss", "expected_loss", "surrogate_loss", "p", "gap")


class Trace:
    """One row per round, in growing arrays.

    Attributes
    ----------
    target_loss, expected_loss : array
        L of what was played, and its exact expectation E_t L_t given the past.
    surrogate_loss : array
        S_t(W_t) on the scale of the loss.
    p : array
        The probability of randomising (its mean over blocks for blockwise decoding).
    gap : array
        The certified gap of the prediction, on the scale of the loss; 0 for closed forms.
    """

    target_loss: Array
    expected_loss: Array
    surrogate_loss: Array
    p: Array
    gap: Array

    def __init__(self) -> None:
        self._rows = np.empty((1024, len(FIELDS)))
        self._length = 0

    @classmethod
    def of(cls, rows: Array) -> Trace:
        """The trace with these rows, one column per field."""
        trace = cls()
        trace._rows, trace._length = np.array(rows, dtype=np.float64), len(rows)
        return trace

    def __len__(self) -> int:
        return self._length

    def __getattr__(self, name: str) -> Array:
        if name not in FIELDS:
            raise AttributeError(f"Trace has no {name!r}; its columns are {', '.join(FIELDS)}.")
        return self._rows[: self._length, FIELDS.index(name)]

    def append(self, record: Round) -> None:
        """Add the row of a round."""
        self._make_room(1)
        self._rows[self._length] = [getattr(record, name) for name in FIELDS]
        self._length += 1

    def extend(self, rows: Array) -> None:
        """Add rows, one column per field."""
        self._make_room(len(rows))
        self._rows[self._length : self._length + len(rows)] = rows
        self._length += len(rows)

    def _make_room(self, count: int) -> None:
        if self._length + count > len(self._rows):
            more = max(1024, count, self._length)
            self._rows = np.concatenate([self._rows, np.empty((more, len(FIELDS)))])

    def regret(self, comparator: Comparator) -> float:
        """Σ E_t L_t − ΣS_t(U): the expected surrogate regret."""
        return float(self.expected_loss.sum()) - comparator.surrogate_loss

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the columns as a numpy archive, whole or not at all."""
        with whole_file(path, "wb") as file:
            np.savez_compressed(file, **{name: getattr(self, name) for name in FIELDS})

    def summary(self) -> dict[str, float]:
        """Totals over the rounds."""
        return {
            "rounds": float(len(self)),
            "target_loss": float(self.target_loss.sum()),
            "expected_loss": float(self.expected_loss.sum()),
            "surrogate_loss": float(self.surrogate_loss.sum()),
            "mean_p": float(self.p.mean()) if len(self) else 0.0,
            "total_gap": float(self.gap.sum()),
        }
