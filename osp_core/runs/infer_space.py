"""The first look at a file: what its labels name, and how large its features are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError
from osp_core.models.moments import welford
from osp_core.runs.labels import json_list, split_edge, split_label
from osp_core.runs.tables import Row, Table

MOST_NAMES = 100_000
"""Different names in the labels, at most: more mean that the column is no label."""
MOST_LETTERS = 2**21
"""Characters in them, at most: every checkpoint holds them all."""

NAMES = {
    "simplex": "classes",
    "hypercube": "labels",
    "ordinal": "categories",
    "k_subsets": "elements",
    "birkhoff": "items",
    "permutahedron": "items",
}
"""The parameter of a space that lists what its labels are made of."""
EDGES = {"matching": "graph", "graphic_matroid": "edges"}
SIZES = {
    **{space: ("d", name) for space, name in NAMES.items()},
    "birkhoff": ("n", "items"),
    "permutahedron": ("d", "items", "weights"),
    "matching": ("graph",),
    "graphic_matroid": ("graph", "edges"),
    "assignment": ("m", "n", "rows", "columns"),
}
"""The parameters any of which says how large the space is."""


def given_names(space: str, names: Iterable[str]) -> dict[str, Any]:
    """The parameter of `space` for names that the user lists."""
    if space not in NAMES:
        raise InvalidInputError(
            f"classes are for {', '.join(NAMES)}; give the parameters of {space!r} by name."
        )
    return {NAMES[space]: list(names)}


def needs_survey(space: str, params: Mapping[str, Any]) -> bool:
    """Whether the size of the space has to be found in the data."""
    sized = space not in SIZES or bool(set(SIZES[space]) & set(params))
    return not sized or (space == "k_subsets" and "k" not in params)


class Names:
    """Collects what the labels of a space are made of; memory grows with the names, not with the rows."""

    def __init__(self, table: Table, space: str) -> None:
        self.table, self.space = table, space
        self._parts: dict[Any, None] = {}
        self._longest = self._letters = 0

    def __call__(self, row: Row) -> None:
        """Take note of the label of a row."""
        found = _found(self.space, row.label)
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

    def params(self) -> dict[str, Any]:
        """The parameters of the space that follow; none where no label names anything."""
        parts, space = self._parts, self.space
        if not parts:
            return {}
        if space in EDGES:
            return {EDGES[space]: [list(edge) for edge in sorted(parts, key=_natural_edge)]}
        if space == "assignment":
            ends = [edge for edge in parts if len(edge) == 2]
            rows, columns = ({edge[side] for edge in ends} for side in (0, 1))
            return {"rows": sorted(rows, key=_natural), "columns": sorted(columns, key=_natural)}
        names = sorted(parts, key=_natural)
        return {NAMES[space]: names, **({"k": self._longest} if space == "k_subsets" else {})}


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


def _found(space: str, label: Any) -> list[Any]:
    if space not in NAMES:
        edges = _edges(label)
        # An undirected edge may be written from either end.
        return [tuple(sorted(edge, key=_natural)) for edge in edges] if space == "graphic_matroid" else edges
    if space in ("simplex", "ordinal") and isinstance(label, str):
        return [label] if label else []  # never split: a class may well be called ">50K"
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


def _natural(part: Any) -> tuple[int, float, str]:
    """Numbers by value and before words."""
    try:
        return (0, float(part), str(part))
    except (TypeError, ValueError):
        return (1, 0.0, str(part))


def _natural_edge(edge: tuple[Any, ...]) -> list[tuple[int, float, str]]:
    return [_natural(end) for end in edge]
