"""The spaces the experiments run on: the five examples of the paper, and matroids."""

from __future__ import annotations

from typing import Any

from osp_core.registry.registry import list_spaces, make_space
from osp_core.spaces import OutputSpace

_COMPLETE_GRAPH = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
_EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "multiclass": ("simplex", {"d": 5}),
    "multilabel": ("hypercube", {"d": 10}),
    "ranking": ("birkhoff", {"n": 4}),
    "ordinal": ("ordinal", {"d": 5}),
    "permutations": ("permutahedron", {"d": 5}),
    "subsets": ("k_subsets", {"d": 8, "k": 3}),
    "spanning trees": ("graphic_matroid", {"edges": _COMPLETE_GRAPH}),
}


def example_spaces() -> dict[str, OutputSpace]:
    """The examples whose plugin is installed."""
    available = {record.name for record in list_spaces() if record.available}
    return {
        title: make_space(name, **params) for title, (name, params) in _EXAMPLES.items() if name in available
    }
