"""The blocks (2-connected components) of a graph: the connected components of its graphic matroid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]


def block_labels(tails: Indices, heads: Indices, nodes: int) -> Indices:
    """Return the number of every edge's block, by Tarjan's depth-first search; loops are on their own."""
    search = _Search(tails, heads, nodes)
    for root in range(nodes):
        search.run(root)
    labels = np.array(search.labels, dtype=np.intp)
    for loop in np.flatnonzero(tails == heads):
        labels[loop] = search.count
        search.count += 1
    return labels


class _Search:
    """One depth-first search, without recursion: graphs may be deep."""

    def __init__(self, tails: Indices, heads: Indices, nodes: int) -> None:
        self.neighbours: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
        for edge, (tail, head) in enumerate(zip(tails.tolist(), heads.tolist(), strict=True)):
            if tail != head:
                self.neighbours[tail].append((edge, head))
                self.neighbours[head].append((edge, tail))
        self.labels = [-1] * len(tails)
        self.count = 0
        self.entered = [-1] * nodes  # when a node was reached
        self.low = [0] * nodes  # the earliest node seen from its subtree
        self.pending: list[int] = []  # edges of blocks that are not closed yet
        self.clock = 0

    def run(self, root: int) -> None:
        if self.entered[root] >= 0:
            return
        self._enter(root)
        path = [(root, -1, iter(self.neighbours[root]))]
        while path:
            node, arrival, edges = path[-1]
            for edge, other in edges:
                if edge == arrival:
                    continue
                if self.entered[other] < 0:
                    self.pending.append(edge)
                    self._enter(other)
                    path.append((other, edge, iter(self.neighbours[other])))
                    break
                if self.entered[other] < self.entered[node]:
                    self.pending.append(edge)
                    self.low[node] = min(self.low[node], self.entered[other])
            else:
                path.pop()
                if path:
                    self._leave(node, arrival, path[-1][0])

    def _enter(self, node: int) -> None:
        self.entered[node] = self.low[node] = self.clock
        self.clock += 1

    def _leave(self, node: int, arrival: int, parent: int) -> None:
        self.low[parent] = min(self.low[parent], self.low[node])
        if (
            self.low[node] >= self.entered[parent]
        ):  # nothing below reaches above the parent: a block ends here
            while True:
                edge = self.pending.pop()
                self.labels[edge] = self.count
                if edge == arrival:
                    break
            self.count += 1
