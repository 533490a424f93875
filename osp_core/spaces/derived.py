"""What a space computes once: constants, blocks and caches, kept for one Ψ and one norm only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from osp_core.regularizers import Regularizer

__all__ = ["Constants", "derived", "forget_cached_properties"]


@dataclass(frozen=True, eq=False)
class Constants:
    """All that was derived from the outputs, the Ψ and the norm of one space.

    A space makes this object when it is first asked for a constant, and cannot change its Ψ or norm any more;
    `with_psi` starts with a new one. So no constant, block or cache ever meets another Ψ than its own.
    """

    psi: Regularizer
    norm: float
    values: dict[Any, Any] = field(default_factory=dict, repr=False)


if TYPE_CHECKING:  # a plain attribute: subclasses may state a number instead
    Value = TypeVar("Value")

    def derived(compute: Callable[[Any], Value]) -> Value: ...
else:

    class derived:
        """A method that is computed once and read like an attribute, as `functools.cached_property` is.

        The value is kept in `space.constants`, so that a twin with another Ψ computes its own. A subclass may
        override it with a number (``nu = 1.0``) or set it on the instance.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute
            functools.update_wrapper(self, compute)

        def __set_name__(self, owner: type, name: str) -> None:
            self.key = owner, name  # not the name alone: super() may ask for another one of the same name

        def __get__(self, space: Any, owner: type | None = None) -> Any:
            if space is None:
                return self
            values = space.constants.values
            if self.key not in values:
                values[self.key] = self.compute(space)
            return values[self.key]


def forget_cached_properties(space: Any) -> None:
    """Drop what `functools.cached_property` left in a copy: nobody knows which Ψ it was computed for."""
    for kind in type(space).__mro__:
        for name, member in vars(kind).items():
            if isinstance(member, functools.cached_property):
                space.__dict__.pop(name, None)
