"""Predictors to files and back: what is written, and how its parts are made again."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import warnings
import weakref
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core import models
from osp_core.errors import MissingConstantError, OspError, UnsupportedError
from osp_core.hooks import PROJECT
from osp_core.learners.ownership import leave_service, require_free
from osp_core.persistence.archive import CheckpointError, read_checkpoint, write_checkpoint
from osp_core.persistence.directory import first_sound, newest_first
from osp_core.persistence.json_values import (
    NONSENSE,
    decode,
    encode,
    largest_number,
    learner_from_recipe,
    part_from_recipe,
    recipe,
    space_from_recipe,
    space_recipe,
)
from osp_core.registry.registry import plugin_of
from osp_core.spaces import OutputSpace
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.targets import AffineLoss

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor

FORMAT = "osp predictor"
SPARE = 10**6  # sizes up to this are cheap to try, whatever a file says
# What a header with a valid checksum, but nonsense in it, may lead to.
_NONSENSE = (OspError, *NONSENSE)
_MODELS = {"LinearModel": models.LinearModel, "FeatureModel": models.FeatureModel}
USUAL = "usual"
"""Instead of the recipe of a target: it is the one that the space itself names."""


def save_predictor(predictor: OnlinePredictor, path: str | Path, extra: Mapping[str, Any] | None) -> None:
    """Write everything a predictor is made of and has become."""
    state = predictor.state()
    learner = state.pop("learner")
    arrays = {f"learner.{key}": value for key, value in learner.items() if isinstance(value, np.ndarray)}
    arrays |= {f"space.{key}": value for key, value in predictor.space.memory().items()}
    numbers = {key: encode(value) for key, value in learner.items() if not isinstance(value, np.ndarray)}
    recipes = {kind: _recipe(kind, predictor) for kind in ("space", "learner", "target", "decoder")}
    header = {
        "format": FORMAT,
        "versions": _versions(),
        "plugins": _plugins(recipes),
        **recipes,
        "identity": {**_identity(predictor.space), "answers": _answers(predictor.space)},
        "model": type(predictor.model).__name__,
        "n_features": getattr(predictor.model, "n_features", 0),
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
            model=_model(header),
            loss=FenchelYoungLoss(space, header["loss_scale"]),
            target=target if target is not None else _target(space, header),
            decoder=decoder if decoder is not None else _remade_on(space, header, "decoder"),
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
    parts = [largest_number(header[part]) for part in ("space", "learner", "target", "decoder")]
    asked = max(width * dim, width, dim, *parts)
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
        found = space_recipe(given)
        if found != header["space"]:
            raise CheckpointError(f"it was written for {header['space']}, not for {found}")
    identity = dict(header["identity"])
    answers, here = identity.pop("answers"), _identity(space)
    if here != identity:
        raise CheckpointError(f"it was written for {identity}, not for {here}")
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


def _recipe(kind: str, predictor: OnlinePredictor) -> dict[str, Any] | str | None:
    part = getattr(predictor, kind)
    try:
        return recipe(kind, part, predictor.space)
    except UnsupportedError:
        # Whoever loads the file must bring the part, unless the space does.
        return USUAL if kind == "target" and _is_usual(part, predictor.space) else None


def _is_usual(target: AffineLoss, space: OutputSpace) -> bool:
    """Whether the space names this target; some make it anew whenever they are asked."""
    try:
        usual = space.target_loss()
    except MissingConstantError:
        return False
    alike = type(usual) is type(target) is not AffineLoss and usual.name == target.name
    return usual is target or alike


def _remade(header: Mapping[str, Any], part: str, make: Any) -> Any:
    if header[part] is None:
        raise CheckpointError(
            f"it does not say how to make its {part}; give OnlinePredictor.load(path, {part}=…)"
        )
    return make(header[part])


def _model(header: Mapping[str, Any]) -> models.Model:
    if header["model"] not in _MODELS:
        raise CheckpointError(f"its model {header['model']!r} is none of {', '.join(_MODELS)}")
    model: models.Model = _MODELS[header["model"]](header["n_features"])
    return model


def _remade_on(space: OutputSpace, header: Mapping[str, Any], part: str) -> Any:
    return _remade(header, part, functools.partial(part_from_recipe, part, space))


def _target(space: OutputSpace, header: Mapping[str, Any]) -> Any:
    return space.target_loss() if header["target"] == USUAL else _remade_on(space, header, "target")


def _versions() -> dict[str, str]:
    from osp_core import __version__

    return {"online-structured-prediction": __version__, "numpy": np.__version__}


def _plugins(recipes: Mapping[str, Any]) -> dict[str, str]:
    """The plugins that the parts of a predictor come from → their distributions and versions."""
    titles = set()
    for kind, made in recipes.items():
        if isinstance(made, dict):
            with contextlib.suppress(OspError):  # unregistered since
                titles.add(plugin_of(kind, made["name"]))
    return {title: _distributions().get(title, "registered at run time") for title in sorted(titles)}


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
