"""The first look at a file: which classes, labels, items or edges its labels name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from osp_core.errors import InvalidInputError
from osp_core.runs.labels import split_edge, split_label
from osp_core.runs.tables import Table

MOST_NAMES = 100_000
"""Different names in the labels, at most: more mean that the column is no label."""

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


def survey(table: Table, space: str, *, skip_bad: bool) -> dict[str, Any]:
    """Read the file once for the parameters that `space` lacks; memory grows with the names, not the rows."""
    parts: dict[Any, None] = {}
    longest = 0
    for row in table.rows(skip_bad=skip_bad):
        found = _found(space, row.label)
        longest = max(longest, len(found))
        parts.update(dict.fromkeys(found))
        if len(parts) > MOST_NAMES:
            raise table.error(
                row.line, f"there are more than {MOST_NAMES} different labels; is this the right column?"
            )
    if space in EDGES:
        return {EDGES[space]: [list(edge) for edge in sorted(parts, key=_natural_edge)]} if parts else {}
    if space == "assignment":
        ends = [edge for edge in parts if len(edge) == 2]
        rows, columns = ({edge[side] for edge in ends} for side in (0, 1))
        return {"rows": sorted(rows, key=_natural), "columns": sorted(columns, key=_natural)}
    names = sorted(parts, key=_natural)
    if not names:
        return {}
    return {NAMES[space]: names, **({"k": longest} if space == "k_subsets" else {})}


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
        return split_label(label)
    if isinstance(label, bool):
        return [str(label).lower()]
    items = list(label) if isinstance(label, list | tuple | set | frozenset | dict) else [label]
    return [item for item in items if isinstance(item, str | int | float)]


def _edges(label: Any) -> list[tuple[Any, ...]]:
    if isinstance(label, str):
        return [split_edge(part) for part in split_label(label)]
    if isinstance(label, dict):
        return list(label.items())
    return (
        [tuple(edge) for edge in label if isinstance(edge, list | tuple)] if isinstance(label, list) else []
    )


def _natural(part: Any) -> tuple[int, float, str]:
    """Numbers by value and before words."""
    try:
        return (0, float(part), str(part))
    except (TypeError, ValueError):
        return (1, 0.0, str(part))


def _natural_edge(edge: tuple[Any, ...]) -> list[tuple[int, float, str]]:
    return [_natural(end) for end in edge]
