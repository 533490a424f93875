"""Where a run begins: at its newest sound checkpoint, or at the first round."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from osp_core.checkpoint import read_checkpoint
from osp_core.checkpoints import Checkpoints, first_sound
from osp_core.errors import InvalidInputError
from osp_core.protocol import OnlinePredictor
from osp_core.registry import make_learner
from osp_core.runs.config import RunConfig
from osp_core.runs.prepare import Prepared
from osp_core.runs.trace_file import TraceFile

CONFIG = "run.toml"
# What may differ when a run is continued: where the data are, how far to go, what happens to bad rows.
_FREE = ("data", "rounds", "on_error", "checkpoint_every", "checkpoint_seconds", "keep", "seeds")


def continued(config: RunConfig, directory: Path) -> RunConfig:
    """The configuration with what the earlier part of the run found in its data.

    Otherwise rows that were appended since could change the classes, or the scale of the features.
    """
    if not (directory / CONFIG).exists():
        return config
    earlier = RunConfig.from_toml(directory / CONFIG)
    if config.classes or config.stream is not None or config.space != earlier.space:
        return config
    found: dict[str, Any] = {"params": {**earlier.params, **config.params}}
    if config.feature_bound is None:
        found["feature_bound"] = earlier.feature_bound
    if config.scale == earlier.scale and not config.centre:
        found |= {"centre": earlier.centre, "spread": earlier.spread}
    return replace(config, **found)


def begin(
    prepared: Prepared, checkpoints: Checkpoints, warn: Callable[[str], None]
) -> tuple[OnlinePredictor, int]:
    """The predictor of the newest sound checkpoint and its round, or a new one."""
    config = prepared.config
    parts = {"space": prepared.space, "target": prepared.target, "decoder": prepared.decoder}

    def load(path: Path) -> tuple[OnlinePredictor, int]:
        header, _ = read_checkpoint(path)
        if header["extra"].get("run") != _fingerprint(config):
            raise InvalidInputError(
                f"{path} belongs to a run with other settings; choose another directory for this one."
            )
        return OnlinePredictor.load(path, **parts), int(header["extra"]["rounds"])

    found = first_sound(checkpoints.paths(), load, warn)
    if found is not None:
        return found
    predictor = OnlinePredictor(
        prepared.space,
        prepared.n_features,
        learner=make_learner(config.learner, **config.learner_params),
        target=prepared.target,
        decoder=prepared.decoder,
        feature_bound=prepared.feature_bound,
        seed=config.seed,
    )
    return predictor, 0


def save(predictor: OnlinePredictor, trace: TraceFile, checkpoints: Checkpoints, prepared: Prepared) -> None:
    """Write a checkpoint after the trace it belongs to is on disk, with what it takes to use it alone."""
    config = prepared.config
    trace.flush()
    extra = {
        "run": _fingerprint(config),
        "columns": prepared.columns,
        "intercept": config.intercept,
        "centre": list(config.centre),
        "spread": list(config.spread),
        "label": config.label,
        "target": config.target,
        "target_params": dict(config.target_params),
    }
    checkpoints.save(predictor, trace.rounds, extra=extra)


def _fingerprint(config: RunConfig) -> str:
    """What must be the same to continue."""
    relevant: dict[str, Any] = {
        entry.name: getattr(config, entry.name) for entry in fields(config) if entry.name not in _FREE
    }
    return hashlib.sha256(json.dumps(relevant, sort_keys=True, default=dict).encode()).hexdigest()
