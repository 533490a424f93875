"""Compiled kernels and their numpy twins: which of the two serves, and how to choose.

A package keeps its kernels in two modules with the same function names: ``kernels_numba`` (imports
numba at the top, loops, ``@njit(cache=True)``) and ``kernels_numpy`` (plain numpy). `load` imports one
of them at first use, so that neither numba nor its compile time is paid for by ``import osp_core``.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType

from osp_core.errors import InvalidInputError, MissingDependencyError

CHOICES = ("auto", "numba", "numpy")
_override: str | None = None


def load(package: str) -> ModuleType:
    """Return the kernels of `package`: ``package.kernels_numba`` or ``package.kernels_numpy``.

    Looked up once: a later change of OSP_KERNELS reaches only packages that were not asked for before.
    """
    return _load(package, _override)


def selected() -> str:
    """Return "numba" or "numpy": the environment variable OSP_KERNELS, or what is installed."""
    choice = _override or os.environ.get("OSP_KERNELS", "auto")
    if choice not in CHOICES:
        raise InvalidInputError(f"OSP_KERNELS must be one of {', '.join(CHOICES)}, got {choice!r}.")
    if choice == "numba" and not _numba_installed():
        raise MissingDependencyError(
            "The compiled kernels need numba: pip install 'online-structured-prediction[fast]'."
        )
    if choice == "auto":
        return "numba" if _numba_installed() else "numpy"
    return choice


@contextmanager
def use(choice: str) -> Iterator[None]:
    """Force one kind of kernels inside a ``with`` block: how tests compare the twins."""
    global _override
    before, _override = _override, choice
    try:
        selected()
        yield
    finally:
        _override = before


@cache
def _numba_installed() -> bool:
    return importlib.util.find_spec("numba") is not None


@cache
def _load(package: str, override: str | None) -> ModuleType:
    return importlib.import_module(f"{package}.kernels_{selected()}")
