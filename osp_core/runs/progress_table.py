"""A line at rounds 1, 2, 4, 8, …: how it goes, for somebody who looks."""

from __future__ import annotations

import sys
from typing import IO

from osp_core.online.records import Round
from osp_core.runs.labels import write_label
from osp_core.spaces import OutputSpace

COLUMNS = (
    ("since last", 10),
    ("mean loss", 10),
    ("surrogate", 10),
    ("rounds", 9),
    ("p", 6),
    ("label", 16),
    ("prediction", 16),
)


class ProgressTable:
    """Mean target loss since the last line and in all, mean surrogate loss, p, and an example.

    Parameters
    ----------
    space : OutputSpace
    output : text stream
        Standard error by default.
    """

    def __init__(self, space: OutputSpace, output: IO[str] | None = None) -> None:
        self.space, self.output = space, output or sys.stderr
        self._count, self._loss, self._surrogate, self._since = 0, 0.0, 0.0, 0.0
        self._last = 0

    def __call__(self, number: int, record: Round) -> None:
        """Take note of round `number` (from 1), and print a line if it is a power of two."""
        self._count += 1
        self._loss += record.target_loss
        self._surrogate += record.surrogate_loss
        self._since += record.target_loss
        if number & (number - 1) == 0:
            self._print(number, record)

    def _print(self, number: int, record: Round) -> None:
        if self._last == 0:
            self._line([name for name, _ in COLUMNS])
        self._line(
            [
                f"{self._since / (self._count - self._last):.4f}",
                f"{self._loss / self._count:.4f}",
                f"{self._surrogate / self._count:.4f}",
                str(number),
                f"{record.p:.3f}",
                write_label(self.space.to_label(record.y)),
                write_label(record.label),
            ]
        )
        self._since, self._last = 0.0, self._count

    def _line(self, cells: list[str]) -> None:
        texts = []
        for text, (name, width) in zip(cells, COLUMNS, strict=True):
            # Names come from files: what would move the cursor is not for a terminal.
            clean = "".join(char if char.isprintable() else "?" for char in text)
            short = clean if len(clean) <= width else f"{clean[: width - 1]}…"
            texts.append(short.ljust(width) if name in ("label", "prediction") else short.rjust(width))
        print("  ".join(texts).rstrip(), file=self.output, flush=True)
