"""The configuration of a run: everything that determines its result, as one TOML file."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from osp_core.errors import InvalidInputError, as_positive

SECTIONS = ("params", "learner_params", "stream_params")


@dataclass(frozen=True)
class RunConfig:
    """What to learn, from what, and how.

    Attributes
    ----------
    space : str
        A registered space.
    params : mapping
        Its parameters; class names, label names and sizes that are missing are found in the data.
    data, label : str or None
        A file and its label column; or
    stream, stream_params
        a registered stream and its parameters.
    learner, learner_params
        A registered learner and its parameters.
    rounds : int or None
        Stop after this many rounds.
    seed : int
        Of the plays, and of the stream.
    feature_bound : float or None
        C; the largest norm of the data otherwise.
    intercept : bool
        Whether to add a constant feature to data from a file.
    on_error : {"stop", "skip"}
        What to do with a bad row of a file.
    checkpoint_every : int
        Rounds between checkpoints.
    checkpoint_seconds : float or None
        Seconds between checkpoints, if those are over before the rounds.
    keep : int
        How many checkpoints to keep.
    """

    space: str
    params: Mapping[str, Any] = field(default_factory=dict)
    data: str | None = None
    label: str = "label"
    stream: str | None = None
    stream_params: Mapping[str, Any] = field(default_factory=dict)
    learner: str = "ogd"
    learner_params: Mapping[str, Any] = field(default_factory=dict)
    rounds: int | None = None
    seed: int = 0
    feature_bound: float | None = None
    intercept: bool = True
    on_error: str = "stop"
    checkpoint_every: int = 1000
    checkpoint_seconds: float | None = None
    keep: int = 3

    def __post_init__(self) -> None:
        if (self.data is None) == (self.stream is None):
            raise InvalidInputError("A run needs either data (a file) or stream (a registered stream).")
        if self.on_error not in ("stop", "skip"):
            raise InvalidInputError(f"on_error must be 'stop' or 'skip', got {self.on_error!r}.")
        for name in ("rounds", "checkpoint_every", "keep"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InvalidInputError(f"{name} must be a positive whole number, got {value!r}.")
        if self.checkpoint_seconds is not None:
            as_positive(self.checkpoint_seconds, "checkpoint_seconds")
        for name in SECTIONS:
            if not isinstance(getattr(self, name), Mapping):
                raise InvalidInputError(f"{name} must be a table of parameters.")

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], **overrides: Any) -> RunConfig:
        """Read a run file; what is in `overrides` and not None replaces what the file says."""
        try:
            with open(path, "rb") as file:
                values = tomllib.load(file)
        except OSError as error:
            raise InvalidInputError(f"{os.fspath(path)}: {error.strerror}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidInputError(f"{os.fspath(path)}: {error}.") from error
        known = {entry.name for entry in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise InvalidInputError(
                f"{os.fspath(path)}: there is no setting {unknown[0]!r}; there are "
                f"{', '.join(sorted(known))}."
            )
        return cls.of({**values, **{key: value for key, value in overrides.items() if value is not None}})

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RunConfig:
        """Make a configuration of plain values, with a clear error for a wrong type."""
        for entry in fields(cls):
            value = values.get(entry.name)
            expected = _TYPES.get(str(entry.type).removesuffix(" | None"))
            if value is not None and expected is not None and not isinstance(value, expected):
                raise InvalidInputError(f"{entry.name} must be a {expected[0].__name__}, got {value!r}.")
        if "space" not in values:
            raise InvalidInputError("A run needs a space.")
        return cls(**values)

    def to_toml(self) -> str:
        """Return the configuration as TOML that `from_toml` reads."""
        plain, tables = [], []
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, Mapping):
                if value:
                    tables += ["", f"[{entry.name}]", *(f"{_key(k)} = {_toml(v)}" for k, v in value.items())]
            elif value is not None:
                plain.append(f"{entry.name} = {_toml(value)}")
        return "\n".join([*plain, *tables]) + "\n"

    def beside(self, directory: Path) -> RunConfig:
        """The same run with a relative data path understood from `directory`."""
        return self if self.data is None else replace(self, data=str(directory / self.data))

    def seen_from(self, directory: Path) -> RunConfig:
        """The same run with the data path written as it is found from `directory`."""
        return self if self.data is None else replace(self, data=os.path.relpath(self.data, directory))


_TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (float, int), "bool": (bool,)}


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))} = {_toml(v)}" for k, v in value.items()) + "}"
    raise InvalidInputError(f"{value!r} cannot be written to a run file.")
