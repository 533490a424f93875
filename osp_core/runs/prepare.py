"""From a configuration to a space and its rounds: what is not stated is found in the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from osp_core.errors import Array, NotAVertexError, OspError
from osp_core.registry import make_space, make_stream
from osp_core.runs.config import RunConfig
from osp_core.runs.data import Table, open_table
from osp_core.runs.labels import read_label, split_label
from osp_core.spaces import OutputSpace


@dataclass(frozen=True, eq=False)
class Prepared:
    """A run ready to start.

    Attributes
    ----------
    config : RunConfig
        With everything resolved that was found in the data.
    rounds : callable
        Returns a fresh iterator over (x, y vertex) pairs.
    total : int
        How many there are.
    skipped : callable
        Returns how many rows the last iteration left out.
    """

    config: RunConfig
    space: OutputSpace
    n_features: int
    feature_bound: float
    rounds: Callable[[], Iterator[tuple[Array, Array]]]
    total: int
    skipped: Callable[[], int]


def prepare(config: RunConfig) -> Prepared:
    """Look at the data once, and make the space."""
    return _from_stream(config) if config.stream is not None else _from_table(config)


def _from_stream(config: RunConfig) -> Prepared:
    assert config.stream is not None
    space = make_space(config.space, **config.params)
    params = {"space": space, "seed": config.seed, **config.stream_params}
    if config.rounds is not None:
        params.setdefault("rounds", config.rounds)
    stream = make_stream(config.stream, **params)
    bound = config.feature_bound or stream.feature_bound
    return Prepared(config, space, stream.n_features, bound, lambda: iter(stream), len(stream), lambda: 0)


def _from_table(config: RunConfig) -> Prepared:
    assert config.data is not None
    table = open_table(config.data, config.label)
    seen = _survey(table, config)
    if not seen.rows:
        raise table.error(None, "there are no rows to learn from.")
    params = {**_missing_params(config.space, config.params, seen), **config.params}
    space = make_space(config.space, **params)
    bound = config.feature_bound if config.feature_bound is not None else max(seen.largest, 1e-12)
    resolved = replace(config, params=params, feature_bound=bound)
    counter = _Counter()

    def rounds() -> Iterator[tuple[Array, Array]]:
        counter.skipped = 0
        for row in table.rows(skip_bad=config.on_error == "skip"):
            try:
                y = read_label(space, row.label)
            except (NotAVertexError, OspError) as error:
                if config.on_error == "stop":
                    raise table.error(row.line, f"label: {error}") from error
                counter.skipped += 1
                continue
            yield _with_intercept(row.x, config.intercept), y

    width = len(table.columns) + int(config.intercept)
    return Prepared(
        resolved, space, width, bound, rounds, seen.rows, lambda: counter.skipped + table.bad_rows
    )


@dataclass
class _Counter:
    skipped: int = 0


@dataclass
class _Survey:
    """What the first reading of a file finds."""

    rows: int
    largest: float
    parts: dict[str, int]
    longest: int


def _survey(table: Table, config: RunConfig) -> _Survey:
    """Read the whole file once, however many rounds are asked for: a longer run then continues a shorter."""
    seen = _Survey(0, 0.0, {}, 0)
    for row in table.rows(skip_bad=config.on_error == "skip"):
        seen.rows += 1
        seen.largest = max(seen.largest, float(np.linalg.norm(_with_intercept(row.x, config.intercept))))
        parts = split_label(row.label) if isinstance(row.label, str) else _parts(row.label)
        seen.longest = max(seen.longest, len(parts))
        for part in parts:
            seen.parts[part] = seen.parts.get(part, 0) + 1
    return seen


def _missing_params(space: str, given: Mapping[str, Any], seen: _Survey) -> dict[str, Any]:
    """Names and sizes of the spaces that are mostly read from files."""
    names = sorted(seen.parts, key=_natural)
    if space == "simplex" and not {"d", "classes"} & set(given):
        return {"classes": names}
    if space == "hypercube" and not {"d", "labels"} & set(given):
        return {"labels": names}
    if space == "ordinal" and not {"d", "categories"} & set(given):
        return {"categories": names}
    if space == "k_subsets" and not {"d", "k", "elements"} & set(given):
        return {"elements": names, "k": seen.longest}
    if space in ("birkhoff", "permutahedron") and not {"n", "d", "items", "weights"} & set(given):
        return {"items": names}
    return {}


def _parts(label: Any) -> list[Any]:
    return list(label) if isinstance(label, list) else [label]


def _natural(part: Any) -> tuple[int, float, str]:
    """Numbers by value and before words."""
    try:
        return (0, float(part), str(part))
    except (TypeError, ValueError):
        return (1, 0.0, str(part))


def _with_intercept(x: Array, intercept: bool) -> Array:
    return np.append(x, 1.0) if intercept else x
