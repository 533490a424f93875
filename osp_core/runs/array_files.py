"""Tables of arrays: NPZ and Parquet files, read piece by piece, and data frames."""

from __future__ import annotations

import io
import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from osp_core.adapters.frames import library_of
from osp_core.errors import LARGEST, MissingDependencyError
from osp_core.runs.tables import Columns, DataError, Row, Table

PIECE = 1024  # rows in memory at a time
# What no table needs, and a small file must not make of itself in memory:
_LARGE, _DENSEST = 2**28, 500  # bytes of an array, unless it is at most so many times its size in the file
_MOST_COLUMNS, _LARGEST_ROW = 10**6, 2**24
_LONGEST_HEADER = 2**14


class NpzTable(Table):
    """Arrays of numpy: "X" with one row an example, and the labels under the name of their column."""

    unit = ", row "
    by_position = True

    def __init__(self, path: Path, wanted: Columns) -> None:
        super().__init__(path, wanted)
        label = self.wanted.label
        asked = ["X"] if label is None else ["X", label]
        try:
            with zipfile.ZipFile(path) as archive:
                held = [self.clean_name(None, name.removesuffix(".npy")) for name in archive.namelist()]
                self._members = dict(zip(held, archive.namelist(), strict=True))
                if twice := [name for name in asked if held.count(name) > 1]:
                    raise self.error(None, f"two arrays are called {twice[0]!r}; rename one of them.")
                if missing := [name for name in asked if name not in held]:
                    raise self.error(None, f"there is no array {missing[0]!r}; there are {', '.join(held)}.")
                shapes = {name: self._header(archive, name).shape for name in asked}
        except _DAMAGE as error:
            raise self._damaged(error) from None
        self._length, width = shapes["X"] if len(shapes["X"]) == 2 else (-1, 0)
        if self._length < 0 or any(shape[:1] != (self._length,) for shape in shapes.values()):
            raise self.error(None, f"X must be a matrix with one row per label; the shapes are {shapes}.")
        self.names = [f"X[{i}]" for i in range(width)]
        self.columns = list(self.names)
        if label is not None:
            self.names.append(label)

    def _damaged(self, error: Exception) -> DataError:
        if isinstance(error, DataError):
            return error
        return self.error(None, f"it is no archive of plain arrays ({error}).")

    def _header(self, archive: zipfile.ZipFile, name: str) -> _Header:
        info = archive.getinfo(self._members[name])
        stored = min(info.compress_size, self.path.stat().st_size)
        if info.file_size > max(_LARGE, _DENSEST * stored):
            raise self.error(
                None,
                f"the array {name!r} would grow from {stored} to {info.file_size} bytes; if that is right, "
                "save it without compression.",
            )
        with archive.open(info) as member:
            header = io.BytesIO(member.read(_LONGEST_HEADER))  # numpy would believe the length it states
        version = np.lib.format.read_magic(header)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read:
            raise self.error(None, f"the array {name!r} has the unknown format {version}.")
        shape, by_column, dtype = read[version](header)
        if dtype.kind not in ("fiub" if name == "X" else "fiubUS"):
            raise self.error(None, f"it must hold plain arrays; {name!r} has the type {dtype}.")
        found = _Header(shape, dtype, by_column, header.tell())
        if min(shape, default=0) < 0 or math.prod(shape[1:]) > _MOST_COLUMNS or found.row_size > _LARGEST_ROW:
            raise self.error(
                None,
                f"the array {name!r} has the shape {shape} and the type {dtype}; a row may have "
                f"{_MOST_COLUMNS} entries and {_LARGEST_ROW} bytes.",
            )
        if info.file_size - found.length != math.prod(shape) * dtype.itemsize:
            raise self.error(None, f"the array {name!r} is not as long as its shape {shape} says.")
        return found

    def _records(self) -> Iterator[tuple[int, Any]]:
        line = 0
        try:
            with zipfile.ZipFile(self.path) as archive:
                asked = ["X"] if self.wanted.label is None else ["X", self.wanted.label]
                headers = {self._members[name]: self._header(archive, name) for name in asked}
                step = max(1, min(PIECE, _LARGEST_ROW // max(1, *(one.row_size for one in headers.values()))))
                for pieces in zip(*(_pieces(archive, *one, step) for one in headers.items()), strict=True):
                    for record in zip(*pieces, strict=True):
                        line += 1
                        yield line, record
        except _DAMAGE as error:
            raise self._damaged(error) from None

    def _row(self, line: int, record: Any) -> Row:
        x = np.array(record[0], dtype=np.float64)
        if not (np.abs(x) <= LARGEST).all():
            bad = int(np.flatnonzero(~(np.abs(x) <= LARGEST))[0])
            self._number(line, self.columns[bad], float(x[bad]))
        cells: dict[str, Any] = dict(zip(self.columns, x.tolist(), strict=True))
        if self.wanted.label is not None:
            label = record[1]
            cells[self.wanted.label] = label.item() if isinstance(label, np.generic) else label.tolist()
        return Row(line, x, self._label(line, cells), cells)


class _Header(NamedTuple):
    """What an array in numpy's format says of itself."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_column: bool
    length: int

    @property
    def row_size(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape[1:])


def _pieces(archive: zipfile.ZipFile, name: str, header: _Header, step: int) -> Iterator[Any]:
    """An array from an archive, so many rows at a time."""
    shape, dtype = header.shape, header.dtype
    with archive.open(name) as member:
        member.read(header.length)
        if header.by_column and len(shape) > 1:
            # Stored column after column: a row is only known when all is read.
            whole = np.frombuffer(member.read(), dtype=dtype).reshape(shape, order="F")
            yield from (whole[i : i + step] for i in range(0, shape[0], step))
            return
        for begin in range(0, shape[0], step):
            count = min(step, shape[0] - begin)
            data = member.read(count * header.row_size)
            yield np.frombuffer(data, dtype=dtype).reshape(count, *shape[1:])


class ParquetTable(Table):
    """Columns of Apache Parquet, read in batches."""

    unit = ", row "

    def __init__(self, path: Path, wanted: Columns) -> None:
        super().__init__(path, wanted)
        with self._open() as file:
            names = list(file.schema_arrow.names)
        self._choose(names, None)

    def _open(self) -> Any:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingDependencyError(
                "Parquet files need pyarrow: pip install pyarrow, which also comes with "
                "'online-structured-prediction[all]'."
            ) from None
        try:
            return pyarrow.parquet.ParquetFile(self.path)
        except (pyarrow.ArrowException, OSError) as error:
            raise self.error(None, f"it is no Parquet file ({error}).") from None

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        line = 0
        with self._open() as file:
            import pyarrow

            try:
                for batch in file.iter_batches(batch_size=PIECE):
                    for record in batch.to_pylist():
                        line += 1
                        yield line, dict(zip(self.names, record.values(), strict=True))
            except (pyarrow.ArrowException, OSError) as error:
                raise self.error(line + 1, f"the file is damaged ({error}).") from None

    def _row(self, line: int, record: dict[str, Any]) -> Row:
        return Row(line, self._features(line, record), self._label(line, record), record)


class FrameTable(Table):
    """A data frame of pandas or polars."""

    unit = ", row "

    def __init__(self, frame: Any, wanted: Columns) -> None:
        super().__init__(Path(f"data frame of {library_of(frame)}"), wanted)
        self._frame = frame
        self._choose([str(name) for name in frame.columns], None)

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        # Column by column and piece by piece: a whole frame of Python objects is many times its size.
        for begin in range(0, len(self._frame), PIECE):
            piece = self._frame[begin : begin + PIECE]
            columns = [piece[name].to_list() for name in self._frame.columns]
            for offset, values in enumerate(zip(*columns, strict=True), start=1):
                yield begin + offset, dict(zip(self.names, values, strict=True))

    def _row(self, line: int, record: dict[str, Any]) -> Row:
        return Row(line, self._features(line, record), self._label(line, record), record)


# What zipfile, zlib and numpy raise for bytes that make no sense to them.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    ValueError,
    LookupError,
    ArithmeticError,
    MemoryError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    tokenize.TokenError,
)
