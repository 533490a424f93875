"""From a configuration to a space and its rounds: what is not stated is found in the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, OspError
from osp_core.online.predictor import OnlinePredictor
from osp_core.registry.registry import list_streams, make_stream
from osp_core.runs.config import RunConfig
from osp_core.runs.data import open_table
from osp_core.runs.infer_space import Moments, Names, given_names, size_parameters
from osp_core.runs.labels import read_costs, read_label
from osp_core.runs.names import make_named_space, make_part
from osp_core.runs.tables import DataError, Row, Table
from osp_core.runs.text import clean_names
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import Decoder
from osp_core.targets import AffineLoss, DecisionRegret


@dataclass(frozen=True, eq=False)
class Prepared:
    """A run ready to start.

    Attributes
    ----------
    config : RunConfig
        With everything resolved that was found in the data.
    columns : list of str
        The features of a file by name; empty for a stream.
    table : Table or None
        The file or the data frame; None for a stream.
    target, decoder
        None for the defaults of the predictor.
    rounds : callable
        Returns a fresh iterator over (x, y) pairs.
    against : callable
        The same, from a predictor that the stream may look at: an adversary has no other rounds.
    total : int
        How many there are.
    skipped : callable
        Returns how many rows the last iteration left out.
    """

    config: RunConfig
    space: OutputSpace
    n_features: int
    feature_bound: float
    columns: list[str]
    target: AffineLoss | None
    decoder: Decoder | None
    rounds: Callable[[], Iterator[tuple[Any, Any]]]
    against: Callable[[OnlinePredictor], Iterator[tuple[Any, Any]]]
    total: int
    skipped: Callable[[], int]
    table: Table | None = None


def prepare(config: RunConfig) -> Prepared:
    """Look at all of the data, and make the space; what is wrong with either is found before anything runs.

    A file is read once for the names in its labels and the scales of its features, unless they are given, and
    once to check every row.
    """
    return _from_stream(config) if config.stream is not None else _from_table(config)


def _from_stream(config: RunConfig) -> Prepared:
    assert config.stream is not None
    takes = {record.name: record.parameters for record in list_streams()}.get(config.stream, ())
    offered: dict[str, Any] = {"seed": config.seed, "rounds": config.rounds}
    if "space" in takes:
        if config.space is None:
            raise InvalidInputError(f"The stream {config.stream!r} needs a space.")
        offered["space"] = make_named_space(config.space, _with_classes(config))
    stream = make_stream(
        config.stream,
        **{key: value for key, value in offered.items() if key in takes and value is not None},
        **config.stream_params,
    )
    space: OutputSpace = stream.space
    name = space.made_with[0] if space.made_with else None
    if config.space not in (None, name):
        raise InvalidInputError(f"The stream {config.stream!r} is one of {name!r}, not of {config.space!r}.")
    return Prepared(
        replace(config, space=name if name is not None else config.space, scale="none"),
        space,
        stream.n_features,
        config.feature_bound if config.feature_bound is not None else stream.feature_bound,
        [],
        make_part("target", config.target, space, config.target_params),
        make_part("decoder", config.decoder, space, config.decoder_params),
        lambda: iter(stream),
        stream.against,
        len(stream),
        lambda: 0,
    )


def _from_table(config: RunConfig) -> Prepared:
    table = open_table(config.data, config.label, features=config.features or None, drop=config.drop)
    if config.columns:
        table.arrange(config.columns)
    known = _surveyed(config, table)
    assert known.space is not None
    space = make_named_space(known.space, known.params)
    target = make_part("target", config.target, space, config.target_params)
    reader = _Rounds(known, table, space, target)
    total, largest = reader.check()
    if not total:
        raise _no_rows(table)
    bound = config.feature_bound if config.feature_bound is not None else max(largest, 1e-12)
    return Prepared(
        replace(known, feature_bound=bound, columns=tuple(table.columns)),
        space,
        len(table.columns) + int(config.intercept),
        bound,
        table.columns,
        target,
        make_part("decoder", config.decoder, space, config.decoder_params),
        reader.rounds,
        lambda predictor: reader.rounds(),
        total,
        lambda: reader.skipped,
        table,
    )


def _surveyed(config: RunConfig, table: Table) -> RunConfig:
    """The configuration with the names in the labels and the moments of the features, unless it has them."""
    assert config.space is not None
    params = _with_classes(config)
    sizes = size_parameters(config.space)
    names = Names(table, sizes.labels) if sizes is not None and not sizes.are_given(params) else None
    moments = Moments() if config.scale == "standard" and not config.centre else None
    observers = [observer for observer in (names, moments) if observer is not None]
    if observers:
        for row in table.rows(skip_bad=config.on_error == "skip"):
            for observe in observers:
                observe(row)
    centre, spread = config.centre, config.spread
    if sizes is not None and names is not None:
        found = names.labels()
        if not found.parts:
            raise _no_rows(table)
        params = sizes.complete(params, found)
    if moments is not None:
        if not moments.count:
            raise _no_rows(table)
        centre, spread = moments.centre_and_spread()
    if len(centre) not in (0, len(table.columns)):
        raise table.error(1, f"there are {len(table.columns)} features, but scales for {len(centre)}.")
    return replace(config, params=params, classes=(), centre=centre, spread=spread)


def _with_classes(config: RunConfig) -> dict[str, Any]:
    assert config.space is not None
    given: dict[str, Any] = clean_names(dict(config.params), "A parameter of the space")
    if not config.classes:
        return given
    named = given_names(config.space, config.classes)
    if clash := set(named) & set(given):
        raise InvalidInputError(f"classes and the parameter {clash.pop()!r} say the same; give one of them.")
    return {**named, **given}


def scaled(x: Array, centre: Sequence[float], spread: Sequence[float], *, intercept: bool) -> Array:
    """Features as the learner sees them: shifted and scaled, with a constant."""
    if len(centre):
        x = (x - np.asarray(centre)) / np.asarray(spread)
    return np.append(x, 1.0) if intercept else x


def _no_rows(table: Table) -> DataError:
    skipped = f" ({table.bad_rows} bad ones were skipped)" if table.bad_rows else ""
    return table.error(1, f"there are no rows to learn from{skipped}.")


class _Rounds:
    """The rows of a table as inputs and outputs."""

    def __init__(
        self, config: RunConfig, table: Table, space: OutputSpace, target: AffineLoss | None
    ) -> None:
        self.config, self.table, self.space, self.target = config, table, space, target
        self._bad_labels = 0

    @property
    def skipped(self) -> int:
        return self._bad_labels + self.table.bad_rows

    def rounds(self) -> Iterator[tuple[Array, Any]]:
        """The rounds; a row that cannot be one is an error with its line, or is counted and left out."""
        self._bad_labels = 0
        for row in self.table.rows(skip_bad=self.config.on_error == "skip"):
            try:
                yield self._round(row)
            except DataError:
                if self.config.on_error == "stop":
                    raise
                self._bad_labels += 1

    def check(self) -> tuple[int, float]:
        """Go through all of them; return how many there are and the largest norm of an input."""
        total, largest = 0, 0.0
        for x, _ in self.rounds():
            total, largest = total + 1, max(largest, float(np.linalg.norm(x)))
        return total, largest

    def _round(self, row: Row) -> tuple[Array, Any]:
        x = scaled(row.x, self.config.centre, self.config.spread, intercept=self.config.intercept)
        bound = self.config.feature_bound
        if bound is not None and (size := float(np.linalg.norm(x))) > bound * (1 + 1e-9):
            raise self.table.error(
                row.line, f"the features have norm {size:.6g}, above the feature bound {bound:.6g}."
            )
        try:
            if isinstance(self.target, DecisionRegret):
                costs = read_costs(row.label)
                self.target.reveal(self.space, costs)
                return x, np.asarray(costs, dtype=np.float64)
            return x, read_label(self.space, row.label)
        except OspError as error:
            raise self.table.error(row.line, f"label: {error}") from error
