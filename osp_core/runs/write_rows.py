"""Labelled rows to a file: CSV, JSON lines or Parquet, by the ending of its name."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from osp_core.errors import InvalidInputError, MissingDependencyError
from osp_core.persistence.atomic import whole_file
from osp_core.runs.labels import plain_label, text_of, write_label
from osp_core.runs.text_files import is_number

PIECE = 1024  # rows in memory at a time


# What makes a spreadsheet take a cell for a formula; the wide ones do where wide letters are typed.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write_rows(
    path: Path, rows: Iterable[Mapping[str, Any]], *, overwrite: bool = False, raw: bool = False
) -> int:
    """Write rows as they come; the file is there when all are, and return how many there were.

    Parameters
    ----------
    path : Path
        Ending in ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson`` or ``.parquet``.
    rows : iterable of mappings
        All with the keys of the first; values may be labels of any space.
    overwrite : bool
        Whether an existing file may be replaced.
    raw : bool
        Write ``.csv`` and ``.tsv`` cells as they are. Otherwise a cell, or the name of a column, that a
        spreadsheet would compute gets a ``'`` before it, with which the spreadsheet shows it as text.
    """
    kinds = {
        ".csv": _write_csv,
        ".tsv": _write_csv,
        ".jsonl": _write_json_lines,
        ".ndjson": _write_json_lines,
        ".parquet": _write_parquet,
    }
    write = kinds.get(path.suffix.lower())
    if write is None:
        raise InvalidInputError(f"{path}: the name must end in one of {', '.join(kinds)}.")
    if path.exists() and not overwrite:
        raise InvalidInputError(f"{path} exists already; choose another name, or overwrite it.")
    with whole_file(path, "wb" if path.suffix.lower() == ".parquet" else "w") as file:
        return write(file, rows, path, raw)


def _write_csv(file: IO[Any], rows: Iterable[Mapping[str, Any]], path: Path, raw: bool) -> int:
    writer = csv.writer(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", lineterminator="\n")
    count = 0
    for count, row in enumerate(rows, start=1):
        if count == 1:
            writer.writerow([name if raw else _no_formula(name) for name in row])
        cells = ["" if value is None else write_label(value) for value in row.values()]
        writer.writerow(cells if raw else map(_no_formula, cells))
    return count


def _no_formula(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) and not is_number(cell) else cell


def _write_json_lines(file: IO[Any], rows: Iterable[Mapping[str, Any]], path: Path, raw: bool) -> int:
    count = 0
    for count, row in enumerate(rows, start=1):  # noqa: B007 - it is returned
        plain = {key: plain_label(value) for key, value in row.items()}
        file.write(json.dumps(plain, ensure_ascii=False, default=text_of) + "\n")
    return count


def _write_parquet(file: IO[Any], rows: Iterable[Mapping[str, Any]], path: Path, raw: bool) -> int:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError(
            "Parquet files need pyarrow: pip install pyarrow, which also comes with "
            "'online-structured-prediction[all]'."
        ) from None
    writer, count, piece = None, 0, []
    try:
        for row in rows:
            count += 1
            piece.append({key: _cell(value) for key, value in row.items()})
            if len(piece) == PIECE:
                writer, piece = _flush(pyarrow, file, writer, piece, path), []
        if piece or writer is None:
            writer = _flush(pyarrow, file, writer, piece, path)
    finally:
        if writer is not None:
            writer.close()
    return count


def _flush(pyarrow: Any, file: IO[Any], writer: Any, piece: list[dict[str, Any]], path: Path) -> Any:
    try:
        table = pyarrow.Table.from_pylist(piece, schema=None if writer is None else writer.schema)
        writer = writer or pyarrow.parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)
    except pyarrow.ArrowException as error:
        raise InvalidInputError(f"{path}: the rows do not fit one schema ({error}).") from error
    return writer


def _cell(value: Any) -> Any:
    """Labels with structure as text, as in CSV; what Arrow has a type for as it is."""
    plain = plain_label(value)
    return (
        plain
        if not isinstance(plain, dict) and not isinstance(value, set | frozenset | tuple)
        else write_label(value)
    )
