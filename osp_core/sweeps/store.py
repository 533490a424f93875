"""The store: one JSON line per run, appended by one process, sound after a kill at any moment."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from osp_core.errors import MissingDependencyError, OspError
from osp_core.persistence.atomic import lock, open_inside, read_json, sync_directory, whole_file
from osp_core.sweeps.task import SCHEMA

NAME = "results.jsonl"


class StoreError(OspError, RuntimeError):
    """The store is damaged, of a newer version, or in use."""


class Store:
    """The results of a sweep in a directory.

    Parameters
    ----------
    directory : Path
        Made if there is none.
    warn : callable
        Told when the line that a killed process was writing is cut off.
    """

    def __init__(self, directory: Path, *, warn: Callable[[str], None] = lambda message: None) -> None:
        self.path = directory / NAME
        self._rows: dict[str, dict[str, Any]] = {}
        with contextlib.ExitStack() as opened:
            try:
                directory.mkdir(parents=True, exist_ok=True)
                if (release := lock(directory)) is None:
                    raise StoreError(
                        f"{self.path} is in use by another sweep; wait for it, or choose another store."
                    )
                opened.callback(release)
                self._file = open_inside(directory, NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            except OSError as error:
                raise StoreError(f"{self.path} cannot be opened: {error.strerror}.") from error
            opened.callback(os.close, self._file)
            sync_directory(directory)
            self._read(warn)
            self._opened = opened.pop_all()

    def done(self) -> dict[str, dict[str, Any]]:
        """The rows of the runs that finished, by key."""
        return {key: row for key, row in self._rows.items() if row["status"] == "done"}

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row; when this returns, it is on disk."""
        text = json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n"
        # Half a character, as in the name of a file that is no UTF-8, becomes JSON's escape for it.
        line = memoryview(text.encode(errors="backslashreplace"))
        end = os.fstat(self._file).st_size
        try:
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, end)  # no half line stays behind when the disk is full
            raise StoreError(
                f"{self.path} cannot be written: {error.strerror}. What it has is sound; repeat the sweep to "
                "go on."
            ) from error
        self._rows[row["key"]] = dict(row)

    def _read(self, warn: Callable[[str], None]) -> None:
        """Read all rows; the last line may be torn, any other must be whole."""
        end = 0
        with open(self._file, "rb", closefd=False) as file:
            for number, line in enumerate(file, start=1):
                try:
                    row = _row(line)
                except ValueError as error:
                    if file.read(1):
                        raise StoreError(
                            f"{self.path}:{number} is damaged: {error}. Restore the file, or delete that "
                            "line: its run will be done again."
                        ) from None
                    warn(f"{self.path}: the last line was torn and is cut off; its run will be done again.")
                    break
                if row["schema"] > SCHEMA:
                    raise StoreError(
                        f"{self.path}:{number} was written by a newer version; update the package."
                    )
                self._rows[row["key"]] = row
                end += len(line)
        if end < os.fstat(self._file).st_size:
            os.ftruncate(self._file, end)
            os.fsync(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._opened.close()


def write_parquet(rows: Iterable[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write rows as a Parquet table: settings and numbers as columns, tables of parameters as JSON text."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow.") from None
    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    table = pyarrow.table({name: [row.get(name) for row in flat] for name in columns})
    with whole_file(path, "wb") as file:
        pyarrow.parquet.write_table(table, file)


def _row(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise ValueError("the line has no end")
    try:
        row = read_json(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    parts = {"key": str, "schema": int, "config": dict}
    if not isinstance(row, dict) or not all(isinstance(row.get(part), kind) for part, kind in parts.items()):
        raise ValueError("it is no row of a sweep")
    if row.get("status") not in ("done", "failed"):
        raise ValueError(f"the status is {row.get('status')!r}")
    return row


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    settings = {name: _cell(value) for name, value in row["config"].items()}
    numbers = {name: value for name, value in (row["summary"] or {}).items() if name not in settings}
    error = row["error"] and f"{row['error']['type']}: {row['error']['message']}"
    return {
        "key": row["key"],
        "status": row["status"],
        **settings,
        **numbers,
        "error": error,
        "data_sha256": row["data_sha256"],
        "seconds": row["seconds"],
        "versions": _cell(row["versions"]),
    }


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
