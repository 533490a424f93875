"""Labels as files write them: a class, labels separated by ``;``, a ranking ``a>b>c``, edges ``u-v;v-w``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, NotAVertexError
from osp_core.persistence.atomic import read_json
from osp_core.spaces import OutputSpace


def read_label(space: OutputSpace, label: Any) -> Array:
    """Return the output of `space` that a cell of a file names.

    Text is tried as it stands, then split at ``>`` (a sequence), at ``;`` (a set) and, inside a set, at ``-``
    (edges; ``--`` where names contain a hyphen); parts that look like numbers also as numbers. Text in
    brackets is JSON. Anything else is a label already, with lists for sets, sequences and edges.
    """
    failure: InvalidInputError | None = None
    for candidate in _readings(label) if isinstance(label, str) else _lists(label):
        try:
            return space.from_label(candidate)
        except (NotAVertexError, InvalidInputError) as error:
            failure = failure or error
    raise failure if failure is not None else NotAVertexError(f"{label!r} is not an output of {space!r}.")


def write_label(label: Any) -> str:
    """Return a label as text that `read_label` reads: as JSON where a name has a separator in it."""
    if isinstance(label, Mapping | set | frozenset | list | tuple):
        items = list(label.items()) if isinstance(label, Mapping) else list(label)
        if not all(map(_is_plain, items)):
            plain = plain_label(items if isinstance(label, Mapping) else label)
            return json.dumps(plain, ensure_ascii=False, default=text_of)
        parts = map(_edge, items)
        if isinstance(label, list | tuple):
            return ">".join(parts)
        return ";".join(parts if isinstance(label, Mapping) else sorted(parts))
    if isinstance(label, np.ndarray):
        return json.dumps(label.tolist())
    return text_of(label)


def text_of(value: Any) -> str:
    """A value that text files have no way of their own for: bytes, a date."""
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value.isoformat() if isinstance(value, date | time) else str(value)


def plain_label(label: Any) -> Any:
    """Return a label as JSON has it: sets and sequences as lists, a mapping as an object."""
    if isinstance(label, np.ndarray | np.generic):
        return label.tolist()
    if isinstance(label, set | frozenset):
        return sorted((plain_label(item) for item in label), key=str)
    if isinstance(label, Mapping):
        return {str(key): plain_label(item) for key, item in label.items()}
    if isinstance(label, list | tuple):
        return [plain_label(item) for item in label]
    return label


def read_costs(label: Any) -> Any:
    """The cost vector that a cell holds: a list, or numbers separated by ``;``."""
    if not isinstance(label, str):
        return label
    return [_number(part) for part in split_label(label.strip().strip("[]").replace(",", ";"))]


def split_label(text: str) -> list[str]:
    """The parts of a label: the classes, labels or items a file mentions."""
    separator = ">" if ">" in text else ";"
    return [part.strip() for part in text.split(separator) if part.strip()]


def json_list(text: str) -> list[Any] | None:
    """The list that a text in brackets is; None for any other text."""
    if not text.startswith("["):
        return None
    try:
        found = read_json(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def split_edge(part: str) -> tuple[str, ...]:
    """The ends of an edge."""
    return tuple(end.strip() for end in part.split("--" if "--" in part else "-"))


def _readings(text: str) -> Iterator[Any]:
    yield text
    yield _number(text)
    parts = split_label(text)
    numbers = [_number(part) for part in parts]
    yield parts
    yield numbers
    edges: list[tuple[Any, ...]] = [split_edge(part) for part in parts]
    for listed in (edges, [tuple(map(_number, edge)) for edge in edges]):
        yield listed
        if all(len(edge) == 2 for edge in listed):
            yield {edge[0]: edge[1] for edge in listed}
    if (items := json_list(text)) is not None:
        yield from _lists(items)


def _lists(label: Any) -> Iterator[Any]:
    """A label of JSON, and the same with edges as tuples."""
    if isinstance(label, bool):  # as a CSV file would have it
        yield str(label).lower()
    yield label
    if isinstance(label, dict):  # JSON has text for keys only
        yield {_number(key): value for key, value in label.items()}
    if isinstance(label, list) and label and all(isinstance(item, list) for item in label):
        edges = [tuple(item) for item in label]
        yield edges
        if all(len(edge) == 2 and isinstance(edge[0], str | int) for edge in edges):
            yield {edge[0]: edge[1] for edge in edges}


def _edge(element: Any) -> str:
    if not isinstance(element, tuple):
        return str(element)
    ends = [str(end) for end in element]
    return ("--" if any("-" in end for end in ends) else "-").join(ends)


def _is_plain(item: Any) -> bool:
    """Whether a name, or an edge, is read as it was written without further marks."""
    if isinstance(item, tuple):
        # "u-v", or "u--v" where an end has a hyphen: not where one has two, or one beside the others.
        ends = list(map(str, item))
        return all(map(_is_plain, ends)) and not any(
            "--" in end or end[0] == "-" or end[-1] == "-" for end in ends
        )
    name = str(item)
    return bool(name) and name == name.strip() and name[0] != "[" and not set(name) & {";", ">"}


def _number(text: str) -> Any:
    """A number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
