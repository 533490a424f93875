"""Files that are there whole, or not at all, in directories that belong to one process at a time."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from osp_core.errors import InvalidInputError, MissingDependencyError

LOCK = ".lock"
"""The file in a directory of results that is there, and locked, while a process works in it."""
_TRIES = 100
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.tmp", re.DOTALL)  # the names that `whole_file` gives


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


def inside(directory: Path, *names: str) -> Path:
    """The path of a result in a directory; none of `names` may be a symbolic link.

    Results stay in the directory that somebody asked for, which may be a link itself: a link found in it may
    lead anywhere, and is refused instead of being followed or replaced.
    """
    path = directory
    for name in names:
        path = path / name
        if path.is_symlink():
            raise InvalidInputError(
                f"{path} is a symbolic link; results are written to files and directories of their own. "
                "Remove the link, or choose another directory."
            )
    return path


def open_inside(directory: Path, name: str, flags: int) -> int:
    """Open a result to change it where it stands; a link that takes its place meanwhile is not followed."""
    path = inside(directory, name)
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), 0o666)


def clear_leftovers(directory: Path) -> None:
    """Remove what killed processes were writing with `whole_file`, in a directory that one has alone."""
    for path in directory.iterdir():
        if _TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            with contextlib.suppress(OSError):  # it is in nobody's way
                path.unlink()


def read_json(text: str | bytes) -> Any:
    """Read JSON, and refuse an object with a key that is there twice: readers differ on which one counts."""
    return json.loads(text, object_pairs_hook=_without_twins)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise InvalidInputError(f"the key {twice!r} is there twice")
    return found


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


@contextlib.contextmanager
def sole_use(directory: Path) -> Iterator[None]:
    """Have a directory of results for oneself, or raise an error that says who has it."""
    release = lock(directory)
    if release is None:
        raise InvalidInputError(f"{directory} is in use by another run; wait for it, or stop it.")
    try:
        yield
    finally:
        release()


def lock(directory: Path) -> Callable[[], None] | None:
    """Lock a directory and return what opens it again; None when another process has it.

    The system opens the lock when the process ends, however it does.
    """
    try:
        import fcntl
    except ImportError:  # on Windows
        return _lock_with_package(inside(directory, LOCK))
    path = directory / LOCK
    for _ in range(_TRIES):
        try:
            file = open_inside(directory, LOCK, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise InvalidInputError(f"{path} cannot be written: {error.strerror}.") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        except OSError:
            pass  # some network file systems have no locks
        if _is_open_as(file, path):
            return functools.partial(_unlock, file, path)
        os.close(file)  # the one before has removed it: whoever comes next would make and lock another
    raise InvalidInputError(f"{path} is removed whenever it is made; look at what else uses {directory}.")


def _unlock(file: int, path: Path) -> None:
    path.unlink(missing_ok=True)  # while it is locked: afterwards it may be somebody else's
    os.close(file)


def _is_open_as(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False


def _lock_with_package(path: Path) -> Callable[[], None] | None:
    try:
        import filelock
    except ImportError:
        raise MissingDependencyError(
            "This system has no fcntl, so directories of results are locked with filelock: pip install "
            "filelock, which also comes with 'online-structured-prediction[all]'."
        ) from None
    held = filelock.FileLock(path)
    try:
        held.acquire(timeout=0)
    except filelock.Timeout:
        return None
    release: Callable[[], None] = held.release
    return release
