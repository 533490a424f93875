"""Recipes: how the parts of a predictor were made, as JSON, so that a file can make them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from osp_core import regularizers
from osp_core.errors import InvalidInputError, UnsupportedError
from osp_core.hooks import parameters_of
from osp_core.registry.registry import make_learner, make_on, make_space, registered_name
from osp_core.spaces import OutputSpace

_PSI = {
    kind.__name__: kind
    for kind in (
        regularizers.SquaredNorm,
        regularizers.NegativeEntropy,
        regularizers.BinaryEntropy,
        regularizers.GibbsEntropy,
    )
}


def recipe(kind: str, part: Any, space: OutputSpace | None = None) -> dict[str, Any]:
    """Return the registered name of a part and the parameters it was made with, as JSON values.

    Parameters
    ----------
    kind : str
        "space", "learner", "decoder" or "target".
    part : object
    space : OutputSpace, optional
        The space that whoever makes the part again has, so that it is no part of the recipe.
    """
    name, params = _made_with(kind, part)
    kept = {key: value for key, value in params.items() if not (key == "space" and value is space)}
    return {"name": name, "params": {key: encode(value) for key, value in kept.items()}}


def _made_with(kind: str, part: Any) -> tuple[str, dict[str, Any]]:
    if (finished := registered_name(kind, part)) is not None:
        return finished, {}
    recorded: tuple[str, dict[str, Any]] | None = getattr(part, "made_with", None)
    name = registered_name(kind, type(part))
    # A learner's parameters can be changed after it was made; a space's cannot be read off it.
    readable = kind == "learner" or (kind != "space" and recorded is None)
    if name is not None and readable:
        return name, parameters_of(part)
    if recorded is None:
        raise UnsupportedError(
            f"{part!r} was not made with make_{kind}, so a file cannot say how to make it again."
        )
    return recorded


def space_recipe(space: OutputSpace) -> dict[str, Any]:
    """Return the name and parameters of a space made with `make_space`, as JSON values."""
    return recipe("space", space)


def learner_from_recipe(recipe: Mapping[str, Any]) -> Any:
    """Make the learner of a recipe."""
    name, params = _parts(recipe)
    return make_learner(name, **params)


def space_from_recipe(recipe: Mapping[str, Any]) -> OutputSpace:
    """Make the space of a recipe. Only registered names are made: a file cannot name code to import."""
    name, params = _parts(recipe)
    space: OutputSpace = make_space(name, **params)
    return space


def part_from_recipe(kind: str, space: OutputSpace, recipe: Mapping[str, Any]) -> Any:
    """Make the decoder or the target of a recipe on `space`."""
    name, params = _parts(recipe)
    return make_on(kind, name, space, params)


def _parts(recipe: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    try:
        return str(recipe["name"]), {str(key): decode(value) for key, value in recipe["params"].items()}
    except NONSENSE as error:
        raise InvalidInputError(f"{_abridged(recipe)} is no recipe: {error}") from error


def encode(value: Any) -> Any:
    """Return a parameter as JSON; what plain JSON lacks is tagged by a one-key object."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, regularizers.Regularizer) and type(value).__name__ in _PSI:
        return {"psi": [type(value).__name__, value.scale]}
    if isinstance(value, OutputSpace):
        return {"space": space_recipe(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return {
            "array": [str(value.dtype), [encode(item) for item in value.ravel().tolist()], list(value.shape)]
        }
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, set | frozenset):
        return {"set": [encode(item) for item in sorted(value, key=repr)]}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    raise UnsupportedError(f"A parameter of type {type(value).__name__} cannot be written to a file.")


def decode(value: Any) -> Any:
    """Return the parameter that `encode` made this of."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items() if len(value) == 1 else (("", None),)
    if tag not in _DECODERS:
        raise InvalidInputError(f"{_abridged(value)} is no encoded parameter.")
    return _DECODERS[tag](content)


def largest_number(value: Any) -> float:
    """The largest whole number in an encoded parameter: what sizes it may ask for."""
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return max(map(largest_number, items), default=0.0)
    return value if isinstance(value, int) else 0.0


def _abridged(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _array(content: Any) -> Any:
    dtype, values, shape = content
    if dtype not in _PLAIN:
        raise InvalidInputError(f"An array of {dtype!r} is no parameter.")
    return np.array([decode(item) for item in values], dtype=np.dtype(dtype)).reshape(shape)


def _psi(content: Any) -> regularizers.Regularizer:
    name, scale = content
    return _PSI[name](scale)


_PLAIN = ("bool", *(f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)))
# What an encoded value that is none may lead to.
NONSENSE = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)
_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "psi": _psi,
    "space": space_from_recipe,
    "array": _array,
    "tuple": lambda items: tuple(decode(item) for item in items),
    "set": lambda items: frozenset(decode(item) for item in items),
    "dict": lambda pairs: {decode(key): decode(item) for key, item in pairs},
}
