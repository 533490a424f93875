"""The numpy twins of the compiled spanning-tree kernels; `kernels_numba` says what they take and return."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array
from osp_matroids.components import UnionFind

Indices = NDArray[np.intp]


def prim(cost: Array, table: NDArray[np.int32]) -> Array:
    """Return the cheapest spanning forest of a simple graph as a 0/1 vector; empty if a cost is infinite."""
    if not np.isfinite(cost).all():
        return np.empty(0)
    n, m = len(table), cost.size
    vertex = np.zeros(m)
    # One more entry, at index m and of infinite cost, stands for edges that do not exist.
    padded, offers = np.append(cost, np.inf), np.where(table < 0, m, table)
    outside, edge = np.ones(n, dtype=bool), np.full(n, m)
    node = n - 1
    for _ in range(n - 1):
        outside[node] = False
        offer = offers[node]
        better = outside & (
            (padded[offer] < padded[edge]) | ((padded[offer] == padded[edge]) & (offer < edge))
        )
        edge[better] = offer[better]
        candidates = np.flatnonzero(outside)
        prices = padded[edge[candidates]]
        cheapest = candidates[prices == prices.min()]
        node = cheapest[np.argmin(edge[cheapest])]
        if edge[node] < m:
            vertex[edge[node]] = 1.0
    return vertex


def prim_many(costs: Array, table: NDArray[np.int32]) -> Array:
    """Return `prim` of every row; the costs must be finite."""
    return np.array([prim(cost, table) for cost in costs]).reshape(costs.shape)


def kruskal(order: Indices, tails: Indices, heads: Indices, nodes: int) -> Indices:
    """Return the edges of `order` that close no cycle with the ones kept before them."""
    forest = UnionFind(nodes)
    kept: list[int] = []
    for edge, tail, head in zip(order.tolist(), tails[order].tolist(), heads[order].tolist(), strict=True):
        if forest.join(tail, head):
            kept.append(edge)
            if len(kept) == nodes - 1:
                break
    return np.array(kept, dtype=np.intp)


def log_tree_sum(network: Array) -> float:
    """Return the log of the sum over all spanning trees of the product of conductances."""
    return float(_eliminated(network[np.newaxis], 1)[1][0])


def effective_conductances(network: Array) -> Array:
    """Return the log of the effective conductance between every two nodes of a network; −inf on the diagonal.

    The same halving as in the compiled kernel, one level after the other: the subproblems of a level have
    equal sizes and are solved together.
    """
    n = len(network)
    effective = np.full((n + 1, n + 1), -np.inf)  # the last row and column collect padding
    # `inner`: pairs within one set of nodes; `across`: pairs between the first and the second half.
    inner, inner_nodes = network[np.newaxis], np.arange(n)[np.newaxis]
    across, across_nodes = np.empty((0, 2 * n, 2 * n)), np.empty((0, 2 * n), dtype=np.intp)
    size = n
    while size > 1:
        if size % 2:
            inner, inner_nodes = _padded(inner, inner_nodes, 1, n)
            across, across_nodes = _padded(across, across_nodes, 2, n)
            size += 1
        size //= 2
        quarters = [np.arange(part * size, (part + 1) * size) for part in range(4)]
        across_parts = [
            _kept(across, across_nodes, np.concatenate([quarters[i], quarters[j]]))
            for i in (0, 1)
            for j in (2, 3)
        ]
        inner_parts = [_kept(inner, inner_nodes, quarters[half]) for half in (0, 1)]
        across = np.concatenate([inner, *(part for part, _ in across_parts)])
        across_nodes = np.concatenate([inner_nodes, *(nodes for _, nodes in across_parts)])
        inner = np.concatenate([part for part, _ in inner_parts])
        inner_nodes = np.concatenate([nodes for _, nodes in inner_parts])
    first, second = across_nodes[:, 0], across_nodes[:, 1]
    effective[first, second] = effective[second, first] = across[:, 0, 1]
    return effective[:n, :n].copy()


def _kept(networks: Array, nodes: Indices, keep: Indices) -> tuple[Array, Indices]:
    """Eliminate all but the positions `keep` from every network."""
    others = np.setdiff1d(np.arange(networks.shape[1]), keep)
    order = np.concatenate([keep, others])
    return _eliminated(networks[:, order[:, np.newaxis], order], len(keep))[0], nodes[:, keep]


def _eliminated(networks: Array, keep: int) -> tuple[Array, Array]:
    """Eliminate all nodes but the first `keep` from every network; return also the sums of the log pivots."""
    pivots = np.zeros(len(networks))
    for node in range(networks.shape[1] - 1, keep - 1, -1):
        spokes = networks[:, node, :node]
        pivot = np.logaddexp.reduce(spokes, axis=1)
        pivots += pivot
        # A node without neighbours has nothing to pass on, whatever stands in for its pivot.
        halves = spokes - np.where(np.isfinite(pivot), pivot, 0.0)[:, np.newaxis] / 2
        mesh = halves[:, :, np.newaxis] + halves[:, np.newaxis, :]
        networks = np.logaddexp(networks[:, :node, :node], mesh)
    return networks[:, :keep, :keep], pivots


def _padded(networks: Array, nodes: Indices, groups: int, padding: int) -> tuple[Array, Indices]:
    """Add a node without neighbours, named `padding`, at the end of every group of nodes."""
    size = networks.shape[1] // groups
    places = size * np.arange(1, groups + 1)
    networks = np.insert(networks, places, -np.inf, axis=1)
    return np.insert(networks, places, -np.inf, axis=2), np.insert(nodes, places, padding, axis=1)
