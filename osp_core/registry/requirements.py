"""What a registered name takes and needs: parameters, back ends, packages."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from osp_core.errors import InvalidInputError, MissingDependencyError
from osp_core.hooks import Registration


def check_parameters(kind: str, name: str, factory: Callable[..., Any], params: dict[str, Any]) -> None:
    """Refuse a parameter that the factory does not take; the message names those it does."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # some compiled callables have none
        return
    known = [p.name for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    takes_any = len(known) < len(signature.parameters)
    unknown = [param for param in params if param not in known]
    if unknown and not takes_any:
        raise InvalidInputError(
            f"{kind} {name!r} has no parameter {unknown[0]!r}; it takes {', '.join(known) or 'none'}."
        )


def check_backend(kind: str, registration: Registration, params: dict[str, Any]) -> None:
    """Refuse a back end that does not exist or is not installed."""
    backend = params.get("backend")
    if backend is None or not registration.backends:
        return
    if not isinstance(backend, str) or backend not in registration.backends:
        known = ", ".join(map(repr, registration.backends))
        raise InvalidInputError(
            f"{kind} {registration.name!r} has no back end {backend!r}; there are {known}."
        )
    if missing := missing_packages(registration.backends[backend]):
        raise MissingDependencyError(
            f"{kind} {registration.name!r} with back end {backend!r} {'; '.join(missing)}."
        )


def missing_packages(needs: Mapping[str, str]) -> list[str]:
    """What is not installed of `needs` (import name → what to ask pip for), in words."""
    return [
        f"needs {module}: pip install '{requirement}'"
        for module, requirement in needs.items()
        if not _installed(module)
    ]


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # the parent of a dotted name is missing, or a module has no spec
        return False
