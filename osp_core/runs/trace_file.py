"""The trace of a run while it is being made: fixed-size rows appended to a file."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from osp_core.checkpoint import sync_directory
from osp_core.errors import InvalidInputError
from osp_core.rounds import Round
from osp_core.trace import FIELDS, Trace

_ROW = len(FIELDS) * 8


class TraceFile:
    """Rows of float64, flushed before every checkpoint and cut back to it on resuming.

    A run killed between two checkpoints leaves rows the checkpoint does not know of; they are played
    again, so they are cut off first: no round is lost, none is counted twice.

    Parameters
    ----------
    path : Path
    rounds : int
        How many rows belong to the checkpoint that the run continues from.
    """

    def __init__(self, path: Path, *, rounds: int = 0) -> None:
        self.rounds = rounds
        self._path = path
        self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115 - closed by __exit__
        size = self._file.seek(0, os.SEEK_END)
        if size < rounds * _ROW:
            self._file.close()
            raise InvalidInputError(
                f"{path} has {size // _ROW} rounds; the checkpoint is from round {rounds}."
            )
        self._file.truncate(rounds * _ROW)
        self._file.seek(0, os.SEEK_END)
        sync_directory(path.parent)

    def append(self, record: Round) -> None:
        """Add the row of a round."""
        self._file.write(np.array([getattr(record, name) for name in FIELDS]).tobytes())
        self.rounds += 1

    def flush(self) -> None:
        """Make sure that everything appended is on disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def read(self) -> Trace:
        """All rows as a trace."""
        self._file.flush()
        return Trace.of(np.fromfile(self._path, dtype=np.float64).reshape(-1, len(FIELDS)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._file.close()
