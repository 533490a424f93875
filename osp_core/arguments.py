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
}

_UNWRAPPED = ("__isabstractmethod__", "checks_its_input")


def checks_its_input(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark an override that refuses bad input itself, faster than the base class would for it."""
    method.checks_its_input = True  # type: ignore[attr-defined]
    return method


def check_arguments(cls: type) -> None:
    """Wrap the methods of `cls` that take vectors or labels, so that bad input does not reach them."""
    wrappers: dict[str, Callable[..., Any]] = {"is_vertex": _judged, "from_label": _unboxed}
    wrappers |= {name: functools.partial(_checked, argument=value) for name, value in _CHECKED.items()}
    for name, wrap in wrappers.items():
        method = cls.__dict__.get(name)
        if callable(method) and not any(getattr(method, mark, False) for mark in _UNWRAPPED):
            setattr(cls, name, wrap(method))


def _checked(method: Callable[..., Any], argument: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def checked(self: Any, vector: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        return method(self, as_vector(vector, self.dim, argument), *args, **kwargs)

    return checked


def _judged(method: Callable[..., bool]) -> Callable[..., bool]:
    """What is no finite vector of length `dim` is no output, whatever it is."""

    @functools.wraps(method)
    def judged(self: Any, y: Any) -> bool:
        if type(y) is not np.ndarray or y.dtype != np.float64:
            try:
                y = as_vector(y, self.dim, "y")
            except InvalidInputError:
                return False
        return method(self, y)

    return judged


def _unboxed(method: Callable[..., Any]) -> Callable[..., Any]:
    """A label in an array without dimensions is that label; one with masked entries is none."""

    @functools.wraps(method)
    def unboxed(self: Any, label: Any) -> Any:
        if isinstance(label, np.ndarray):
            if isinstance(label, np.ma.MaskedArray) and np.ma.is_masked(label):
                raise NotAVertexError(f"An output of {self!r} has no masked entries, got {label!r}.")
            label = label if label.ndim else label.item()
        return method(self, label)

    return unboxed
