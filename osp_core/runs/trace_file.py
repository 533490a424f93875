"""The trace of a run while it is being made: fixed-size rows appended to a file."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from osp_core.errors import InvalidInputError
from osp_core.online.records import Round
from osp_core.online.trace import FIELDS, Trace
from osp_core.persistence.atomic import open_inside, sync_directory

_ROW = len(FIELDS) * 8


class TraceFile:
    """Rows of float64, flushed before every checkpoint and cut back to it on resuming.

    A run killed between two checkpoints leaves rows the checkpoint does not know of; they are played
    again, so they are cut off first: no round is lost, none is counted twice. Whoever opens the file has its
    directory alone.

    Parameters
    ----------
    path : Path
    rounds : int
        How many rows belong to the checkpoint that the run continues from.
    """

    def __init__(self, path: Path, *, rounds: int = 0) -> None:
        self.rounds = rounds
        self._path = path
        self._failure: InvalidInputError | None = None
        try:
            handle = open_inside(path.parent, path.name, os.O_RDWR | os.O_CREAT)
            self._file = os.fdopen(handle, "r+b")
        except OSError as error:
            raise self._failed(error) from error
        try:
            self._cut()
        except BaseException as error:
            self._close()
            if isinstance(error, OSError):
                raise self._failed(error) from error
            raise
        sync_directory(path.parent)

    def append(self, record: Round) -> None:
        """Add the row of a round."""
        try:
            self._file.write(np.array([getattr(record, name) for name in FIELDS]).tobytes())
        except OSError as error:
            raise self._failed(error) from error
        self.rounds += 1

    def flush(self) -> None:
        """Make sure that everything appended is on disk."""
        # After a failed write nobody knows how much of it is in the file: no checkpoint may rely on it.
        if self._failure is not None:
            raise self._failure
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._failed(error) from error

    def read(self) -> Trace:
        """All rows as a trace."""
        self.flush()
        try:
            return Trace.of(np.fromfile(self._path, dtype=np.float64).reshape(-1, len(FIELDS)))
        except OSError as error:
            raise self._failed(error) from error

    def _cut(self) -> None:
        size = self._file.seek(0, os.SEEK_END)
        if size < self.rounds * _ROW:
            raise InvalidInputError(
                f"{self._path} has {size // _ROW} rounds; the checkpoint is from round {self.rounds}."
            )
        self._file.truncate(self.rounds * _ROW)
        self._file.seek(0, os.SEEK_END)

    def _failed(self, error: OSError) -> InvalidInputError:
        self._failure = InvalidInputError(
            f"{self._path} cannot be written: {error.strerror or error}. Put that right, and resume the run: "
            "it goes on from its last checkpoint."
        )
        self._failure.__cause__ = error
        return self._failure

    def _close(self) -> None:
        # What is not on disk by now belongs to no checkpoint, and will be played again.
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._close()
