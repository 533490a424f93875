"""Files of intervals: numbers, a bar, and the first and the last cell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from osp_core.runs import Table
from osp_core.runs.tables import Columns, Row


class IntervalTable(Table):
    """Lines such as ``0.5 1.5 | 2 4``; the first one names the columns, ``a b | label``."""

    def __init__(self, path: Path, wanted: Columns) -> None:
        super().__init__(path, wanted)
        line, header = next(self._lines(), (1, ""))
        self._choose(header.replace("|", " ").split(), line)

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self.path.open(encoding="utf-8") as file:
            yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())

    def _records(self) -> Iterator[tuple[int, str]]:
        lines = self._lines()
        next(lines)
        yield from lines

    def _row(self, line: int, record: str) -> Row:
        numbers, _, ends = record.partition("|")
        cells = numbers.split()
        try:
            label = tuple(map(int, ends.split()))
        except ValueError:
            raise self.error(line, f"an interval is two whole numbers, got {ends.strip()!r}.") from None
        if len(cells) != len(self.names) - 1:
            raise self.error(line, f"there are {len(cells)} numbers, but {len(self.names) - 1} columns.")
        named = dict(zip(self.names, [*cells, label], strict=True))
        return Row(line, self._features(line, named), self._label(line, named), named)
