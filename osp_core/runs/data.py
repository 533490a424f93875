"""Data to learn from: a file by the ending of its name, or a data frame."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from osp_core.runs.array_files import FrameTable, NpzTable, ParquetTable
from osp_core.runs.tables import Columns, DataError, Table
from osp_core.runs.text_files import CsvTable, JsonLinesTable

KINDS: dict[str, Any] = {
    ".csv": CsvTable,
    ".tsv": CsvTable,
    ".jsonl": JsonLinesTable,
    ".ndjson": JsonLinesTable,
    ".npz": NpzTable,
    ".parquet": ParquetTable,
}


def open_table(
    data: Any, label: str | None, *, features: Sequence[str] | None = None, drop: Sequence[str] = ()
) -> Table:
    """Open a data file by the ending of its name, or a data frame.

    Parameters
    ----------
    data : path or DataFrame
        A ``.csv``, ``.tsv``, ``.jsonl`` (or ``.ndjson``), ``.npz`` or ``.parquet`` file, or a data frame
        of pandas or polars.
    label : str or None
        The column of the labels: a name, or for CSV without a header its number from 0, negative from
        the end. None where there are no labels to read.
    features : sequence of str, optional
        The columns of the features; all others by default.
    drop : sequence of str
        Columns that are no features either.
    """
    wanted = Columns(label, None if features is None else tuple(features), tuple(drop))
    if not isinstance(data, str | os.PathLike):
        return FrameTable(data, wanted)
    file = Path(data)
    kind = KINDS.get(file.suffix.lower())
    if kind is None:
        raise DataError(
            f"{file}: files of type {file.suffix or 'without an ending'!r} are not read; use "
            f"{', '.join(KINDS)}."
        )
    check_file(file)
    table: Table = kind(file, wanted)
    return table


def check_file(path: Path) -> None:
    """Refuse what is no file that can be read."""
    if path.is_dir():
        raise DataError(f"{path}: this is a directory; name a file in it.")
    if not path.is_file():
        raise DataError(f"{path}: there is no such file.")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path}: the file may not be read; look at its permissions.")
