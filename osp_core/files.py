"""Files that are there whole, or not at all, and belong to one process at a time."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from osp_core.errors import InvalidInputError


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that replaces `path` when all of it is on disk; after an error `path` is as it was.

    Parameters
    ----------
    path : path
    mode : {"w", "wb"}
        Text in UTF-8 with line ends as they are written, or bytes.
    """
    target = Path(path)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    temporary = None
    try:
        # Not mkstemp: that makes files for the owner's eyes only, whatever the umask says.
        name = target.parent / f".{target.name}.{secrets.token_hex(4)}.tmp"
        handle, temporary = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), name
        with os.fdopen(handle, mode, **text) as file:  # type: ignore[call-overload]
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InvalidInputError(f"{target} cannot be written: {error.strerror or error}.") from error
        if isinstance(error, UnicodeEncodeError) or "\0" in target.name:  # text, or a name, that is no text
            raise InvalidInputError(f"{str(target)!r} cannot be written: {error}.") from error
        raise
    sync_directory(target.parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Replace a text file whole."""
    with whole_file(path) as file:
        file.write(text)


def make_directory(directory: Path) -> None:
    """Make a directory and those above it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"{directory} cannot be made: {error.strerror}.") from error


def sync_directory(directory: Path) -> None:
    """Make what was created or renamed in a directory durable, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock(file: int) -> bool:
    """Lock an open file until it is closed; False when another process has it.

    The system opens the lock when the process ends, however it does.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems have no locks
        return True
    return True
