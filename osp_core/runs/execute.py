"""The loop of a run: rounds, checkpoints, the trace on disk, and what is left at the end."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError, OspError
from osp_core.online.predictor import OnlinePredictor
from osp_core.online.records import Round
from osp_core.online.trace import Trace
from osp_core.persistence.atomic import LOCK, clear_leftovers, inside, make_directory, sole_use, write_text
from osp_core.persistence.directory import Checkpoints
from osp_core.runs.config import RunConfig
from osp_core.runs.interrupts import Interrupts
from osp_core.runs.prepare import Prepared, prepare
from osp_core.runs.progress_table import ProgressTable
from osp_core.runs.resume import CONFIG, Beginning, begin, continued, save
from osp_core.runs.trace_file import TraceFile

SUMMARY, TRACE, ROWS, CHECKPOINTS = "summary.json", "trace.npz", "trace.bin", "checkpoints"


@dataclass(frozen=True, eq=False)
class RunResult:
    """The outcome of a run, whole or interrupted."""

    predictor: OnlinePredictor
    trace: Trace
    summary: dict[str, Any]
    prepared: Prepared
    interrupted: signal.Signals | None = None
    """What ended the run early, if anything did."""


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
        Show a table of progress on standard error.
    warn : callable
        Told of damaged checkpoints that were passed over.

    Notes
    -----
    Ctrl-C or SIGTERM end the run after its round, with a checkpoint and the results so far; the summary then
    says ``"finished": false``. A second Ctrl-C stops at once, with the last checkpoint that was written.
    """
    directory = Path(out)
    if resume:
        for name in (CONFIG, ROWS, CHECKPOINTS, SUMMARY, TRACE):
            inside(directory, name)  # no link, or nothing is even read
    else:
        refuse_used(directory)
    if config.seeds:
        raise InvalidInputError("A run has one seed; execute_seeds runs several.")
    prepared = prepare(continued(config, directory) if resume else config)
    checkpoints = Checkpoints(
        inside(directory, CHECKPOINTS),
        every=config.checkpoint_every,
        seconds=config.checkpoint_seconds,
        keep=config.keep,
    )
    saved = checkpoints.paths()
    beginning = begin(prepared, checkpoints, warn)
    resolved = prepared.config.seen_from(directory).to_toml()
    make_directory(directory)  # not before all is known to fit together
    with sole_use(directory):
        # Another run may have been here while we looked at the data.
        if not resume:
            refuse_used(directory)
        elif checkpoints.paths() != saved:
            raise InvalidInputError(f"Another run has gone on in {directory} meanwhile; resume again.")
        clear_leftovers(directory)
        write_text(inside(directory, CONFIG), resolved)
        return _execute(prepared, beginning, checkpoints, directory, progress=progress)


def refuse_used(directory: Path) -> None:
    """Refuse a directory with something in it: results are never written over others by accident."""
    if directory.exists() and any(path.name != LOCK for path in directory.iterdir()):
        raise InvalidInputError(
            f"{directory} is not empty; choose another directory, or resume the run in it."
        )


def _execute(
    prepared: Prepared, beginning: Beginning, checkpoints: Checkpoints, directory: Path, *, progress: bool
) -> RunResult:
    """Play the rounds, and write what came of them."""
    predictor = beginning.predictor
    watch = ProgressTable(prepared.space) if progress else _nobody
    with TraceFile(directory / ROWS, rounds=beginning.done) as trace, Interrupts() as interrupts:
        started = time.monotonic()
        try:
            finished = _loop(prepared, beginning, trace, checkpoints, interrupts, watch)
        except OspError:
            # The round that failed has changed nothing; a disk that is full has been reported already.
            with contextlib.suppress(OspError):
                save(beginning, trace, checkpoints, prepared)
            raise
        seconds = time.monotonic() - started
        save(beginning, trace, checkpoints, prepared)
        whole = trace.read()
        summary = _summary(predictor, whole, prepared, finished, seconds)
        write_text(inside(directory, SUMMARY), json.dumps(summary, indent=2) + "\n")
        whole.save(inside(directory, TRACE))
    return RunResult(predictor, whole, summary, prepared, interrupts.received)


def _loop(
    prepared: Prepared,
    beginning: Beginning,
    trace: TraceFile,
    checkpoints: Checkpoints,
    interrupts: Interrupts,
    watch: Callable[[int, Round], None],
) -> bool:
    """Play the rounds that are left; False when interrupted."""
    most, learned = prepared.config.rounds, beginning.learned
    left = None if most is None else max(0, most - trace.rounds)
    for x, y in itertools.islice(beginning.rounds, left):
        if interrupts.received is not None:
            return False
        try:
            record = beginning.predictor.step(x, y)
        except OspError as error:
            error.args = (f"Round {trace.rounds + 1}: {error}", *error.args[1:])
            raise
        if learned is not None:
            learned.add(x, y)
        trace.append(record)
        watch(trace.rounds, record)
        if checkpoints.due(trace.rounds):
            save(beginning, trace, checkpoints, prepared)
    return True


def _nobody(number: int, record: Round) -> None:
    """Watches nothing."""


def _summary(
    predictor: OnlinePredictor, trace: Trace, prepared: Prepared, finished: bool, seconds: float
) -> dict[str, Any]:
    totals, weights = trace.summary(), np.ascontiguousarray(predictor.learner.weights)
    values = {
        "finished": finished,
        "space": prepared.config.space,
        "learner": prepared.config.learner,
        "decoder": type(predictor.decoder).__name__,
        "target": predictor.target.name,
        "seed": prepared.config.seed,
        "rounds": len(trace),
        "target_loss": totals["target_loss"],
        "expected_loss": totals["expected_loss"],
        "surrogate_loss": totals["surrogate_loss"],
        "mean_p": totals["mean_p"],
        "total_gap": totals["total_gap"],
        "skipped_rows": prepared.skipped(),
        "feature_bound": prepared.feature_bound,
        "loss_scale": predictor.loss.scale,
        "a": predictor.certificate.a,
        "b": predictor.certificate.b,
        "weights_sha256": hashlib.sha256(weights.tobytes()).hexdigest(),
        "seconds": seconds,
    }
    # JSON has no infinity.
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
