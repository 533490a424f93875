"""Graphs as people have them: networkx graphs, lists of edges, adjacency matrices."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import InvalidInputError, as_count, is_hashable

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected multigraph: edge i joins nodes[tails[i]] and nodes[heads[i]] and is called names[i].

    A name is (u, v), or (u, v, key) where several edges join u and v.
    """

    nodes: tuple[Hashable, ...]
    tails: Indices
    heads: Indices
    names: tuple[tuple[Hashable, ...], ...]


def read_graph(graph: Any = None, edges: Any = None) -> Graph:
    """Return the graph given in either of the two ways.

    Parameters
    ----------
    graph : networkx graph, square numpy array or int
        An array is an adjacency matrix, a number n the complete graph on 0, …, n − 1.
    edges : iterable of (u, v) or (u, v, key)
    """
    if (graph is None) == (edges is None):
        raise InvalidInputError("graphic_matroid takes either graph or edges.")
    if edges is not None:
        return _from_edges((), _as_edges(edges))
    if isinstance(graph, int | np.integer):
        n = as_count(graph, "The number of nodes of a complete graph", least=2, most=10**4)
        return _from_edges(range(n), [(i, j) for i in range(n) for j in range(i + 1, n)])
    if isinstance(graph, np.ndarray):
        return _from_adjacency(graph)
    networkx = sys.modules.get("networkx")
    if networkx is not None and isinstance(graph, networkx.Graph):
        return _from_networkx(graph)
    if isinstance(graph, Sequence) and not isinstance(graph, str):
        return _from_edges((), _as_edges(graph))
    raise InvalidInputError(
        "graph must be a networkx graph, a square numpy adjacency matrix, a list of edges or a number of "
        f"nodes; got {type(graph).__name__}."
    )


def _as_edges(edges: Any) -> list[tuple[Hashable, ...]]:
    if isinstance(edges, str) or not isinstance(edges, Iterable) or getattr(edges, "ndim", 1) == 0:
        raise InvalidInputError(f"edges must be a list of pairs of nodes, got {edges!r}.")
    listed = [_as_edge(edge) for edge in (edges.tolist() if isinstance(edges, np.ndarray) else edges)]
    if not listed:
        raise InvalidInputError("The graph has no edges; a graphic matroid needs at least one.")
    return listed


def _as_edge(edge: Any) -> tuple[Hashable, ...]:
    if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) not in (2, 3):
        raise InvalidInputError(f"An edge is a pair of nodes (u, v), or (u, v, key); got {edge!r}.")
    named = tuple(edge)
    if not all(is_hashable(part) for part in named):
        raise InvalidInputError(f"The nodes of an edge must be hashable names or numbers; got {edge!r}.")
    return named


def _from_adjacency(matrix: NDArray[Any]) -> Graph:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInputError(f"An adjacency matrix must be square, got an array of shape {matrix.shape}.")
    if not np.array_equal(matrix, matrix.T):
        raise InvalidInputError("An adjacency matrix must be symmetric: edges have no direction.")
    tails, heads = np.nonzero(np.triu(matrix))
    return _from_edges(range(len(matrix)), list(zip(tails.tolist(), heads.tolist(), strict=True)))


def _from_networkx(graph: Any) -> Graph:
    if graph.is_directed():
        raise InvalidInputError("The graph is directed; spanning trees need graph.to_undirected().")
    edges = graph.edges(keys=True) if graph.is_multigraph() else graph.edges()
    return _from_edges(graph.nodes, list(edges))


def _from_edges(nodes: Iterable[Hashable], edges: list[tuple[Hashable, ...]]) -> Graph:
    if not edges:
        raise InvalidInputError("The graph has no edges; a graphic matroid needs at least one.")
    index = {node: i for i, node in enumerate(nodes)}
    for edge in edges:
        for node in edge[:2]:
            index.setdefault(node, len(index))
    tails = np.array([index[edge[0]] for edge in edges], dtype=np.intp)
    heads = np.array([index[edge[1]] for edge in edges], dtype=np.intp)
    return Graph(tuple(index), tails, heads, _names(edges))


def _names(edges: list[tuple[Hashable, ...]]) -> tuple[tuple[Hashable, ...], ...]:
    """(u, v) where it says enough, else (u, v, key); edges without a key get the first free number."""
    copies = Counter(frozenset(edge[:2]) for edge in edges)
    keyed = Counter((frozenset(edge[:2]), edge[2]) for edge in edges if len(edge) == 3)
    twice = next((edge for edge in edges if len(edge) == 3 and keyed[frozenset(edge[:2]), edge[2]] > 1), None)
    if twice is not None:
        raise InvalidInputError(f"The edge {twice!r} is given twice; parallel edges need distinct keys.")
    taken = set(keyed)
    names = []
    for edge in edges:
        ends = frozenset(edge[:2])
        if copies[ends] == 1:
            names.append(edge[:2])
        elif len(edge) == 3:
            names.append(edge)
        else:
            key = next(number for number in range(len(edges)) if (ends, number) not in taken)
            taken.add((ends, key))
            names.append((*edge, key))
    return tuple(names)
