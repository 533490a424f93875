"""Grids: what all runs share, and axes whose every combination is a run."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError
from osp_core.runs import RunConfig
from osp_core.runs.paths import checked_path
from osp_core.runs.toml_text import read_toml

MOST_RUNS = 1_000_000
SETTINGS = tuple(entry.name for entry in fields(RunConfig))
TABLES = tuple(entry.name for entry in fields(RunConfig) if entry.default_factory is dict)


def read_grid(path: str | os.PathLike[str]) -> list[RunConfig]:
    """Read the configurations of a grid file; relative paths in it start where the file is."""
    grid = read_toml(path)
    try:
        return expand(grid, Path(path).parent)
    except InvalidInputError as error:
        raise InvalidInputError(f"{os.fspath(path)}: {error}") from error


def expand(grid: Mapping[str, Any], directory: Path | None = None) -> list[RunConfig]:
    """Return a configuration for every combination of the axes.

    Parameters
    ----------
    grid : mapping
        The settings of a run file, which all runs share; ``grid``, a table of axes; and ``repeats``, how
        often every combination is run with seeds derived from ``seed``. An axis is a list, named after a
        setting (``learner``), after a parameter (``stream_params.noise``) or anything else, and then a
        list of tables that set several things at once.
    directory : Path, optional
        Where relative paths of data start, and which they may not climb out of.
    """
    common = dict(grid)
    axes, repeats = common.pop("grid", {}), common.pop("repeats", None)
    choices = _choices(axes)
    if repeats is not None and (isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1):
        raise InvalidInputError(f"repeats must be a positive whole number, got {repeats!r}.")
    count = math.prod(len(axis) for axis in choices) * (repeats or 1)
    if count > MOST_RUNS:
        raise InvalidInputError(f"The grid has {count} runs; at most {MOST_RUNS} can be done in one sweep.")
    configs: list[RunConfig] = []
    for changes in itertools.product(*choices):
        settings = _merged(common, *changes)
        if directory is not None and settings.get("data") is not None:
            settings["data"] = str((directory / checked_path(settings["data"])).absolute())
        configs.extend(map(RunConfig.of, _with_seeds(settings, repeats)))
    return configs


def _choices(axes: Any) -> list[list[dict[str, Any]]]:
    """For every axis, what each of its values sets."""
    if not isinstance(axes, Mapping):
        raise InvalidInputError("grid must be a table of axes, each a list of values.")
    choices, owner = [], dict[str, str]()
    for name, values in axes.items():
        if not isinstance(values, list | tuple) or not values:
            raise InvalidInputError(f"The axis {name!r} must be a list with a value or more, got {values!r}.")
        choices.append([_settings_of(name, value) for value in values])
        for setting in {setting for change in choices[-1] for setting in _flat(change)}:
            if owner.setdefault(setting, name) != name:
                raise InvalidInputError(f"The axes {owner[setting]!r} and {name!r} both set {setting!r}.")
    return choices


def _settings_of(name: str, value: Any) -> dict[str, Any]:
    section, dot, parameter = name.partition(".")
    if dot and section in TABLES:
        return {section: {parameter: value}}
    if name in SETTINGS:
        return {name: value}
    if not isinstance(value, Mapping):
        raise InvalidInputError(
            f"There is no setting {name!r}; a list of that name must hold tables of settings, got {value!r}."
        )
    return dict(value)


def _flat(change: Mapping[str, Any]) -> Iterator[str]:
    for name, value in change.items():
        if name in TABLES and isinstance(value, Mapping):
            yield from (f"{name}.{parameter}" for parameter in value)
        else:
            yield name


def _merged(common: Mapping[str, Any], *changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the changes; tables of parameters are merged name by name."""
    settings = dict(common)
    for change in changes:
        for name, value in change.items():
            old = settings.get(name)
            if name in TABLES and isinstance(old, Mapping) and isinstance(value, Mapping):
                settings[name] = {**old, **value}
            else:
                settings[name] = value
    unknown = sorted(set(settings) - set(SETTINGS))
    if unknown:
        raise InvalidInputError(
            f"There is no setting {unknown[0]!r}; there are {', '.join(sorted(SETTINGS))}, grid and repeats."
        )
    return settings


def _with_seeds(settings: dict[str, Any], repeats: int | None) -> Iterator[dict[str, Any]]:
    """The settings with the seeds of every repetition, which all combinations have in common.

    Learners are then compared on the same streams.
    """
    if repeats is None:
        yield settings
        return
    base = settings.get("seed", 0)
    if settings.get("seeds") or isinstance(base, bool) or not isinstance(base, int) or base < 0:
        raise InvalidInputError("repeats needs one seed, a whole number that is not negative, to begin with.")
    for index in range(repeats):
        yield {**settings, "seed": _seed(base, index)}


def _seed(base: int, index: int) -> int:
    """A seed of 53 bits, which any reader of JSON keeps whole."""
    high, low = np.random.SeedSequence(base, spawn_key=(index,)).generate_state(2)
    return int(high) << 21 | int(low) >> 11
