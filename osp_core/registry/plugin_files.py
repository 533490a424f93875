"""Plugins that are single files: every ``*.py`` of a directory that somebody named.

Python files are code: nothing is loaded from a directory unless it was given by ``osp --plugins DIR``, by the
environment variable ``OSP_PLUGINS`` or by `load_plugins`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from osp_core.errors import InvalidInputError

VARIABLE = "OSP_PLUGINS"


def named_directories() -> list[str]:
    """The directories of the environment variable, separated like those of PATH."""
    return [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]


def plugin_files(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """The plugin files of a directory, in alphabetical order; those that begin with ``_`` are helpers."""
    folder = Path(directory)
    if not folder.is_dir():
        raise InvalidInputError(f"There is no directory {str(folder)!r} to load plugins from.")
    yield from (path.resolve() for path in sorted(folder.glob("*.py")) if not path.name.startswith("_"))


def import_file(path: Path) -> ModuleType:
    """Import one file under a name of its own, so that it can shadow no installed module."""
    name = f"osp_plugin_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and "module:object" factories look themselves up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
