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


def eliminate(networks: Array, keep: int) -> tuple[Array, Array]:
    """Return the networks that nodes 0, …, keep − 1 see when the others are eliminated, with their pivots."""
    pivots = np.zeros(len(networks))
    for node in range(networks.shape[1] - 1, keep - 1, -1):
        spokes = networks[:, node, :node]
        pivot = np.logaddexp.reduce(spokes, axis=1) if node else np.full(len(networks), -np.inf)
        pivots += pivot
        # A node without neighbours has nothing to pass on, whatever stands in for its pivot.
        halves = spokes - np.where(np.isfinite(pivot), pivot, 0.0)[:, np.newaxis] / 2
        mesh = halves[:, :, np.newaxis] + halves[:, np.newaxis, :]
        networks = np.logaddexp(networks[:, :node, :node], mesh)
    return networks[:, :keep, :keep].copy(), pivots
