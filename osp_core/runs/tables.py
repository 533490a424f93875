"""What every table of features and labels has in common, wherever its rows come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import LARGEST, Array, InvalidInputError, OspError
from osp_core.runs.text import clean_label, clean_text, shown

MOST_NAMED = 12  # of the columns that an error message lists


class DataError(OspError, ValueError):
    """A data file, or a line of it, cannot be used; the message has the file and the line."""


@dataclass(frozen=True, eq=False)
class Row:
    """One example: its line (from 1), its features, its label as the file has it, and its other cells."""

    line: int
    x: Array
    label: Any
    cells: dict[str, Any]


@dataclass(frozen=True)
class Columns:
    """Which columns are read.

    Attributes
    ----------
    label : str or None
        The column of the labels; None where there are none to read.
    features : tuple of str or None
        The columns of the features, in this order; None for all others.
    drop : tuple of str
        Columns that are neither.
    """

    label: str | None
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()


class Table(ABC):
    """Rows that can be read again and again, one at a time.

    Attributes
    ----------
    path : Path
    columns : list of str
        Names of the feature columns.
    names : list of str
        Names of all columns.
    bad_rows : int
        How many rows the last reading left out.
    """

    unit = ":"  # between the file and the number of a line
    by_position = False
    """Whether the features have no names but their places."""
    path: Path
    columns: list[str]
    names: list[str]

    def __init__(self, path: Path, wanted: Columns) -> None:
        self.path = path
        self.wanted = Columns(
            None if wanted.label is None else self.clean_name(None, wanted.label),
            None
            if wanted.features is None
            else tuple(self.clean_name(None, name) for name in wanted.features),
            tuple(self.clean_name(None, name) for name in wanted.drop),
        )
        self.bad_rows = 0

    def rows(self, *, skip_bad: bool = False) -> Iterator[Row]:
        """Read the rows; a bad one raises DataError, or is counted in `bad_rows` and left out."""
        self.bad_rows = 0
        for line, record in self._records():
            try:
                row = self._row(line, record)
            except DataError:
                if not skip_bad:
                    raise
                self.bad_rows += 1
                continue
            yield row

    def arrange(self, columns: Sequence[str]) -> None:
        """Take the features in this order, whatever that of the file, which must have these and no others."""
        missing = [name for name in columns if name not in self.columns]
        besides = [name for name in self.columns if name not in columns]
        wrong = [f"has no {listed(missing)}"] if missing else []
        wrong += [f"has {listed(besides)} besides"] if besides else []
        if not wrong and self.by_position and list(columns) != self.columns:
            wrong = [f"has them in the order {listed(self.columns)}"]
        if wrong:
            raise self.error(
                None,
                f"the features of this run are {listed(columns)}; the file {', and '.join(wrong)}. Rename "
                "them back, or drop what is new.",
            )
        self.columns = list(columns)

    @abstractmethod
    def _records(self) -> Iterator[tuple[int, Any]]:
        """The raw records with their lines."""

    @abstractmethod
    def _row(self, line: int, record: Any) -> Row:
        """Check and convert one record."""

    def error(self, line: int | None, message: str) -> DataError:
        """An error that says where it is."""
        where = f"{self.path}{self.unit}{line}" if line is not None else str(self.path)
        return DataError(f"{where}: {message}")

    def _choose(self, names: Sequence[str], line: int | None) -> None:
        """Set `names` and `columns`, or say which column is not there, or there twice."""
        wanted, names = self.wanted, [self.clean_name(line, name) for name in names]
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise self.error(line, f"two columns are called {twice[0]!r}; rename one of them.")
        asked = [wanted.label] if wanted.label is not None else []
        for name in (*asked, *(wanted.features or ()), *wanted.drop):
            if name not in names:
                hint = " Name that of the labels with --label." if name == wanted.label == "label" else ""
                raise self.error(line, f"there is no column {name!r}; the columns are {listed(names)}.{hint}")
        left_out = {wanted.label, *wanted.drop}
        self.names = list(names)
        self.columns = [n for n in (wanted.features or names) if n not in left_out]
        if not self.columns:
            raise self.error(line, f"there is no feature column; the columns are {listed(names)}.")

    def clean_name(self, line: int | None, name: str) -> str:
        """The name of a column as it is looked for."""
        try:
            return clean_text(name)
        except InvalidInputError as error:
            raise self.error(line, f"the name of a column {error}.") from None

    def _features(self, line: int, cells: dict[str, Any]) -> Array:
        return np.array([self._number(line, name, cells.get(name)) for name in self.columns])

    def _label(self, line: int, cells: dict[str, Any]) -> Any:
        if self.wanted.label is None:
            return None
        label, where = cells[self.wanted.label], f"the label in column {self.wanted.label!r}"
        missing = label is None or type(label).__name__ in ("NAType", "NaTType")  # as pandas has them
        if missing or (isinstance(label, float) and not np.isfinite(label)):
            raise self.error(line, f"{where} is missing.")
        try:
            return clean_label(label)
        except InvalidInputError as error:
            raise self.error(line, f"{where} {error}.") from None

    def _number(self, line: int, column: str, cell: Any) -> float:
        if cell is None or cell == "":
            raise self.error(line, f"column {column!r} is empty; fill the gap, or skip such rows.")
        try:
            # Python reads 1_000 as a number; a spreadsheet that writes it means something else.
            value = float(cell) if not (isinstance(cell, str) and "_" in cell) else None
        except (TypeError, ValueError, OverflowError):
            value = None
        if value is None:
            raise self.error(
                line, f"column {column!r} must be a number, got {shown(cell)}; drop the column, or encode it."
            )
        if not abs(value) <= LARGEST:  # NaN compares false with everything
            raise self.error(
                line, f"column {column!r} must be finite and at most {LARGEST:g}, got {shown(cell)}."
            )
        return value


def listed(names: Sequence[str]) -> str:
    """The names of columns as an error message lists them."""
    more = f", … ({len(names)} in all)" if len(names) > MOST_NAMED else ""
    return ", ".join(shown(str(name)) for name in names[:MOST_NAMED]) + more
