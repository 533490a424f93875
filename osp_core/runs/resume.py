"""Where a run begins: at its newest sound checkpoint, or at the first round."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from osp_core.errors import InvalidInputError
from osp_core.online.predictor import OnlinePredictor
from osp_core.persistence.archive import read_checkpoint
from osp_core.persistence.atomic import inside
from osp_core.persistence.directory import Checkpoints, first_sound
from osp_core.registry.registry import make_learner
from osp_core.runs.config import RunConfig
from osp_core.runs.learned import Learned
from osp_core.runs.prepare import Prepared
from osp_core.runs.trace_file import TraceFile

CONFIG = "run.toml"
# What may differ when a run is continued: where the data are and what else they hold, how far to go, what
# happens to bad rows. The features themselves are in `columns`.
_FREE = (
    "data",
    "features",
    "drop",
    "rounds",
    "on_error",
    "checkpoint_every",
    "checkpoint_seconds",
    "keep",
    "seeds",
)


@dataclass(frozen=True, eq=False)
class Beginning:
    """A predictor, how many rounds it has played, the rounds to come, and what is known of those before."""

    predictor: OnlinePredictor
    done: int
    rounds: Iterator[tuple[Any, Any]]
    learned: Learned | None


def continued(config: RunConfig, directory: Path) -> RunConfig:
    """The configuration with what the earlier part of the run found in its data.

    Otherwise rows that were appended since could change the classes, or the scale of the features, and
    columns in another order would be taken for each other.
    """
    if not (directory / CONFIG).exists():
        return config
    earlier = RunConfig.from_toml(directory / CONFIG)
    if config.stream is not None or config.space != earlier.space:
        return config
    found: dict[str, Any] = {}
    if not config.classes:
        found["params"] = {**earlier.params, **config.params}
    if config.feature_bound is None:
        found["feature_bound"] = earlier.feature_bound
    if config.scale == earlier.scale and not config.centre:
        found |= {"centre": earlier.centre, "spread": earlier.spread}
    if not config.columns:
        found["columns"] = earlier.columns
    if not config.features and not config.drop:
        found |= {"features": earlier.features, "drop": earlier.drop}
    return replace(config, **found)


def begin(prepared: Prepared, checkpoints: Checkpoints, warn: Callable[[str], None]) -> Beginning:
    """Begin at the newest sound checkpoint, after making sure that the rows before it are the same."""
    config = prepared.config
    parts = {"space": prepared.space, "target": prepared.target, "decoder": prepared.decoder}

    def load(path: Path) -> tuple[OnlinePredictor, int, str]:
        extra = read_checkpoint(path)[0]["extra"]
        if extra.get("run") != _fingerprint(config):
            raise InvalidInputError(
                f"{path} belongs to a run with other settings; choose another directory for this one."
            )
        if prepared.table is not None and not isinstance(extra.get("learned"), str):
            raise InvalidInputError(
                f"{path} does not say which rows it was learned from; start the run again in another "
                "directory."
            )
        return OnlinePredictor.load(path, **parts), int(extra["rounds"]), extra.get("learned", "")

    found = first_sound(checkpoints.paths(), load, warn)
    predictor, done, digest = found if found is not None else (_new(prepared), 0, "")
    rounds, learned = prepared.against(predictor), None
    if prepared.table is not None:
        learned = Learned()
        learned.skip(rounds, done, digest, prepared.table)
    else:
        rounds = itertools.islice(rounds, done, None)
    return Beginning(predictor, done, rounds, learned)


def save(beginning: Beginning, trace: TraceFile, checkpoints: Checkpoints, prepared: Prepared) -> None:
    """Write a checkpoint after the trace it belongs to is on disk, with what it takes to use it alone."""
    config = prepared.config
    trace.flush()
    inside(checkpoints.directory.parent, checkpoints.directory.name)  # still no link
    extra = {
        "run": _fingerprint(config),
        "columns": prepared.columns,
        "intercept": config.intercept,
        "centre": list(config.centre),
        "spread": list(config.spread),
        "label": config.label,
    }
    if beginning.learned is not None:
        extra["learned"] = beginning.learned.digest
    checkpoints.save(beginning.predictor, trace.rounds, extra=extra)


def _new(prepared: Prepared) -> OnlinePredictor:
    config = prepared.config
    return OnlinePredictor(
        prepared.space,
        prepared.n_features,
        learner=make_learner(config.learner, **config.learner_params),
        target=prepared.target,
        decoder=prepared.decoder,
        feature_bound=prepared.feature_bound,
        seed=config.seed,
    )


def _fingerprint(config: RunConfig) -> str:
    """What must be the same to continue."""
    relevant: dict[str, Any] = {
        entry.name: getattr(config, entry.name) for entry in fields(config) if entry.name not in _FREE
    }
    return hashlib.sha256(json.dumps(relevant, sort_keys=True, default=dict).encode()).hexdigest()
