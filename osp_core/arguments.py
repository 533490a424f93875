"""Arguments of a space's methods are checked in one place, before any method sees them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from osp_core.errors import as_vector

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
}

_UNWRAPPED = ("__isabstractmethod__", "checks_its_input")


def checks_its_input(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark an override that refuses bad input itself, faster than the base class would for it."""
    method.checks_its_input = True  # type: ignore[attr-defined]
    return method


def check_arguments(cls: type) -> None:
    """Wrap the methods of `cls` named in _CHECKED: bad input raises an error instead of reaching them."""
    for name, argument in _CHECKED.items():
        method = cls.__dict__.get(name)
        if callable(method) and not any(getattr(method, mark, False) for mark in _UNWRAPPED):
            setattr(cls, name, _checked(method, argument))


def _checked(method: Callable[..., Any], argument: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def checked(self: Any, vector: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        return method(self, as_vector(vector, self.dim, argument), *args, **kwargs)

    return checked
