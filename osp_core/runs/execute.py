"""The loop of a run: rounds, checkpoints, the trace on disk, and what is left at the end."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.checkpoint import read_checkpoint
from osp_core.checkpoints import Checkpoints, first_sound
from osp_core.errors import InvalidInputError, OspError
from osp_core.progress import progress_bar
from osp_core.protocol import OnlinePredictor
from osp_core.registry import make_learner
from osp_core.runs.config import RunConfig
from osp_core.runs.prepare import Prepared, prepare
from osp_core.runs.trace_file import TraceFile
from osp_core.trace import Trace


@dataclass(frozen=True, eq=False)
class RunResult:
    """The outcome of a run, whole or interrupted."""

    predictor: OnlinePredictor
    trace: Trace
    summary: dict[str, Any]
    prepared: Prepared


def execute(
    config: RunConfig,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
) -> RunResult:
    """Run a configuration and write its results to the directory `out`.

    Parameters
    ----------
    config : RunConfig
    out : path
        Gets ``summary.json``, ``trace.npz``, ``run.toml`` (the resolved configuration) and ``checkpoints/``.
    resume : bool
        Continue from the last good checkpoint in `out`, or start where there is none.
    progress : bool
        Show a progress bar.
    warn : callable
        Told of damaged checkpoints that were passed over.

    Notes
    -----
    An interrupt (Ctrl-C) ends the run with a checkpoint and the results so far; the summary then says
    ``"finished": false``.
    """
    directory = Path(out)
    if directory.exists() and not resume and any(directory.iterdir()):
        raise InvalidInputError(
            f"{directory} is not empty; choose another directory, or resume the run in it."
        )
    prepared = prepare(config)
    checkpoints = Checkpoints(
        directory / "checkpoints",
        every=config.checkpoint_every,
        seconds=config.checkpoint_seconds,
        keep=config.keep,
    )
    _make_directory(directory)
    _write_text(directory / "run.toml", prepared.config.seen_from(directory).to_toml())
    predictor, done = _begin(prepared, checkpoints, warn)
    with TraceFile(directory / "trace.bin", rounds=done) as trace:
        started = time.monotonic()
        finished = _loop(prepared, predictor, trace, checkpoints, progress)
        seconds = time.monotonic() - started
        _save(predictor, trace, checkpoints, prepared.config)
        whole = trace.read()
    summary = _summary(predictor, whole, prepared, finished, seconds)
    _write_text(directory / "summary.json", json.dumps(summary, indent=2) + "\n")
    whole.save(directory / "trace.npz")
    return RunResult(predictor, whole, summary, prepared)


def _begin(
    prepared: Prepared, checkpoints: Checkpoints, warn: Callable[[str], None]
) -> tuple[OnlinePredictor, int]:
    """The predictor of the newest sound checkpoint, or a new one."""
    config = prepared.config

    def load(path: Path) -> tuple[OnlinePredictor, int]:
        header, _ = read_checkpoint(path)
        if header["extra"].get("run") != _fingerprint(config):
            raise InvalidInputError(
                f"{path} belongs to a run with other settings; choose another directory for this one."
            )
        return OnlinePredictor.load(path, space=prepared.space), int(header["extra"]["rounds"])

    found = first_sound(checkpoints.paths(), load, warn)
    if found is not None:
        return found
    learner = make_learner(config.learner, **config.learner_params)
    predictor = OnlinePredictor(
        prepared.space,
        prepared.n_features,
        learner=learner,
        feature_bound=prepared.feature_bound,
        seed=config.seed,
    )
    return predictor, 0


def _loop(
    prepared: Prepared, predictor: OnlinePredictor, trace: TraceFile, checkpoints: Checkpoints, progress: bool
) -> bool:
    """Play the rounds that are left; False when interrupted."""
    config = prepared.config
    rounds = itertools.islice(prepared.rounds(), trace.rounds, config.rounds)
    left = max(0, min(prepared.total, config.rounds or prepared.total) - trace.rounds)
    try:
        for x, y in progress_bar(rounds, left, enabled=progress):
            try:
                record = predictor.step(x, y)
            except OspError as error:
                error.args = (f"Round {trace.rounds + 1}: {error}", *error.args[1:])
                raise
            trace.append(record)
            if checkpoints.due(trace.rounds):
                _save(predictor, trace, checkpoints, config)
    except KeyboardInterrupt:
        return False
    return True


def _save(predictor: OnlinePredictor, trace: TraceFile, checkpoints: Checkpoints, config: RunConfig) -> None:
    """Write a checkpoint after the trace it belongs to is on disk."""
    trace.flush()
    checkpoints.save(predictor, trace.rounds, extra={"run": _fingerprint(config)})


def _summary(
    predictor: OnlinePredictor, trace: Trace, prepared: Prepared, finished: bool, seconds: float
) -> dict[str, Any]:
    weights = np.ascontiguousarray(predictor.learner.weights)
    totals = trace.summary()
    return {
        "finished": finished,
        "space": prepared.config.space,
        "learner": prepared.config.learner,
        "rounds": len(trace),
        "target_loss": totals["target_loss"],
        "expected_loss": totals["expected_loss"],
        "surrogate_loss": totals["surrogate_loss"],
        "mean_p": totals["mean_p"],
        "total_gap": totals["total_gap"],
        "skipped_rows": prepared.skipped(),
        "feature_bound": prepared.feature_bound,
        "loss_scale": predictor.loss.scale,
        "a": predictor.gap.a,
        "b": predictor.gap.b,
        "weights_sha256": hashlib.sha256(weights.tobytes()).hexdigest(),
        "seconds": seconds,
    }


def _fingerprint(config: RunConfig) -> str:
    """What must be the same to continue: not the place of the data, the length, or how often to save."""
    relevant = [
        line
        for line in config.to_toml().splitlines()
        if not line.startswith(("data =", "rounds =", "checkpoint_every =", "checkpoint_seconds =", "keep ="))
    ]
    return hashlib.sha256("\n".join(relevant).encode()).hexdigest()


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{directory} cannot be made: {error.strerror}.") from error


def _write_text(path: Path, text: str) -> None:
    """Replace a text file whole."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}.") from error
