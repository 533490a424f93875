"""Instances of what is registered: every space × back end × example, and every learner."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from osp_core.errors import InvalidInputError
from osp_core.learners import OnlineLearner
from osp_core.registry.registry import list_learners, list_spaces, load_factory
from osp_core.spaces import OutputSpace

# For learners that need a domain and have no examples() of their own.
USUAL_ARGUMENTS = {"diameter": 4.0, "radius": 2.0}


@dataclass(frozen=True, eq=False)
class SpaceExample:
    """One of the instances that a registered space offers for conformance tests."""

    name: str
    backend: str | None
    number: int
    make: Callable[[], OutputSpace]

    def __str__(self) -> str:
        backend = f"[{self.backend}]" if self.backend else ""
        return f"{self.name}{backend}-{self.number}"


def space_examples(name: str) -> list[SpaceExample]:
    """The examples of a registered space, once for every back end that is installed.

    The factory (a class, or a function with such an attribute) has `examples()`. Where back ends are
    registered it takes ``backend=…``, or is a classmethod of a class that does.
    """
    record = next((record for record in list_spaces() if record.name == name), None)
    factory = load_factory("space", name)
    if record is None or getattr(factory, "examples", None) is None:
        raise InvalidInputError(f"The space {name!r} has no examples(), so nothing of it can be checked.")
    if not record.backends:
        return _numbered(name, None, factory.examples)
    return [
        example
        for backend in record.backends
        for example in _numbered(name, backend, _examples_with(name, factory, backend))
    ]


def learner_factories(name: str) -> list[Callable[[], OnlineLearner]]:
    """Factories of a registered learner that take no argument.

    A learner with required parameters offers `examples()`; a `diameter` or `radius` is filled in.
    """
    if all(record.name != name for record in list_learners()):
        raise InvalidInputError(f"There is no learner called {name!r}.")
    factory = load_factory("learner", name)
    examples = getattr(factory, "examples", None)
    if examples is not None:
        return [functools.partial(_nth, examples, i) for i in range(len(examples()))]
    required = [
        parameter.name
        for parameter in inspect.signature(factory).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    if unknown := [parameter for parameter in required if parameter not in USUAL_ARGUMENTS]:
        raise InvalidInputError(
            f"The learner {name!r} cannot be made without {unknown[0]!r}; give it a classmethod examples()."
        )
    return [functools.partial(factory, **{parameter: USUAL_ARGUMENTS[parameter] for parameter in required})]


def _examples_with(name: str, factory: Any, backend: str) -> Callable[[], Any]:
    """The `examples` of a factory, made with one of its back ends."""
    if "backend" in inspect.signature(factory.examples).parameters:
        return functools.partial(factory.examples, backend=backend)
    if not inspect.isclass(factory) or "backend" not in inspect.signature(factory).parameters:
        raise InvalidInputError(
            f"The space {name!r} registers the back end {backend!r}, but neither its examples() nor its "
            "class takes backend=…, so its examples cannot be made with it."
        )
    make = factory.__init__

    def with_backend(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **{"backend": backend, **kwargs})

    bound: Any = type(factory.__name__, (factory,), {"__init__": with_backend})

    def examples() -> list[Any]:
        found = list(bound.examples())
        for example in found:
            if type(example) is bound:
                example.__class__ = factory  # `bound` only filled the back end in; nobody could pickle it
        return found

    return examples


def _numbered(name: str, backend: str | None, examples: Callable[[], Any]) -> list[SpaceExample]:
    count = len(examples())
    if not count:
        raise InvalidInputError(
            f"examples() of the space {name!r} is empty, so nothing of it can be checked."
        )
    return [SpaceExample(name, backend, i, functools.partial(_nth, examples, i)) for i in range(count)]


def _nth(examples: Callable[[], Any], index: int) -> Any:
    return examples()[index]
