"""Predictors to files and back: what is written, and how its parts are made again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core import decoding, models, targets
from osp_core.checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from osp_core.errors import OspError, UnsupportedError
from osp_core.losses import FenchelYoungLoss
from osp_core.recipes import (
    decode,
    encode,
    learner_from_recipe,
    learner_recipe,
    space_from_recipe,
    space_recipe,
)
from osp_core.spaces import OutputSpace

if TYPE_CHECKING:
    from osp_core.protocol import OnlinePredictor

_MODELS = {"LinearModel": models.LinearModel, "FeatureModel": models.FeatureModel}
_DECODERS = {
    kind.__name__: kind
    for kind in (
        decoding.RandomizedDecoder,
        decoding.BlockwiseDecoder,
        decoding.NearestDecoder,
        decoding.SamplingDecoder,
    )
}
_TARGETS = {
    target.name: target
    for target in (
        targets.zero_one,
        targets.hamming,
        targets.absolute,
        targets.mismatch,
        targets.alignment,
        targets.ndcg,
    )
}


def save_predictor(predictor: OnlinePredictor, path: str | Path, extra: Mapping[str, Any] | None) -> None:
    """Write everything a predictor is made of and has become."""
    state = predictor.state()
    learner = state.pop("learner")
    arrays = {f"learner.{key}": value for key, value in learner.items() if isinstance(value, np.ndarray)}
    numbers = {key: encode(value) for key, value in learner.items() if not isinstance(value, np.ndarray)}
    header = {
        "format": "osp predictor",
        "versions": _versions(),
        "space": _optional(space_recipe, predictor.space),
        "identity": _identity(predictor.space),
        "model": type(predictor.model).__name__,
        "n_features": getattr(predictor.model, "n_features", 0),
        "learner": _optional(learner_recipe, predictor.learner),
        "target": predictor.target.name,
        "decoder": type(predictor.decoder).__name__,
        "loss_scale": predictor.loss.scale,
        "feature_bound": predictor.gap.feature_bound,
        "inexactness": predictor.inexactness,
        "verify": predictor.verify,
        "state": state,
        "learner_state": numbers,
        "extra": dict(extra or {}),
    }
    write_checkpoint(path, header, arrays)


def load_predictor(
    kind: type[OnlinePredictor],
    path: str | Path,
    *,
    space: OutputSpace | None = None,
    learner: Any = None,
    target: Any = None,
    decoder: Any = None,
) -> OnlinePredictor:
    """Make the predictor of a checkpoint again and set its state."""
    header, arrays = read_checkpoint(path)
    try:
        if header.get("format") != "osp predictor":
            raise CheckpointError(f"it holds {header.get('format')!r}, not a predictor")
        space = space if space is not None else _remade(header, "space", space_from_recipe)
        if _identity(space) != header["identity"]:
            raise CheckpointError(f"it was written for {header['identity']}, not for {_identity(space)}")
        predictor = kind(
            space,
            header["n_features"],
            learner=learner if learner is not None else _remade(header, "learner", learner_from_recipe),
            model=_named(_MODELS, header["model"], "model")(header["n_features"]),
            loss=FenchelYoungLoss(space, header["loss_scale"]),
            target=target if target is not None else _target(space, header["target"]),
            decoder=decoder
            if decoder is not None
            else _named(_DECODERS, header["decoder"], "decoder")(space),
            feature_bound=header["feature_bound"],
            inexactness=header["inexactness"],
            verify=header["verify"],
        )
        learner_state = {key: decode(value) for key, value in header["learner_state"].items()}
        learner_state |= {name.removeprefix("learner."): array for name, array in arrays.items()}
        predictor.load_state({**header["state"], "learner": learner_state})
    except CheckpointError as error:
        raise CheckpointError(f"{str(path)!r} cannot be used: {error}") from error
    except (OspError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{str(path)!r} cannot be used: {type(error).__name__}: {error}") from error
    return predictor


def _identity(space: OutputSpace) -> dict[str, Any]:
    """What must agree between the space of the file and the one it is continued on."""
    return {
        "space": type(space).__name__,
        "dim": space.dim,
        "norm": encode(space.norm),
        "psi": repr(space.psi),
    }


def _optional(recipe: Any, part: Any) -> dict[str, Any] | None:
    try:
        made: dict[str, Any] = recipe(part)
    except UnsupportedError:
        return None  # whoever loads the file must bring the part
    return made


def _remade(header: Mapping[str, Any], part: str, make: Any) -> Any:
    if header[part] is None:
        raise CheckpointError(
            f"it does not say how to make its {part}; give OnlinePredictor.load(path, {part}=…)"
        )
    return make(header[part])


def _target(space: OutputSpace, name: str) -> Any:
    if name in _TARGETS:
        return _TARGETS[name]
    usual = space.target_loss()
    if usual.name != name:
        raise CheckpointError(
            f"its target {name!r} is not one of ours; give OnlinePredictor.load(path, target=…)"
        )
    return usual


def _named(known: Mapping[str, Any], name: str, part: str) -> Any:
    if name not in known:
        raise CheckpointError(
            f"its {part} {name!r} is not one of ours; give OnlinePredictor.load(path, {part}=…)"
        )
    return known[name]


def _versions() -> dict[str, str]:
    from osp_core import __version__

    return {"online-structured-prediction": __version__, "numpy": np.__version__}
