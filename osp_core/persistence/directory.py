"""A directory of checkpoints: when the next is due, which are kept, and which one is sound."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from osp_core.errors import InvalidInputError, as_count, as_positive
from osp_core.persistence.archive import CheckpointError

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor

Loaded = TypeVar("Loaded")


class Checkpoints:
    """The checkpoints of one run, numbered by the rounds that were played before each.

    Parameters
    ----------
    directory : path
        Made when the first checkpoint is saved.
    every : int, optional
        Rounds between two checkpoints.
    seconds : float, optional
        Seconds between two checkpoints, by a clock that nobody can set; with `every`, whichever comes first.
    keep : int
        How many of the newest checkpoints stay.

    Examples
    --------
    >>> import osp_core as osp
    >>> checkpoints = osp.Checkpoints("run/checkpoints", every=1000, seconds=60.0, keep=3)
    >>> checkpoints.due(1000), checkpoints.due(1001)
    (True, False)
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        every: int | None = None,
        seconds: float | None = None,
        keep: int = 3,
    ) -> None:
        if every is None and seconds is None:
            raise InvalidInputError("Checkpoints are made every so many rounds or seconds; give one of them.")
        self.directory = Path(directory)
        self.every = None if every is None else as_count(every, "every")
        self.seconds = None if seconds is None else as_positive(seconds, "seconds")
        self.keep = as_count(keep, "keep")
        self._saved_at = time.monotonic()

    def due(self, rounds: int) -> bool:
        """Whether a checkpoint is to be saved now that `rounds` rounds were played."""
        if self.every is not None and rounds % self.every == 0:
            return True
        return self.seconds is not None and time.monotonic() - self._saved_at >= self.seconds

    def save(
        self, predictor: OnlinePredictor, rounds: int, *, extra: Mapping[str, Any] | None = None
    ) -> Path:
        """Save a predictor under the number of its round, then drop what is older than the last few."""
        path = self.directory / f"round-{as_count(rounds, 'rounds', least=0):012d}.ckpt"
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"{str(self.directory)!r} cannot be made: {error.strerror}.") from error
        predictor.save(path, extra={**(extra or {}), "rounds": rounds})
        self._saved_at = time.monotonic()
        self._tidy()
        return path

    def paths(self) -> list[Path]:
        """The checkpoints there are, the newest first."""
        return newest_first(self.directory)

    def _tidy(self) -> None:
        # What a killed process was writing; the file that counts has another name.
        unfinished = self.directory.glob(".round-*.ckpt.*.tmp")
        for stale in [*self.paths()[self.keep :], *unfinished]:
            with contextlib.suppress(OSError):  # the new one is saved, which is what counts
                stale.unlink()


def newest_first(directory: Path) -> list[Path]:
    """The checkpoints of a directory by the number of their round: no clock is asked."""
    return sorted(directory.glob("round-*.ckpt"), key=_number, reverse=True)


def first_sound(
    paths: list[Path], load: Callable[[Path], Loaded], warn: Callable[[str], None]
) -> Loaded | None:
    """What `load` makes of the first path that is a sound checkpoint; None where there is none.

    `warn` is told of every damaged one that is passed over.
    """
    for path in paths:
        try:
            return load(path)
        except CheckpointError as error:
            warn(f"passed over a damaged checkpoint: {error}")
    return None


def _number(path: Path) -> float:
    digits = path.stem.removeprefix("round-")
    return float(digits) if digits.isdecimal() else -math.inf
