"""The configuration of a run: everything that determines its result, as one TOML file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from osp_core.errors import InvalidInputError
from osp_core.runs.paths import checked_path, climbs
from osp_core.runs.text import clean_names
from osp_core.runs.toml_text import read_toml, toml_text

TABLES = ("params", "stream_params", "learner_params", "decoder_params", "target_params")
NAMES = ("features", "drop", "columns", "classes")
LISTS = {**dict.fromkeys(NAMES, str), "seeds": int, "centre": float, "spread": float}


@dataclass(frozen=True)
class RunConfig:
    """What to learn, from what, and how.

    Attributes
    ----------
    space : str or None
        A registered space. None with a stream that brings its own.
    params : mapping
        Its parameters; class names, label names and sizes that are missing are found in the data. psi may be
        text, such as "SquaredNorm(0.5)".
    classes : tuple of str
        The classes, labels, categories, items or elements of the space, in this order, instead of those
        found in the data.
    data, label : str or None
        A file (or a data frame) and its label column; or
    stream, stream_params
        a registered stream and its parameters.
    features, drop : tuple of str
        The feature columns (all but the label by default), and columns that are none.
    columns : tuple of str
        The features by name, in the order of the weights; found in the data otherwise. A file may have them
        in any order, but must have these.
    learner, learner_params
        A registered learner and its parameters.
    decoder, decoder_params
        A registered decoder and its parameters; by default what suits space and target.
    target, target_params
        A registered target and its parameters; by default the usual target of the space.
    rounds : int or None
        Stop after this many rounds.
    seed : int
        Of the plays, and of the stream.
    seeds : tuple of int
        Several seeds: one run each.
    scale : {"standard", "none"}
        Whether the features of a file are shifted to mean 0 and scaled to standard deviation 1.
    centre, spread : tuple of float
        What is subtracted from the features, and what they are divided by; found in the data otherwise.
    feature_bound : float or None
        C; the largest norm of the scaled data otherwise.
    intercept : bool
        Whether to add a constant feature to data from a file.
    on_error : {"stop", "skip"}
        What to do with a bad row of a file, or one whose label the space does not have.
    checkpoint_every : int
        Rounds between checkpoints.
    checkpoint_seconds : float or None
        Seconds after which there is a checkpoint, too.
    keep : int
        How many checkpoints to keep.
    """

    space: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    data: Any = None
    label: str = "label"
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    stream: str | None = None
    stream_params: Mapping[str, Any] = field(default_factory=dict)
    learner: str = "ogd"
    learner_params: Mapping[str, Any] = field(default_factory=dict)
    decoder: str | None = None
    decoder_params: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    target_params: Mapping[str, Any] = field(default_factory=dict)
    rounds: int | None = None
    seed: int = 0
    seeds: tuple[int, ...] = ()
    scale: str = "standard"
    centre: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    feature_bound: float | None = None
    intercept: bool = True
    on_error: str = "stop"
    checkpoint_every: int = 1000
    checkpoint_seconds: float | None = None
    keep: int = 3

    def __post_init__(self) -> None:
        if (self.data is None) == (self.stream is None):
            raise InvalidInputError("A run needs either data (a file) or stream (a registered stream).")
        if self.space is None and self.stream is None:
            raise InvalidInputError("A run needs a space.")
        for name, choices in (("on_error", ("stop", "skip")), ("scale", ("standard", "none"))):
            if getattr(self, name) not in choices:
                raise InvalidInputError(
                    f"{name} must be {' or '.join(map(repr, choices))}, got {getattr(self, name)!r}."
                )
        for name in ("rounds", "checkpoint_every", "keep"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InvalidInputError(f"{name} must be a positive whole number, got {value!r}.")
        for name in ("feature_bound", "checkpoint_seconds"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InvalidInputError(f"{name} must be a positive number, got {value!r}.")
        for name in TABLES:
            if not isinstance(getattr(self, name), Mapping):
                raise InvalidInputError(f"{name} must be a table of parameters.")
        self._check_lists()

    def _check_lists(self) -> None:
        for name, kind in LISTS.items():
            value = getattr(self, name)
            if not isinstance(value, list | tuple) or not all(type(item) is kind for item in value):
                raise InvalidInputError(f"{name} must be a list of {kind.__name__}, got {value!r}.")
            if name in NAMES:
                value = clean_names(value, name)
            if kind is not float and len(set(value)) < len(value):
                raise InvalidInputError(f"{name} names something twice: {value!r}.")
            object.__setattr__(self, name, tuple(value))
        if len(self.centre) != len(self.spread) or not all(0 < value < math.inf for value in self.spread):
            raise InvalidInputError("centre and spread must have an entry per feature, and spread no zeros.")
        if not all(map(math.isfinite, self.centre)):
            raise InvalidInputError("centre must be finite.")
        if min((self.seed, *self.seeds)) < 0:
            raise InvalidInputError(f"seed must not be negative, got {min((self.seed, *self.seeds))}.")

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], **overrides: Any) -> RunConfig:
        """Read a run file; what is in `overrides` and not None replaces what the file says."""
        values = read_toml(path)
        known = {entry.name for entry in fields(cls)}
        if unknown := sorted(set(values) - known):
            # A run file says what is run, never where results go: that is for the one who runs it.
            hint = "; results go to the directory given with --out" if unknown[0].startswith("out") else ""
            raise InvalidInputError(
                f"{os.fspath(path)}: there is no setting {unknown[0]!r}; there are "
                f"{', '.join(sorted(known))}{hint}."
            )
        given = {key: value for key, value in overrides.items() if value is not None}
        for kinds in (("data", "stream"), ("seed", "seeds")):  # one of them replaces the other
            if any(kind in given for kind in kinds):
                values = {key: value for key, value in values.items() if key not in kinds}
        try:
            if "data" in values:
                checked_path(values["data"])
            return cls.of({**values, **given})
        except InvalidInputError as error:
            raise InvalidInputError(f"{os.fspath(path)}: {error}") from error

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RunConfig:
        """Make a configuration of plain values, with a clear error for a wrong type."""
        for entry in fields(cls):
            value = values.get(entry.name)
            expected = _TYPES.get(str(entry.type).removesuffix(" | None"))
            wrong_bool = isinstance(value, bool) and expected is not None and bool not in expected
            if value is not None and expected is not None and (not isinstance(value, expected) or wrong_bool):
                raise InvalidInputError(f"{entry.name} must be a {expected[0].__name__}, got {value!r}.")
        return cls(**values)

    @property
    def from_file(self) -> bool:
        """Whether the data are a file, not a frame."""
        return isinstance(self.data, str | os.PathLike)

    def to_toml(self) -> str:
        """Return the configuration as TOML that `from_toml` reads."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        if self.data is not None:
            values["data"] = os.fspath(self.data) if self.from_file else "(a data frame)"
        return toml_text({key: value for key, value in values.items() if value not in (None, ())})

    def beside(self, directory: Path) -> RunConfig:
        """The same run with a relative data path understood from `directory`."""
        return replace(self, data=str(directory / self.data)) if self.from_file else self

    def seen_from(self, directory: Path) -> RunConfig:
        """The same run with the data path as it is found from `directory`; absolute if that is outside."""
        if not self.from_file:
            return self
        try:
            relative = os.path.relpath(self.data, directory)
        except ValueError:  # on another drive
            relative = os.pardir
        return replace(self, data=os.path.abspath(self.data) if climbs(relative) else relative)


_TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (float, int), "bool": (bool,)}
