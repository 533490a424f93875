"""Bipartite graphs from what people have at hand, and why one may have no perfect matching."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class BipartiteGraph:
    """Edges as pairs of a row (left node) and a column (right node)."""

    left: list[Hashable]
    right: list[Hashable]
    edges: list[tuple[int, int]]

    @property
    def biadjacency(self) -> NDArray[np.bool_]:
        """Whether row i and column j are joined."""
        matrix = np.zeros((len(self.left), len(self.right)), dtype=bool)
        matrix[tuple(np.array(self.edges).T)] = True
        return matrix


def as_bipartite(graph: Any) -> BipartiteGraph:
    """Read a networkx graph, a Boolean matrix or a list of (left, right) pairs."""
    # An array of two columns of numbers is a list of pairs.
    is_matrix = hasattr(graph, "toarray") or (
        isinstance(graph, np.ndarray) and (graph.dtype == bool or graph.ndim != 2 or graph.shape[1] != 2)
    )
    if hasattr(graph, "is_multigraph"):
        pairs = _networkx_pairs(graph)
    elif is_matrix:
        pairs = _matrix_pairs(graph.toarray() if hasattr(graph, "toarray") else graph)
    else:
        pairs = _listed_pairs(graph)
    if not pairs:
        raise InvalidInputError("matching needs a graph with at least one edge.")
    left = {node: i for i, node in enumerate(dict.fromkeys(u for u, _ in pairs))}
    right = {node: j for j, node in enumerate(dict.fromkeys(v for _, v in pairs))}
    if is_matrix:
        right = {column: column for column in range(len(right))}  # not in order of appearance
    edges = [(left[u], right[v]) for u, v in pairs]
    if len(set(edges)) < len(edges):
        twice = next(pair for pair in pairs if pairs.count(pair) > 1)
        raise InvalidInputError(
            f"The edge {twice!r} is given twice; a matching cannot tell parallel edges apart."
        )
    return BipartiteGraph(list(left), list(right), edges)


def find_matching(graph: BipartiteGraph) -> NDArray[np.intp]:
    """Return the column of every row in some perfect matching, or raise an error that names the obstacle."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    joined = graph.biadjacency
    chosen = np.asarray(maximum_bipartite_matching(csr_array(joined), perm_type="column"), dtype=np.intp)
    if (chosen >= 0).all() and len(graph.left) == len(graph.right):
        return chosen
    if (chosen >= 0).all():
        raise InvalidInputError(
            f"The graph has no perfect matching: {len(graph.left)} left and {len(graph.right)} right nodes. "
            "Use assignment(m, n) when only one side has to be matched."
        )
    crowd, seats = _hall_violator(joined, chosen)
    raise InvalidInputError(
        f"The graph has no perfect matching: the {len(crowd)} left nodes {_shown(graph.left, crowd)} have "
        f"only {len(seats)} neighbours, {_shown(graph.right, seats)}."
    )


def live_edges(joined: NDArray[np.bool_], chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which edges are in some perfect matching, given one of them.

    Row i may take the column of row k if the rows can pass columns on around a cycle: both are in one
    strongly connected component (the finest Dulmage–Mendelsohn decomposition).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(csr_array(joined[:, chosen]), directed=True, connection="strong")
    of_column = np.empty(len(chosen), dtype=component.dtype)
    of_column[chosen] = component
    return np.asarray(joined & (component[:, np.newaxis] == of_column))


def _hall_violator(joined: NDArray[np.bool_], chosen: NDArray[np.intp]) -> tuple[list[int], list[int]]:
    """Rows reachable from an unmatched one by alternating paths: more than the columns they share."""
    row_of = {int(column): row for row, column in enumerate(chosen) if column >= 0}
    crowd = [int(np.flatnonzero(chosen < 0)[0])]
    seats: list[int] = []
    for row in crowd:  # grows while it is walked through
        for column in np.flatnonzero(joined[row]).tolist():
            if column not in seats:
                seats.append(column)
                crowd.append(row_of[column])
    return sorted(crowd), sorted(seats)


def _networkx_pairs(graph: Any) -> list[tuple[Hashable, Hashable]]:
    sides = {node: data.get("bipartite") for node, data in graph.nodes(data=True)}
    if not all(side in (0, 1) for side in sides.values()):
        sides = _two_colouring(graph)
    for u, v in graph.edges():
        if sides[u] == sides[v]:
            raise InvalidInputError(
                f"The graph is not bipartite: the edge {(u, v)!r} joins nodes of one side."
            )
    lonely = [node for node in graph.nodes if graph.degree(node) == 0]
    if lonely:
        raise InvalidInputError(
            f"The graph has no perfect matching: the node {lonely[0]!r} has no neighbour."
        )
    return [(u, v) if sides[u] == 0 else (v, u) for u, v in graph.edges()]


def _two_colouring(graph: Any) -> dict[Hashable, int]:
    """Two sides of a graph; the first node of every component is on the left."""
    sides: dict[Hashable, int] = {}
    for first in graph.nodes:
        if first in sides:
            continue
        sides[first] = 0
        queue = [first]
        for node in queue:  # grows while it is walked through
            for other in graph.adj[node]:
                if other not in sides:
                    sides[other] = 1 - sides[node]
                    queue.append(other)
    return sides


def _matrix_pairs(matrix: Any) -> list[tuple[Hashable, Hashable]]:
    array = np.asarray(matrix)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise InvalidInputError(
            f"matching needs a matrix of zeros and ones with a row per left node, got an array "
            f"of shape {array.shape}."
        )
    for axis, side in ((1, "row"), (0, "column")):
        empty = np.flatnonzero(~array.any(axis=axis))
        if empty.size:
            raise InvalidInputError(f"The graph has no perfect matching: {side} {empty[0]} has no edge.")
    return [(int(i), int(j)) for i, j in np.argwhere(array)]


def _listed_pairs(graph: Iterable[Any]) -> list[tuple[Hashable, Hashable]]:
    try:
        pairs = [(u, v) for u, v in graph]
        hash(tuple(pairs))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "matching needs a networkx graph, a Boolean matrix (a numpy array) or a list of (left, right) "
            f"pairs, got {graph!r}."
        ) from error
    return [tuple(x.item() if isinstance(x, np.generic) else x for x in pair) for pair in pairs]  # type: ignore[misc]


def _shown(names: list[Hashable], which: list[int], most: int = 6) -> str:
    shown = ", ".join(repr(names[i]) for i in which[:most])
    return f"{{{shown}{', …' if len(which) > most else ''}}}"
