"""Compiled spanning-tree kernels: dense Prim, Kruskal, and elimination of nodes in the log domain."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def prim(cost, table):
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
def prim_many(costs, table):
    """Return `prim` of every row; the costs must be finite."""
    vertices = np.empty(costs.shape)
    for row in range(len(costs)):
        vertices[row] = prim(costs[row], table)
    return vertices


@njit(cache=True)
def kruskal(order, tails, heads, nodes):
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
def eliminate(networks, keep):
    """Return the networks that nodes 0, …, keep − 1 see when the others are eliminated, with their pivots.

    Parameters
    ----------
    networks : float64 array of shape (batch, size, size)
        Symmetric log conductances, −inf where two nodes are not joined; the diagonal is ignored.
    keep : int

    Returns
    -------
    networks : array of shape (batch, keep, keep)
    pivots : array of shape (batch,)
        The sum of the logs of the total conductances at which nodes were eliminated.
    """
    work = networks.copy()
    pivots = np.zeros(len(work))
    for one in range(len(work)):
        log_conductance = work[one]
        for node in range(log_conductance.shape[0] - 1, keep - 1, -1):
            spokes = log_conductance[node]
            largest = -np.inf
            for i in range(node):
                largest = max(largest, spokes[i])
            if largest == -np.inf:
                pivots[one] = -np.inf
                continue
            total = 0.0
            for i in range(node):
                total += np.exp(spokes[i] - largest)
            pivot = largest + np.log(total)
            pivots[one] += pivot
            # The star at the node becomes a mesh: conductance cᵢcⱼ/Σc between every two neighbours.
            for i in range(node):
                if spokes[i] == -np.inf:
                    continue
                offset = spokes[i] - pivot
                for j in range(i):
                    log_conductance[i, j] = _log_add(log_conductance[i, j], offset + spokes[j])
        for i in range(keep):
            for j in range(i):
                log_conductance[j, i] = log_conductance[i, j]
    return work[:, :keep, :keep].copy(), pivots


@njit(cache=True, inline="always")
def _log_add(first, second):
    if first < second:
        first, second = second, first
    difference = second - first
    if not difference > -40.0:  # e^−40 is below the rounding of 1; −inf − −inf is NaN and ends here as well
        return first
    return first + np.log1p(np.exp(difference))
