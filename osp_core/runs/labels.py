"""Labels as files write them: a class, labels separated by ``;``, a ranking ``a>b>c``, edges ``u-v;v-w``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from osp_core.errors import Array, NotAVertexError
from osp_core.spaces import OutputSpace


def read_label(space: OutputSpace, label: Any) -> Array:
    """Return the output of `space` that a cell of a file names.

    Text is tried as it stands, then split at ``>`` (a sequence), at ``;`` (a set) and, inside a set, at ``-``
    (edges); parts that look like numbers also as numbers. Anything else is a label already.
    """
    if not isinstance(label, str):
        return space.from_label(label)
    failure: NotAVertexError | None = None
    for candidate in _readings(label):
        try:
            return space.from_label(candidate)
        except NotAVertexError as error:
            failure = failure or error
    raise failure if failure is not None else NotAVertexError(f"{label!r} is not an output of {space!r}.")


def split_label(text: str) -> list[str]:
    """The parts of a label: the classes, labels or items a file mentions."""
    separator = ">" if ">" in text else ";"
    return [part.strip() for part in text.split(separator) if part.strip()]


def _readings(text: str) -> Iterator[Any]:
    yield text
    yield _plain(text)
    parts = split_label(text)
    yield parts
    yield [_plain(part) for part in parts]
    edges = [tuple(part.split("-")) for part in parts]
    yield edges
    yield [tuple(map(_plain, edge)) for edge in edges]


def _plain(text: str) -> Any:
    """A number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
