"""Tables of arrays: NPZ and Parquet files, read piece by piece, and data frames."""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from osp_core.adapters.frames import library_of
from osp_core.errors import LARGEST, MissingDependencyError
from osp_core.runs.tables import Columns, DataError, Row, Table

PIECE = 1024  # rows in memory at a time


class NpzTable(Table):
    """Arrays of numpy: "X" with one row an example, and the labels under the name of their column."""

    unit = ", row "

    def __init__(self, path: Path, wanted: Columns) -> None:
        super().__init__(path, wanted)
        asked = ["X"] if wanted.label is None else ["X", wanted.label]
        try:
            with zipfile.ZipFile(path) as archive:
                held = [name.removesuffix(".npy") for name in archive.namelist()]
                if missing := [name for name in asked if name not in held]:
                    raise self.error(None, f"there is no array {missing[0]!r}; there are {', '.join(held)}.")
                shapes = {name: self._header(archive, name)[0] for name in asked}
        except _DAMAGE as error:
            raise self._damaged(error) from None
        self._length, width = shapes["X"] if len(shapes["X"]) == 2 else (-1, 0)
        if self._length < 0 or any(shape[:1] != (self._length,) for shape in shapes.values()):
            raise self.error(None, f"X must be a matrix with one row per label; the shapes are {shapes}.")
        self.names = [f"X[{i}]" for i in range(width)]
        self.columns = list(self.names)
        if wanted.label is not None:
            self.names.append(wanted.label)

    def _damaged(self, error: Exception) -> DataError:
        if isinstance(error, DataError):
            return error
        return self.error(None, f"it is no archive of plain arrays ({error}).")

    def _header(self, archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
        with archive.open(f"{name}.npy") as member:
            return self._read_header(name, member)

    def _read_header(self, name: str, member: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
        version = np.lib.format.read_magic(member)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read:
            raise self.error(None, f"the array {name!r} has the unknown format {version}.")
        shape, by_column, dtype = read[version](member)
        if dtype.kind not in ("fiub" if name == "X" else "fiubUS"):
            raise self.error(None, f"it must hold plain arrays; {name!r} has the type {dtype}.")
        return shape, dtype, by_column

    def _records(self) -> Iterator[tuple[int, Any]]:
        line = 0
        try:
            with zipfile.ZipFile(self.path) as archive:
                asked = ["X"] if self.wanted.label is None else ["X", self.wanted.label]
                for pieces in zip(*(self._pieces(archive, name) for name in asked), strict=True):
                    for record in zip(*pieces, strict=True):
                        line += 1
                        yield line, record
        except _DAMAGE as error:
            raise self._damaged(error) from None

    def _pieces(self, archive: zipfile.ZipFile, name: str) -> Iterator[Any]:
        with archive.open(f"{name}.npy") as member:
            shape, dtype, by_column = self._read_header(name, member)
            if by_column and len(shape) > 1:
                # Stored column after column: a row is only known when all is read.
                whole = np.frombuffer(member.read(), dtype=dtype).reshape(shape, order="F")
                yield from (whole[i : i + PIECE] for i in range(0, shape[0], PIECE))
                return
            size = dtype.itemsize * math.prod(shape[1:])
            for begin in range(0, shape[0], PIECE):
                count = min(PIECE, shape[0] - begin)
                data = member.read(count * size)
                if len(data) < count * size:
                    raise self.error(None, f"the array {name!r} is cut off.")
                yield np.frombuffer(data, dtype=dtype).reshape(count, *shape[1:])

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
                        yield line, record
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
