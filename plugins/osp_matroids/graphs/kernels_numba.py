"""Compiled spanning-tree kernels: dense Prim, Kruskal, and effective conductances in the log domain."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from osp_core.errors import Array

Indices = NDArray[np.intp]


@njit(cache=True)
def prim(cost: Array, table: NDArray[np.int32]) -> Array:
    """Return the cheapest spanning forest of a simple graph as a 0/1 vector; empty if a cost is infinite.

    Parameters
    ----------
    cost : float64 array of shape (m,)
    table : int32 array of shape (n, n)
        Index of the edge between two nodes, −1 where there is none.
    """
    n = table.shape[0]
    vertex = np.zeros(cost.size)
    # Nodes not yet reached, the cheapest edge into each and what it costs; all shrink from the end.
    outside, edge, price = np.arange(n), np.full(n, -1), np.full(n, np.inf)
    count, node = n - 1, n - 1
    while count > 0:
        row = table[node]
        chosen, lowest, lowest_edge = -1, np.inf, -1
        for position in range(count):
            offer = row[outside[position]]
            if offer >= 0:
                amount = cost[offer]
                if not np.isfinite(amount):
                    return np.empty(0)
                # Ties go to the lower index, so that every method returns the same forest.
                if amount < price[position] or (amount == price[position] and offer < edge[position]):
                    price[position] = amount
                    edge[position] = offer
            if price[position] < lowest or (price[position] == lowest and edge[position] < lowest_edge):
                chosen, lowest, lowest_edge = position, price[position], edge[position]
        count -= 1
        if chosen < 0:  # nothing leads out of this component: start the next one
            node = outside[count]
            continue
        vertex[lowest_edge] = 1.0
        node = outside[chosen]
        outside[chosen], edge[chosen], price[chosen] = outside[count], edge[count], price[count]
    return vertex


@njit(cache=True)
def prim_many(costs: Array, table: NDArray[np.int32]) -> Array:
    """Return `prim` of every row; the costs must be finite."""
    vertices = np.empty(costs.shape)
    for row in range(len(costs)):
        vertices[row] = prim(costs[row], table)
    return vertices


@njit(cache=True)
def kruskal(order: Indices, tails: Indices, heads: Indices, nodes: int) -> Indices:
    """Return the edges of `order` that close no cycle with the ones kept before them."""
    parent = np.arange(nodes)
    kept = np.empty(min(len(order), nodes), np.intp)
    count = 0
    for edge in order:
        tail, head = tails[edge], heads[edge]
        while parent[tail] != tail:
            parent[tail] = parent[parent[tail]]
            tail = parent[tail]
        while parent[head] != head:
            parent[head] = parent[parent[head]]
            head = parent[head]
        if tail != head:
            parent[tail] = head
            kept[count] = edge
            count += 1
            if count == nodes - 1:
                break
    return kept[:count].copy()


@njit(cache=True)
def log_tree_sum(network: Array) -> float:
    """Return the log of the sum over all spanning trees of the product of conductances.

    Parameters
    ----------
    network : float64 array of shape (n, n)
        Symmetric log conductances, −inf where two nodes are not joined; the diagonal is ignored.
    """
    work = network.copy()
    total = 0.0
    for node in range(len(network) - 1, 0, -1):
        total += _eliminate(work, node)
    return total


@njit(cache=True)
def effective_conductances(network: Array) -> Array:
    """Return the log of the effective conductance between every two nodes of a network; −inf on the diagonal.

    Eliminating all other nodes for every pair would cost n⁵ operations. Halving the node set again and
    again shares the work: what is eliminated for all pairs between two halves is eliminated once. The total
    is proportional to n³. `network` is as for `log_tree_sum`.
    """
    effective = np.full(network.shape, -np.inf)
    _pairs_within(network, np.arange(len(network)), effective)
    return effective


@njit(cache=True)
def _pairs_within(network: Array, nodes: Indices, effective: Array) -> None:
    size = len(nodes)
    if size < 2:
        return
    half = size // 2
    _pairs_across(network, nodes, half, effective)
    first, second = np.arange(half), np.arange(half, size)
    _pairs_within(_reduced(network, first, second), nodes[first], effective)
    _pairs_within(_reduced(network, second, first), nodes[second], effective)


@njit(cache=True)
def _pairs_across(network: Array, nodes: Indices, left: int, effective: Array) -> None:
    """Fill in the pairs between nodes[:left] and nodes[left:]."""
    size = len(nodes)
    if size == 2:
        effective[nodes[0], nodes[1]] = effective[nodes[1], nodes[0]] = network[1, 0]
        return
    every = np.arange(size)
    if 2 * left >= size:  # halve the larger group: keep one half of it, eliminate the other
        half = left // 2
        first, second, rest = every[:half], every[half:left], every[left:]
        keep = np.concatenate((first, rest))
        _pairs_across(_reduced(network, keep, second), nodes[keep], half, effective)
        keep = np.concatenate((second, rest))
        _pairs_across(_reduced(network, keep, first), nodes[keep], left - half, effective)
    else:
        half = (left + size) // 2
        rest, first, second = every[:left], every[left:half], every[half:]
        keep = np.concatenate((rest, first))
        _pairs_across(_reduced(network, keep, second), nodes[keep], left, effective)
        keep = np.concatenate((rest, second))
        _pairs_across(_reduced(network, keep, first), nodes[keep], left, effective)


@njit(cache=True)
def _reduced(network: Array, keep: Indices, others: Indices) -> Array:
    """Return the network that the nodes `keep` see when the others are eliminated."""
    order = np.concatenate((keep, others))
    work = np.empty(network.shape)
    for i in range(len(order)):
        for j in range(i):
            work[i, j] = work[j, i] = network[order[i], order[j]]
    for node in range(len(order) - 1, len(keep) - 1, -1):
        _eliminate(work, node)
    return work[: len(keep), : len(keep)].copy()


@njit(cache=True)
def _eliminate(network: Array, node: int) -> float:
    """Replace the star at the last node by a mesh, conductance cᵢcⱼ/Σc between neighbours; return log Σc."""
    spokes = network[node]
    largest = -np.inf
    for i in range(node):
        largest = max(largest, spokes[i])
    if largest == -np.inf:
        return -np.inf
    total = 0.0
    for i in range(node):
        total += np.exp(spokes[i] - largest)
    pivot = largest + np.log(total)
    for i in range(node):
        if spokes[i] > -np.inf:
            offset = spokes[i] - pivot
            for j in range(i):
                network[i, j] = network[j, i] = _log_add(network[i, j], offset + spokes[j])
    return pivot


@njit(cache=True)
def _log_add(first: float, second: float) -> float:
    if first < second:
        first, second = second, first
    difference = second - first
    if not difference > -40.0:  # e^−40 is below the rounding of 1; −inf − −inf is NaN and ends here as well
        return first
    return first + np.log1p(np.exp(difference))
