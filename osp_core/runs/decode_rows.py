"""Rows of scores or inputs to outputs, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import LARGEST, Array, InvalidInputError, OspError
from osp_core.runs.data import check_file, endings, open_table
from osp_core.runs.model import load_model
from osp_core.runs.names import make_named_space, make_part
from osp_core.runs.tables import Columns, DataError, Row, Table
from osp_core.runs.text import shown
from osp_core.runs.text_files import read_line, text_lines
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import Decoder, default_decoder
from osp_core.surrogates.laws import Law


class ScoreSource:
    """Rows are scores of a space."""

    def __init__(
        self,
        space: str,
        params: Mapping[str, Any],
        decoder: str | None,
        decoder_params: Mapping[str, Any],
    ) -> None:
        self.space: OutputSpace = make_named_space(space, params)
        chosen: Decoder | None = make_part("decoder", decoder, self.space, decoder_params)
        self._decoder = chosen or default_decoder(self.space, self.space.target_loss())
        self.width = self.space.dim
        self.columns: tuple[str, ...] = ()

    def law(self, scores: Array) -> Law:
        """The distribution over outputs."""
        return self._decoder.law(self.space.predict(scores))

    def table(self, path: Path) -> Table:
        """A file with a column for every score, and no others."""
        table = open_table(path, None)
        if len(table.columns) != self.space.dim:
            raise table.error(
                1, f"the space has {self.space.dim} scores; there are {len(table.columns)} columns."
            )
        return table


class ModelSource:
    """Rows are inputs of a saved model."""

    def __init__(self, path: Path) -> None:
        self._model = load_model(path)
        self.space = self._model.predictor.space
        self.columns = self._model.columns
        self.width = self._model.n_features
        self.law: Callable[[Array], Law] = self._model.law
        self.table: Callable[[Path], Table] = self._model.table


@dataclass(frozen=True, eq=False)
class Decoded:
    """A row with its output; `law` is empty unless asked for."""

    line: int
    cells: Mapping[str, Any]
    numbers: Mapping[str, float]
    output: Any
    law: Mapping[str, Any]

    def answer(self) -> dict[str, Any]:
        """What is printed."""
        return {"line": self.line, "output": self.output, **self.law}

    def labelled(self, column: str) -> dict[str, Any]:
        """What is written to a text file: the row as it was, and its output."""
        cells = dict(self.cells) or {"line": self.line}
        added = {column: self.output, **self.law}
        if clash := set(cells) & set(added):
            raise InvalidInputError(
                f"The rows have a column {clash.pop()!r} already; name that of the outputs with --column."
            )
        return {**cells, **added}

    def typed(self, column: str) -> dict[str, Any]:
        """The same with numbers for the features, for a file that has types."""
        numbers = {name: value for name, value in self.numbers.items() if name in self.cells}
        return {**self.labelled(column), **numbers}


def decode_rows(
    source: ScoreSource | ModelSource,
    path: Path | None,
    *,
    seed: int,
    deterministic: bool,
    law: bool,
    skip_bad: bool,
) -> Iterator[Decoded]:
    """Decode the rows of a file, or of standard input."""
    rng, space = np.random.default_rng(seed), source.space
    table = _table(source, path)
    for row in table.rows(skip_bad=skip_bad):
        try:
            decoded = source.law(row.x)
        except OspError as error:  # such as scores beyond what can be computed with
            if not skip_bad:
                raise table.error(row.line, str(error)) from error
            continue
        vertex = decoded.nearest if deterministic else decoded.sample(rng)
        numbers = {name: float(value) for name, value in zip(table.columns, row.x, strict=False)}
        described = _description(space, decoded) if law else {}
        yield Decoded(row.line, row.cells, numbers, space.to_label(vertex), described)


def _table(source: ScoreSource | ModelSource, path: Path | None) -> Table:
    if path is not None:
        check_file(path)
    if path is not None and path.suffix.lower() in set(endings()) - {".jsonl", ".ndjson"}:
        return source.table(path)
    return _Lines(path, source.width, source.columns)


def _description(space: OutputSpace, law: Law) -> dict[str, Any]:
    return {
        "p": law.p if isinstance(law.p, float) else np.asarray(law.p),
        "nearest": space.to_label(law.nearest),
        "mean": law.mean,
        "certified": law.certified,
    }


class _Lines(Table):
    """Lines of numbers, JSON lists, or JSON objects with the features by name."""

    def __init__(self, path: Path | None, width: int, columns: tuple[str, ...]) -> None:
        super().__init__(path or Path("standard input"), Columns(None))
        self._piped, self._width = path is None, width
        self.columns = list(columns)

    def _records(self) -> Iterator[tuple[int, str]]:
        lines = sys.stdin if self._piped else text_lines(self)
        try:
            for number, text in enumerate(lines, start=1):
                if text.strip():
                    yield number, text
        except UnicodeDecodeError as error:
            raise self.error(None, f"it is not UTF-8 text ({error.reason}).") from None

    def _row(self, line: int, record: str) -> Row:
        text = record.strip()
        try:
            values = read_line(self, line, text if text.startswith(("[", "{")) else f"[{text}]")
        except DataError:
            raise
        except (ValueError, RecursionError):
            raise self.error(
                line, f"expected {self._width} numbers separated by commas, got {shown(text)}."
            ) from None
        cells = values if isinstance(values, dict) else {}
        if isinstance(values, dict):
            values = values["x"] if isinstance(values.get("x"), list) else self._by_name(line, values)
        try:
            vector = np.array(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise self.error(
                line, f"expected {self._width} numbers separated by commas, got {shown(text)}."
            ) from None
        if vector.ndim != 1 or vector.size != self._width:
            raise self.error(line, f"expected {self._width} numbers, got {vector.size}.")
        if not (np.abs(vector) <= LARGEST).all():
            raise self.error(line, f"expected finite numbers of at most {LARGEST:g}, got {shown(text)}.")
        return Row(line, vector, None, cells)

    def _by_name(self, line: int, cells: dict[str, Any]) -> list[Any]:
        if not self.columns:
            raise self.error(line, f"expected a list of {self._width} numbers, got an object.")
        return [self._number(line, name, cells.get(name)) for name in self.columns]
