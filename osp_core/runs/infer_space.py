"""The first look at a file: what its labels name, and how large its features are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError, PluginError
from osp_core.models.moments import welford
from osp_core.registry.registry import load_factory
from osp_core.runs.labels import json_list, split_edge, split_label
from osp_core.runs.tables import Row, Table
from osp_core.spaces.size_parameters import LabelKind, LabelParts, SizeParameters, natural_order

MOST_NAMES = 100_000
"""Different names in the labels, at most: more mean that the column is no label."""
MOST_LETTERS = 2**21
"""Characters in them, at most: every checkpoint holds them all."""


def size_parameters(space: str) -> SizeParameters | None:
    """How the labels of a file say the size of a registered space; None where they do not."""
    offered = getattr(load_factory("space", space), "size_parameters", None)
    if not isinstance(offered, SizeParameters | None):
        raise PluginError(f"size_parameters of {space!r} must be SizeParameters or None, got {offered!r}.")
    return offered


def given_names(space: str, names: Iterable[str]) -> dict[str, Any]:
    """The parameter of `space` for names that the user lists."""
    sizes = size_parameters(space)
    if sizes is None or not sizes.names:
        raise InvalidInputError(
            f"classes are for spaces that are made of names; give the parameters of {space!r} by name."
        )
    return {sizes.names: list(names)}


class Names:
    """Collects what the labels of a space are made of; memory grows with the names, not with the rows."""

    def __init__(self, table: Table, kind: LabelKind) -> None:
        self.table, self.kind = table, kind
        self._parts: dict[Any, None] = {}
        self._longest = self._letters = 0

    def __call__(self, row: Row) -> None:
        """Take note of the label of a row."""
        found = _found(self.kind, row.label)
        self._longest = max(self._longest, len(found))
        for part in found:
            if part not in self._parts:
                self._parts[part] = None
                self._letters += len(str(part))
        if len(self._parts) > MOST_NAMES or self._letters > MOST_LETTERS:
            more = f"{MOST_NAMES} different labels"
            if self._letters > MOST_LETTERS:
                more = f"{MOST_LETTERS} characters in the names of {len(self._parts)} labels"
            raise self.table.error(row.line, f"there are more than {more}; is this the right column?")

    def labels(self) -> LabelParts:
        """What was found, in an order that does not depend on that of the rows."""
        key: Callable[[Any], Any] = _natural_edge if self.kind.endswith("edges") else natural_order
        return LabelParts(sorted(self._parts, key=key), self._longest)


class Moments:
    """Mean and standard deviation of every feature, by Welford's updates."""

    def __init__(self) -> None:
        self.count: int = 0
        self._mean: Any = 0.0
        self._squares: Any = 0.0

    def __call__(self, row: Row) -> None:
        """Take note of the features of a row."""
        self.count += 1
        self._mean, self._squares = welford(row.x, self.count, self._mean, self._squares)

    def centre_and_spread(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """What to subtract and what to divide by; a feature that never changes is only shifted."""
        deviation = np.sqrt(self._squares / max(1, self.count))
        moves = deviation > 1e-12 * np.abs(self._mean)
        return tuple(self._mean.tolist()), tuple(np.where(moves, deviation, 1.0).tolist())


def _found(kind: LabelKind, label: Any) -> list[Any]:
    if kind == "name" and isinstance(label, str):
        return [label] if label else []  # never split: a class may well be called ">50K"
    if kind == "edges":
        return _edges(label)
    if kind == "undirected edges":  # may be written from either end
        return [tuple(sorted(edge, key=natural_order)) for edge in _edges(label)]
    return _parts(label)


def _parts(label: Any) -> list[Any]:
    if isinstance(label, str):
        listed = json_list(label)
        return split_label(label) if listed is None else _parts(listed)
    if isinstance(label, bool):
        return [str(label).lower()]
    items = list(label) if isinstance(label, list | tuple | set | frozenset | dict) else [label]
    return [item for item in items if isinstance(item, str | int | float)]


def _edges(label: Any) -> list[tuple[Any, ...]]:
    if isinstance(label, str):
        listed = json_list(label)
        return [split_edge(part) for part in split_label(label)] if listed is None else _edges(listed)
    items = list(label.items()) if isinstance(label, dict) else label if isinstance(label, list) else []
    edges = [tuple(edge) for edge in items if isinstance(edge, list | tuple)]
    # What is no name makes the row a bad one, when its label is read.
    return [edge for edge in edges if all(isinstance(end, str | int | float) for end in edge)]


def _natural_edge(edge: tuple[Any, ...]) -> list[tuple[int, float, str]]:
    return [natural_order(end) for end in edge]
