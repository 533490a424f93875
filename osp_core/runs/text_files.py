"""Tables in text files: comma- or tab-separated values, and JSON lines."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from osp_core.errors import InvalidInputError
from osp_core.persistence.atomic import read_json
from osp_core.runs.tables import Columns, DataError, Row, Table, listed
from osp_core.runs.text import clean_names, shown

LONGEST_LINE = 2**24
"""Characters in a line, at most: a file without line ends must not fill the memory."""


class CsvTable(Table):
    """Comma- or tab-separated text, UTF-8, with a header if it names the label column."""

    def __init__(self, path: Path, wanted: Columns) -> None:
        super().__init__(path, wanted)
        self._delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        first = next(self._lines(), None)
        if first is None:
            raise self.error(1, "the file is empty.")
        line, cells = first
        _refuse_bytes(self, line, "".join(cells))
        has_numbers = any(map(is_number, cells))
        names = [self.clean_name(line, cell) for cell in cells]
        self._header_line = 0 if has_numbers and not self._names_columns(names) else line
        if not self._header_line:
            names = [f"column {i}" for i in range(len(cells))]
        self.wanted = self._with_names(names)
        hint = " Without a header, give the position of the label, such as -1." if has_numbers else ""
        if self.wanted.label is not None and self.wanted.label not in names:
            label = self.wanted.label
            raise self.error(line, f"there is no column {label!r}; the columns are {listed(names)}.{hint}")
        self._choose(names, line)

    def _names_columns(self, cells: list[str]) -> bool:
        """Whether the first row, although it has numbers, must be a header."""
        label, features = self.wanted.label, self.wanted.features
        if label is None:
            return features is not None and set(features) <= set(cells)
        return not _is_position(label)

    def _with_names(self, names: list[str]) -> Columns:
        """The wanted columns with positions replaced by names; a name goes before a position."""
        wanted, label = self.wanted, self.wanted.label
        if label is None and not self._header_line and len(wanted.features or ()) == len(names):
            return Columns(None, tuple(names))  # no names on either side: the order counts
        if label is not None and label not in names and _is_position(label):
            position = int(label)
            if -len(names) <= position < len(names):
                return Columns(names[position], wanted.features, wanted.drop)
        return wanted

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """The records, each with the line it begins at."""
        line = 1
        try:
            reader = csv.reader(text_lines(self), delimiter=self._delimiter, strict=True)
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise self.error(line, f"{error}.") from None

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        lines = self._lines()
        if self._header_line:
            next(lines, None)
        return lines

    def _row(self, line: int, record: list[str]) -> Row:
        _refuse_bytes(self, line, "".join(record))
        if len(record) != len(self.names):
            raise self.error(line, f"the row has {len(record)} cells, not {len(self.names)}.")
        cells: dict[str, Any] = {name: cell.strip() for name, cell in zip(self.names, record, strict=True)}
        return Row(line, self._features(line, cells), self._label(line, cells), cells)


class JsonLinesTable(Table):
    """One JSON object a line: numbers by column, or all features in one list called "x"."""

    def __init__(self, path: Path, wanted: Columns) -> None:
        super().__init__(path, wanted)
        first = next(self._lines(), None)
        if first is None:
            raise self.error(1, "the file is empty.")
        line, record = first[0], self._parse(*first)
        self._as_list = self.by_position = isinstance(record.get("x"), list)
        if not self._as_list:
            self._choose(list(record), line)
            return
        if wanted.label is not None and wanted.label not in record:
            raise self.error(line, f"there is no key {wanted.label!r}; the keys are {listed(list(record))}.")
        self.names = list(record)
        self.columns = [f"x[{i}]" for i in range(len(record["x"]))]

    def _lines(self) -> Iterator[tuple[int, str]]:
        for number, text in enumerate(text_lines(self), start=1):
            if text.strip():
                yield number, text

    _records = _lines

    def _parse(self, line: int, text: str) -> dict[str, Any]:
        _refuse_bytes(self, line, text)
        try:
            record = read_line(self, line, text)
        except DataError:
            raise
        except (ValueError, RecursionError) as error:
            raise self.error(line, f"the line is no JSON: {error}.") from None
        if not isinstance(record, dict):
            raise self.error(line, f"the line must be a JSON object, got {shown(record)}.")
        return record

    def _row(self, line: int, record: str) -> Row:
        cells = self._parse(line, record)
        if self.wanted.label is not None and self.wanted.label not in cells:
            raise self.error(line, f"there is no key {self.wanted.label!r}.")
        if self.wanted.features is None and (new := [key for key in cells if key not in self.names]):
            raise self.error(line, f"the key {new[0]!r} is not in the first line.")
        return Row(line, self._features(line, self._numbers(line, cells)), self._label(line, cells), cells)

    def _numbers(self, line: int, cells: dict[str, Any]) -> dict[str, Any]:
        if not self._as_list:
            return cells
        values = cells.get("x")
        if not isinstance(values, list) or len(values) != len(self.columns):
            raise self.error(line, f'"x" must be a list of {len(self.columns)} numbers, got {shown(values)}.')
        return dict(zip(self.columns, values, strict=True))


def read_line(table: Table, line: int, text: str) -> Any:
    """Read a line of JSON; in an object every column has a clean name of its own, and text that is text."""
    try:
        value = read_json(text)
        if not isinstance(value, dict):
            return value
        named = [(table.clean_name(line, key), item) for key, item in value.items()]
        record = dict(named)
        if len(record) < len(named):
            twice = Counter(name for name, _ in named).most_common(1)[0][0]
            raise InvalidInputError(f"the key {twice!r} is there twice")
        if "\\u" in text:  # only an escape can make half a character
            for name, item in record.items():
                clean_names(item, f"column {name!r}")
    except InvalidInputError as error:
        raise table.error(line, f"{error}.") from None
    return record


def text_lines(table: Table) -> Iterator[str]:
    """The lines of a UTF-8 file, none of them too long for the memory."""
    try:
        # What is not UTF-8 comes through as lone surrogates: the line it is on is then a bad row, no more.
        with open(table.path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                if len(line) == LONGEST_LINE and not line.endswith("\n"):
                    raise table.error(number, f"the line is longer than {LONGEST_LINE} characters.")
                yield line
    except OSError as error:
        raise table.error(None, f"{error.strerror}.") from error


def _refuse_bytes(table: Table, line: int, text: str) -> None:
    """Refuse what no text has: NUL characters, and bytes that are not UTF-8."""
    if "\0" in text:
        raise table.error(line, "there are NUL characters; is this a binary file?")
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        byte = ord(text[error.start]) - 0xDC00
        raise table.error(
            line, f"the file is not UTF-8 text (byte 0x{byte:02x}); save it in that encoding."
        ) from None


def _is_position(text: str) -> bool:
    return text.removeprefix("-").isdigit()


def is_number(text: str) -> bool:
    """Whether a cell is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
