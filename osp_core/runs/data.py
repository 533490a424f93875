"""Data to learn from: a file by the ending of its name, or a data frame."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from osp_core.registry.registry import list_formats, make_format
from osp_core.runs.array_files import FrameTable
from osp_core.runs.tables import Columns, DataError, Table


def endings() -> list[str]:
    """The endings of the files that are read, with their dots."""
    return [f".{record.name}" for record in list_formats()]


def open_table(
    data: Any, label: str | None, *, features: Sequence[str] | None = None, drop: Sequence[str] = ()
) -> Table:
    """Open a data file by the ending of its name, or a data frame.

    Parameters
    ----------
    data : path or DataFrame
        A ``.csv``, ``.tsv``, ``.jsonl`` (or ``.ndjson``), ``.npz`` or ``.parquet`` file, one in a format that
        a plugin reads (see `list_formats`), or a data frame of pandas or polars.
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
    ending = file.suffix.lower()
    if ending not in (known := endings()):
        raise DataError(
            f"{file}: files of type {file.suffix or 'without an ending'!r} are not read; use "
            f"{', '.join(known)}."
        )
    check_file(file)
    table: Table = make_format(ending[1:], path=file, wanted=wanted)
    return table


def check_file(path: Path) -> None:
    """Refuse what is no file that can be read."""
    if path.is_dir():
        raise DataError(f"{path}: this is a directory; name a file in it.")
    if not path.is_file():
        raise DataError(f"{path}: there is no such file.")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path}: the file may not be read; look at its permissions.")
