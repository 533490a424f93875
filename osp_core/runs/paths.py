"""Paths of data that files name: they do not climb out of the directory of the file."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from osp_core.errors import InvalidInputError


def climbs(path: str) -> bool:
    """Whether a path has ``..`` in it, as any system writes paths."""
    return ".." in (*PurePosixPath(path).parts, *PureWindowsPath(path).parts)


def checked_path(path: Any) -> str:
    """Return the path of data that a file names.

    A file somebody else wrote must not reach into places that its reader does not see, so ``..`` is refused;
    an absolute path says plainly what will be read.
    """
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidInputError(f"data must be the path of a file, got {path!r}.")
    if climbs(path):
        raise InvalidInputError(
            f"data = {path!r} climbs out of the directory of its file with '..'; put the data beside "
            "the file, or write the absolute path."
        )
    return path
