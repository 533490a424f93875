"""One run of a sweep: what is sent to a worker, and the row that comes back."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import platform
import signal
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError, OspError
from osp_core.online.comparator import best_comparator
from osp_core.registry.registry import list_learners, load_plugins
from osp_core.runs import RunConfig, RunResult, execute

SCHEMA = 1
# How often a run saves itself changes nothing in its result.
_IRRELEVANT = ("checkpoint_every", "checkpoint_seconds", "keep")
_COMPARATOR_STEPS = 200  # a limit in steps, not seconds: the same on every machine
_DISTRIBUTION = "online-structured-prediction"
_first_use = threading.Lock()


@dataclass(frozen=True)
class Task:
    """A configuration as plain values, ready to be sent anywhere: no object of ours crosses the wire.

    Attributes
    ----------
    key : str
        SHA-256 of everything that determines the result: the settings, and the contents of the data.
    config : mapping
    data_sha256 : str or None
    regret : bool
    plugins : tuple of str
        Directories of single-file plugins to load first.
    version : str
        Of the package that made the task; a worker with another one refuses.
    """

    key: str
    config: Mapping[str, Any]
    data_sha256: str | None
    regret: bool
    plugins: tuple[str, ...]
    version: str


def make_tasks(configs: Sequence[RunConfig], *, regret: bool, plugins: Sequence[str]) -> list[Task]:
    """The tasks of the configurations, in their order, one for those that are the same."""
    digests: dict[str, str] = {}
    tasks: dict[str, Task] = {}
    folders = tuple(str(Path(folder).absolute()) for folder in plugins)
    version = metadata.version(_DISTRIBUTION)
    for config in itertools.chain.from_iterable(map(_one_per_seed, configs)):
        plain, digest = plain_settings(config), None
        if config.data is not None:
            path = str(Path(config.data).absolute())
            plain["data"], digest = path, digests.get(path) or _sha256(Path(path))
            digests[path] = digest
        key = _key(plain, digest, regret)
        tasks.setdefault(key, Task(key, plain, digest, regret, folders, version))
    return list(tasks.values())


def plain_settings(config: RunConfig) -> dict[str, Any]:
    """All settings of a configuration as JSON values."""
    settings = {entry.name: getattr(config, entry.name) for entry in dataclasses.fields(config)}
    if config.data is not None:
        settings["data"] = os.fspath(config.data) if isinstance(config.data, os.PathLike) else config.data
    try:
        text = json.dumps(settings, allow_nan=False, default=_mapping)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"A configuration of a sweep must be numbers, text, lists and tables: {error}."
        ) from error
    plain: dict[str, Any] = json.loads(text)
    return plain


def perform(task: Task) -> dict[str, Any]:
    """Do a run and return its row; an error becomes part of the row."""
    started = time.monotonic()
    try:
        row = _row(task, **_outcome(task))
        json.dumps(row, allow_nan=False)
    except (Exception, SystemExit) as error:  # a plugin may raise anything
        row = lost(task, error)
    return row | {"versions": _versions(), "seconds": time.monotonic() - started}


def lost(task: Task, error: BaseException) -> dict[str, Any]:
    """The row of a run that has no result."""
    return _row(task, status="failed", error={"type": type(error).__name__, "message": str(error)})


def _row(task: Task, **outcome: Any) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "key": task.key,
        "status": None,
        "config": dict(task.config),
        "summary": None,
        "error": None,
        "data_sha256": task.data_sha256,
        "versions": None,
        "seconds": None,
        **outcome,
    }


def _outcome(task: Task) -> dict[str, Any]:
    _check_worker(task)
    settings = {**task.config, "checkpoint_every": 2**53}  # the directory is thrown away
    with tempfile.TemporaryDirectory(prefix="osp-sweep-", ignore_cleanup_errors=True) as scratch:
        result = execute(RunConfig.of(settings), Path(scratch) / "run")
    if result.interrupted is not None:
        signal.raise_signal(result.interrupted)  # half a run is no result: this process was told to stop
    summary = {key: value for key, value in result.summary.items() if key not in ("finished", "seconds")}
    if task.regret:
        summary |= _regret(result)
    config = plain_settings(result.prepared.config)
    config |= {name: task.config[name] for name in _IRRELEVANT if name in config}
    return {"status": "done", "config": config, "summary": summary}


def _check_worker(task: Task) -> None:
    """Refuse to compute something else than was asked for."""
    with _first_use:  # workers may have several threads, the registry is made at its first use
        for folder in task.plugins:
            load_plugins(folder)
        list_learners()
    here = metadata.version(_DISTRIBUTION)
    if here != task.version:
        raise InvalidInputError(f"The worker has version {here}, the sweep was started with {task.version}.")
    if task.data_sha256 is not None and _sha256(Path(task.config["data"])) != task.data_sha256:
        raise InvalidInputError(
            f"{task.config['data']} is another file where the run is done than where the sweep was started."
        )


def _regret(result: RunResult) -> dict[str, Any]:
    """The regret against the comparator with the tightest bound, where the run has a bound at all."""
    predictor, prepared = result.predictor, result.prepared
    try:
        pairs = list(itertools.islice(prepared.rounds(), len(result.trace)))  # an adversary's are not known
        inputs, outputs = np.array([x for x, _ in pairs]), [y for _, y in pairs]
        comparator = best_comparator(
            prepared.space, inputs, outputs, predictor.certificate, max_iter=_COMPARATOR_STEPS
        )
        norm = float(np.linalg.norm(comparator.weights))
        bound = predictor.guarantee("expected", norm_U=norm).value
    except OspError as error:
        return {"regret": None, "bound": None, "no_bound": str(error)}
    return {
        "regret": result.trace.regret(comparator),
        "bound": bound,
        "comparator_loss": comparator.surrogate_loss,
        "comparator_norm": norm,
    }


def _one_per_seed(config: RunConfig) -> list[RunConfig]:
    seeds = config.seeds or (config.seed,)
    return [dataclasses.replace(config, seed=seed, seeds=()) for seed in seeds]


def _key(plain: Mapping[str, Any], digest: str | None, regret: bool) -> str:
    relevant: dict[str, Any] = {name: value for name, value in plain.items() if name not in _IRRELEVANT}
    relevant |= {"data": digest, "regret": regret}
    return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInputError(f"{path}: {error.strerror}.") from error


def _versions() -> dict[str, str]:
    packages = (_DISTRIBUTION, "numpy", "scipy")
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def _mapping(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} is a {type(value).__name__}")
