"""Arguments of a space's methods are checked in one place, before any method sees them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import InvalidInputError, NotAVertexError, as_vector

# Every override of these receives a finite float64 vector of length `dim`: the base class sees to it.
_CHECKED = {
    "lmo": "cost",
    "nearest_vertex": "point",
    "predict": "theta",
    "project": "point",
    "kl_project": "log_weights",
    "binary_kl_project": "log_odds",
    "marginals": "theta",
    "log_partition": "theta",
    "decompose": "point",
    "sample_vertex": "point",
    "project_direction": "direction",
    "to_label": "vertex",
    "draw": "point",
}

_UNWRAPPED = ("__isabstractmethod__", "checks_its_input")


def checks_its_input(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark an override that refuses bad input itself, faster than the base class would for it."""
    method.checks_its_input = True  # type: ignore[attr-defined]
    return method


def check_arguments(cls: type) -> None:
    """Wrap the methods of `cls` named in _CHECKED: bad input raises an error instead of reaching them."""
    wrappers: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]]
    wrappers = {name: functools.partial(_checked, argument=argument) for name, argument in _CHECKED.items()}
    wrappers |= {"is_vertex": _vectors_only, "from_label": _labels_only}
    for name, wrap in wrappers.items():
        method = cls.__dict__.get(name)
        if callable(method) and not any(getattr(method, mark, False) for mark in _UNWRAPPED):
            setattr(cls, name, wrap(method))


def _checked(method: Callable[..., Any], argument: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def checked(self: Any, vector: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        return method(self, as_vector(vector, self.dim, argument), *args, **kwargs)

    return checked


def _vectors_only(method: Callable[..., Any]) -> Callable[..., Any]:
    """`is_vertex` of what is no vector of numbers is False, and nobody has to look for that again."""

    @functools.wraps(method)
    def checked(self: Any, y: Any) -> Any:
        try:
            vector = as_vector(y, self.dim, "y")
        except InvalidInputError:
            return False
        return method(self, vector)

    return checked


def _labels_only(method: Callable[..., Any]) -> Callable[..., Any]:
    """`from_label` gets labels as Python has them: no arrays without an axis, no masked entries."""

    @functools.wraps(method)
    def checked(self: Any, label: Any) -> Any:
        if isinstance(label, np.ma.MaskedArray) and np.ma.is_masked(label):
            raise NotAVertexError(f"{label!r} is not an output of {self!r}: it has masked entries.")
        single = isinstance(label, np.ndarray) and label.ndim == 0
        return method(self, label.item() if single else label)

    return checked
