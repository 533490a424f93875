"""Predictors to files and back: what is written, and how its parts are made again."""

from __future__ import annotations

import functools
import hashlib
import warnings
import weakref
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core import models, targets
from osp_core.errors import OspError, UnsupportedError
from osp_core.hooks import PROJECT
from osp_core.learners.ownership import leave_service, require_free
from osp_core.persistence.archive import CheckpointError, read_checkpoint, write_checkpoint
from osp_core.persistence.directory import first_sound, newest_first
from osp_core.persistence.json_values import (
    decode,
    encode,
    largest_number,
    learner_from_recipe,
    learner_recipe,
    space_from_recipe,
    space_recipe,
)
from osp_core.registry.registry import plugin_of
from osp_core.spaces import OutputSpace
from osp_core.surrogates import decoders
from osp_core.surrogates.decoders import UniformExploration
from osp_core.surrogates.fenchel_young import FenchelYoungLoss

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor

FORMAT = "osp predictor"
SPARE = 10**6  # sizes up to this are cheap to try, whatever a file says
# What a header with a valid checksum, but nonsense in it, may lead to.
_NONSENSE = (
    OspError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)
_MODELS = {"LinearModel": models.LinearModel, "FeatureModel": models.FeatureModel}
_DECODERS = {
    kind.__name__: kind
    for kind in (
        decoders.RandomizedDecoder,
        decoders.BlockwiseDecoder,
        decoders.NearestDecoder,
        decoders.SamplingDecoder,
        UniformExploration,
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
    arrays |= {f"space.{key}": value for key, value in predictor.space.memory().items()}
    numbers = {key: encode(value) for key, value in learner.items() if not isinstance(value, np.ndarray)}
    space, chosen = _optional(space_recipe, predictor.space), _optional(learner_recipe, predictor.learner)
    header = {
        "format": FORMAT,
        "versions": _versions(),
        "plugins": _plugins(space, chosen),
        "space": space,
        "identity": {**_identity(predictor.space), "answers": _answers(predictor.space)},
        "model": type(predictor.model).__name__,
        "n_features": getattr(predictor.model, "n_features", 0),
        "learner": chosen,
        "target": predictor.target.name,
        "decoder": type(predictor.decoder).__name__,
        "loss_scale": predictor.loss.scale,
        "feature_bound": predictor.certificate.feature_bound,
        "inexactness": predictor.inexactness,
        "verify": predictor.verify,
        "state": state,
        "learner_state": numbers,
        "extra": dict(extra or {}),
    }
    write_checkpoint(path, header, arrays)


def load_predictor(
    kind: type[OnlinePredictor], path: str | Path, *, fall_back: bool = False, **parts: Any
) -> OnlinePredictor:
    """Make the predictor of a checkpoint again and set its state.

    Parameters
    ----------
    kind : type
        OnlinePredictor, or a subclass.
    path : path
        A checkpoint; or a directory of them, of which the newest counts.
    fall_back : bool
        Where a checkpoint is damaged, take the one before it, and warn.
    **parts
        `space`, `learner`, `target`, `decoder`: instead of what the file says.
    """
    if parts.get("learner") is not None:
        require_free(parts["learner"])
    paths = _candidates(Path(path))
    if not fall_back:
        return _load_file(kind, paths[0], **parts)
    found = first_sound(paths, lambda one: _load_file(kind, one, **parts), _warn)
    if found is None:
        raise CheckpointError(f"There is no sound checkpoint in {str(paths[0].parent)!r}.")
    return found


def _load_file(
    kind: type[OnlinePredictor],
    path: Path,
    *,
    space: OutputSpace | None = None,
    learner: Any = None,
    target: Any = None,
    decoder: Any = None,
) -> OnlinePredictor:
    header, arrays = read_checkpoint(path)
    try:
        if header.get("format") != FORMAT:
            raise CheckpointError(f"it holds {header.get('format')!r}, not a predictor")
        _refuse_giants(header, sum(array.size for array in arrays.values()))
        space = _same_space(header, space)
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
        _set_state(predictor, header, arrays)
    except CheckpointError as error:
        raise CheckpointError(f"{str(path)!r} cannot be used: {error}") from error
    except _NONSENSE as error:
        raise CheckpointError(
            f"{str(path)!r} cannot be used: {type(error).__name__}: {error}{_other_versions(header)}"
        ) from error
    return predictor


def _set_state(predictor: OnlinePredictor, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Set the state of a predictor just made; where it makes no sense, its learner is free again."""
    try:
        learner_state = {key: decode(value) for key, value in header["learner_state"].items()}
        learner_state |= _of("learner.", arrays)
        predictor.load_state({**header["state"], "learner": learner_state})
        predictor.space.recall(_of("space.", arrays))
    except BaseException:
        leave_service(predictor.learner)
        raise


def _refuse_giants(header: Mapping[str, Any], stored: int) -> None:
    """Refuse sizes that the file cannot be about: it holds at least one number for every weight."""
    width, dim = header["n_features"], header["identity"]["dim"]
    asked = max(width * dim, width, dim, largest_number(header["space"]), largest_number(header["learner"]))
    if asked > stored + SPARE:
        raise CheckpointError(f"it speaks of sizes up to {asked}, but stores {stored} numbers")


def _of(part: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of a part, without the prefix of its name."""
    return {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}


def _candidates(path: Path) -> list[Path]:
    """The file to load, and those that may take its place, newest first."""
    if path.is_dir():
        if not (found := newest_first(path)):
            raise CheckpointError(f"There is no checkpoint in {str(path)!r}.")
        return found
    older = [other for other in newest_first(path.parent) if other.name < path.name]
    return [path, *older] if path.name.startswith("round-") else [path]


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=5)


def _same_space(header: Mapping[str, Any], given: OutputSpace | None) -> OutputSpace:
    """The space of a file: made again, or the one that was given, if it is the same."""
    space = given if given is not None else _remade(header, "space", space_from_recipe)
    if given is not None and header["space"] is not None and given.made_with is not None:
        recipe = space_recipe(given)
        if recipe != header["space"]:
            raise CheckpointError(f"it was written for {header['space']}, not for {recipe}")
    identity = dict(header["identity"])
    answers, found = identity.pop("answers"), _identity(space)
    if found != identity:
        raise CheckpointError(f"it was written for {identity}, not for {found}")
    if _answers(space) != answers:
        raise CheckpointError("it was written for a space whose oracle gives other answers")
    return space


def _identity(space: OutputSpace) -> dict[str, Any]:
    """What must agree between the space of the file and the one it is continued on."""
    return {
        "space": type(space).__name__,
        "dim": space.dim,
        "norm": encode(space.norm),
        "psi": repr(space.psi),
    }


def _answers(space: OutputSpace) -> str:
    """A hash of what the oracle says to a few fixed costs: spaces of equal size differ in it."""
    if space not in _ANSWERS:
        costs = np.random.default_rng(0).standard_normal((3, space.dim))
        found = np.array([space.lmo(cost) for cost in costs])
        # Rounded, because solvers may differ in the last digit; + 0.0 because −0.0 has other bytes.
        _ANSWERS[space] = hashlib.sha256((np.round(found, 6) + 0.0).tobytes()).hexdigest()
    return _ANSWERS[space]


_ANSWERS: weakref.WeakKeyDictionary[OutputSpace, str] = weakref.WeakKeyDictionary()


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


def _plugins(space: Mapping[str, Any] | None, learner: Mapping[str, Any] | None) -> dict[str, str]:
    """The plugins that the space and the learner come from → their distributions and versions."""
    named = [(kind, recipe["name"]) for kind, recipe in (("space", space), ("learner", learner)) if recipe]
    titles = sorted({plugin_of(kind, name) for kind, name in named})
    return {title: _distributions().get(title, "registered at run time") for title in titles}


@functools.cache
def _distributions() -> dict[str, str]:
    points = [point for point in metadata.entry_points(group=PROJECT) if point.dist is not None]
    return {point.name: f"{point.dist.name} {point.dist.version}" for point in points if point.dist}


def _other_versions(header: Mapping[str, Any]) -> str:
    """A hint where a file that cannot be used comes from other versions than these."""
    written, here = header.get("versions"), _versions()
    plugins = header.get("plugins") or {}
    if written == here and all(_distributions().get(title) == of for title, of in plugins.items()):
        return ""
    return f" It was written by {written} with the plugins {plugins}; here is {here}."
