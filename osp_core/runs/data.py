"""Tables of features and labels, read row by row: CSV, JSON lines, NPZ and Parquet."""

from __future__ import annotations

import csv
import json
import os
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import Array, MissingDependencyError, OspError


class DataError(OspError, ValueError):
    """A data file, or a line of it, cannot be used; the message has the file and the line."""


@dataclass(frozen=True, eq=False)
class Row:
    """One example: its line (from 1), its features, and its label as the file has it."""

    line: int
    x: Array
    label: Any


class Table(ABC):
    """A file that can be read again and again, a row at a time.

    Attributes
    ----------
    path : Path
    columns : list of str
        Names of the feature columns.
    """

    path: Path
    columns: list[str]

    def __init__(self, path: Path, label: str) -> None:
        self.path, self.label = path, label
        self.bad_rows = 0

    def rows(self, *, skip_bad: bool = False) -> Iterator[Row]:
        """Read the rows; a bad one raises DataError, or is counted in `bad_rows` and left out."""
        self.bad_rows = 0
        for line, cells in self._records():
            try:
                yield self._row(line, cells)
            except DataError:
                if not skip_bad:
                    raise
                self.bad_rows += 1

    @abstractmethod
    def _records(self) -> Iterator[tuple[int, Any]]:
        """The raw records with their lines."""

    @abstractmethod
    def _row(self, line: int, cells: Any) -> Row:
        """Check and convert one record."""

    def error(self, line: int | None, message: str) -> DataError:
        """An error that says where it is."""
        where = f"{self.path}:{line}" if line is not None else str(self.path)
        return DataError(f"{where}: {message}")

    def _number(self, line: int, column: str, cell: Any) -> float:
        try:
            value = float(cell)
        except (TypeError, ValueError):
            raise self.error(line, f"column {column!r} must be a number, got {cell!r}.") from None
        if not np.isfinite(value):
            raise self.error(line, f"column {column!r} must be finite, got {cell!r}.")
        return value


def open_table(path: str | os.PathLike[str], label: str) -> Table:
    """Open a data file by the ending of its name.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.jsonl`` (or ``.ndjson``), ``.npz`` or ``.parquet``.
    label : str
        The column of the labels: a name, or for CSV without a header its number from 0, negative from
        the end.
    """
    kinds: dict[str, type[Table]] = {
        ".csv": CsvTable,
        ".tsv": CsvTable,
        ".jsonl": JsonLinesTable,
        ".ndjson": JsonLinesTable,
        ".npz": NpzTable,
        ".parquet": ParquetTable,
    }
    file = Path(path)
    kind = kinds.get(file.suffix.lower())
    if kind is None:
        raise DataError(
            f"{file}: files of type {file.suffix or 'without an ending'!r} are not read; use "
            f"{', '.join(kinds)}."
        )
    if not file.is_file():
        raise DataError(f"{file}: there is no such file.")
    return kind(file, label)


class CsvTable(Table):
    """Comma- or tab-separated text, UTF-8, with a header if it names the label column."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path, label)
        self._delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        first = next(self._lines(), None)
        if first is None:
            raise self.error(None, "the file is empty.")
        cells = first[1]
        self._has_header = not _is_position(label) or not any(map(_is_number, cells))
        names = (
            [name.strip() for name in cells]
            if self._has_header
            else [f"column {i}" for i in range(len(cells))]
        )
        self._position = self._find(label, names)
        self._names = names
        self.columns = [name for i, name in enumerate(names) if i != self._position]

    def _find(self, label: str, names: Sequence[str]) -> int:
        if label in names:
            return names.index(label)
        if _is_position(label) and -len(names) <= int(label) < len(names):
            return int(label) % len(names)
        raise self.error(1, f"there is no column {label!r}; the columns are {', '.join(names)}.")

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        try:
            with open(self.path, encoding="utf-8-sig", newline="") as file:
                reader = csv.reader(file, delimiter=self._delimiter, strict=True)
                for cells in reader:
                    if cells:
                        yield reader.line_num, cells
        except UnicodeDecodeError as error:
            raise self.error(
                None, f"the file is not UTF-8 text ({error.reason} at byte {error.start})."
            ) from None
        except csv.Error as error:
            raise self.error(reader.line_num, f"{error}.") from None

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        lines = self._lines()
        if self._has_header:
            next(lines, None)
        return lines

    def _row(self, line: int, cells: list[str]) -> Row:
        if len(cells) != len(self._names):
            raise self.error(line, f"the row has {len(cells)} cells, not {len(self._names)}.")
        if any("\0" in cell for cell in cells):
            raise self.error(line, "the row has NUL characters; is this a binary file?")
        values = [
            self._number(line, name, cell)
            for i, (name, cell) in enumerate(zip(self._names, cells, strict=True))
            if i != self._position
        ]
        return Row(line, np.array(values), cells[self._position].strip())


class JsonLinesTable(Table):
    """One JSON object a line: numbers by column, or all features in one list called "x"."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path, label)
        first = next(self._records(), None)
        if first is None:
            raise self.error(None, "the file is empty.")
        line, record = first
        if label not in record:
            raise self.error(line, f"there is no key {label!r}; the keys are {', '.join(map(str, record))}.")
        self._as_list = isinstance(record.get("x"), list)
        width = len(record["x"]) if self._as_list else 0
        self.columns = (
            [f"x[{i}]" for i in range(width)] if self._as_list else [key for key in record if key != label]
        )

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        try:
            with open(self.path, encoding="utf-8-sig") as file:
                for number, text in enumerate(file, start=1):
                    if text.strip():
                        yield number, self._parse(number, text)
        except UnicodeDecodeError as error:
            raise self.error(
                None, f"the file is not UTF-8 text ({error.reason} at byte {error.start})."
            ) from None

    def _parse(self, line: int, text: str) -> dict[str, Any]:
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.error(line, f"the line is no JSON: {error}.") from None
        if not isinstance(record, dict):
            raise self.error(line, "the line must be a JSON object.")
        return record

    def _row(self, line: int, record: dict[str, Any]) -> Row:
        if self.label not in record:
            raise self.error(line, f"there is no key {self.label!r}.")
        cells = record.get("x") if self._as_list else [record.get(name) for name in self.columns]
        if not isinstance(cells, list) or len(cells) != len(self.columns):
            raise self.error(line, f"there must be {len(self.columns)} features.")
        values = [self._number(line, name, cell) for name, cell in zip(self.columns, cells, strict=True)]
        return Row(line, np.array(values), record[self.label])


class NpzTable(Table):
    """Arrays of numpy: "X" with one row an example, and the labels."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path, label)
        try:
            with np.load(path, allow_pickle=False) as archive:
                if "X" not in archive or label not in archive:
                    raise self.error(
                        None, f"it must hold arrays X and {label}; it holds {', '.join(archive)}."
                    )
                self._X, self._labels = archive["X"], archive[label]
        except (OSError, ValueError, zipfile.BadZipFile, KeyError) as error:
            if isinstance(error, DataError):
                raise
            raise self.error(None, f"it is no archive of plain arrays ({error}).") from None
        if self._X.ndim != 2 or self._X.dtype.kind not in "fiub" or len(self._X) != len(self._labels):
            raise self.error(None, "X must be a matrix of numbers with one row per label.")
        self.columns = [f"X[{i}]" for i in range(self._X.shape[1])]

    def _records(self) -> Iterator[tuple[int, Any]]:
        return enumerate(zip(self._X, self._labels, strict=True), start=1)

    def _row(self, line: int, cells: Any) -> Row:
        x = np.asarray(cells[0], dtype=np.float64)
        if not np.isfinite(x).all():
            raise self.error(line, "the row is not finite.")
        label = cells[1]
        return Row(line, x, label.item() if isinstance(label, np.generic) else label)


class ParquetTable(Table):
    """Columns of Apache Parquet, read in batches."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path, label)
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow.") from None
        try:
            self._file = pyarrow.parquet.ParquetFile(path)
        except (pyarrow.ArrowInvalid, OSError) as error:
            raise self.error(None, f"it is no Parquet file ({error}).") from None
        names = list(self._file.schema_arrow.names)
        if label not in names:
            raise self.error(None, f"there is no column {label!r}; the columns are {', '.join(names)}.")
        self.columns = [name for name in names if name != label]

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        line = 0
        for batch in self._file.iter_batches(batch_size=4096):
            for record in batch.to_pylist():
                line += 1
                yield line, record

    def _row(self, line: int, record: dict[str, Any]) -> Row:
        values = [self._number(line, name, record[name]) for name in self.columns]
        return Row(line, np.array(values), record[self.label])


def _is_position(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
