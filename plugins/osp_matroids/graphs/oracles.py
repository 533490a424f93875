"""The back ends that find a cheapest spanning forest; all break ties by the lower edge index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osp_core import kernels
from osp_core.errors import Array, InvalidInputError, MissingDependencyError
from osp_matroids.graphs.marginals import KERNELS
from osp_matroids.graphs.reading import Graph


class DensePrim:
    """Prim's algorithm on a table of edges: O(n²), for simple graphs with many edges."""

    def __init__(self, graph: Graph) -> None:
        n, m = len(graph.nodes), len(graph.tails)
        self.shape = (m,)
        self.table: NDArray[np.int32] = np.full((n, n), -1, dtype=np.int32)
        self.table[graph.tails, graph.heads] = self.table[graph.heads, graph.tails] = np.arange(m)
        loaded = kernels.load(KERNELS)
        self.prim, self._prim_many = loaded.prim, loaded.prim_many

    @staticmethod
    def suits(graph: Graph) -> bool:
        """Whether there are no loops, no parallel edges, and enough edges for n² steps to be worth it."""
        n, m = len(graph.nodes), len(graph.tails)
        ends = np.sort(np.stack([graph.tails, graph.heads]), axis=0)
        if (ends[0] == ends[1]).any() or np.unique(ends[0] * n + ends[1]).size < m:
            return False
        return n * n <= 16 * m

    def forest(self, cost: Array) -> Array:
        """The cheapest forest as a 0/1 vector."""
        vertex: Array = self.prim(_owned(cost), self.table)
        return vertex

    def forests(self, costs: Array) -> Array:
        """The cheapest forest for every row of a finite matrix."""
        vertices: Array = self._prim_many(_owned(costs), self.table)
        return vertices


class Kruskal:
    """Kruskal's algorithm: sort, then a union-find; for sparse graphs and multigraphs."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._kruskal = kernels.load(KERNELS).kruskal

    def kept(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        """The edges of `order` that close no cycle with the ones kept before them."""
        graph = self._graph
        chosen: NDArray[np.intp] = self._kruskal(
            np.ascontiguousarray(order, dtype=np.intp), graph.tails, graph.heads, len(graph.nodes)
        )
        return chosen

    def forest(self, cost: Array) -> Array:
        """The cheapest forest as a 0/1 vector."""
        vertex = np.zeros(cost.size)
        vertex[self.kept(np.argsort(cost, kind="stable"))] = 1.0
        return vertex

    def forests(self, costs: Array) -> Array:
        """The cheapest forest for every row."""
        vertices = np.zeros(costs.shape)
        for vertex, order in zip(vertices, np.argsort(costs, axis=1, kind="stable"), strict=True):
            vertex[self.kept(order)] = 1.0
        return vertices


class Networkx:
    """networkx's minimum_spanning_edges: the graph is built once, only its weights are rewritten."""

    def __init__(self, graph: Graph) -> None:
        try:
            import networkx
        except ImportError as error:
            raise MissingDependencyError(
                'backend="networkx" needs networkx: pip install "online-structured-prediction[networkx]".'
            ) from error
        self._graph = networkx.MultiGraph()
        self._graph.add_nodes_from(range(len(graph.nodes)))
        for edge in np.flatnonzero(graph.tails != graph.heads).tolist():
            self._graph.add_edge(int(graph.tails[edge]), int(graph.heads[edge]), key=edge, weight=0)

    def forest(self, cost: Array) -> Array:
        """The cheapest forest as a 0/1 vector."""
        from networkx import minimum_spanning_edges

        # Ranks instead of costs: they are distinct, so ties are broken here, not by the order of the graph.
        ranks = np.empty(cost.size, dtype=np.intp)
        ranks[np.argsort(cost, kind="stable")] = np.arange(cost.size)
        for _, _, edge, attributes in self._graph.edges(keys=True, data=True):
            attributes["weight"] = int(ranks[edge])
        vertex = np.zeros(cost.size)
        for _, _, edge in minimum_spanning_edges(self._graph, keys=True, data=False):
            vertex[edge] = 1.0
        return vertex

    def forests(self, costs: Array) -> Array:
        """The cheapest forest for every row."""
        return np.array([self.forest(cost) for cost in costs]).reshape(costs.shape)


def make_oracle(graph: Graph, backend: str) -> DensePrim | Kruskal | Networkx:
    """Return the back end of this name; "native" chooses between Prim and Kruskal by the density."""
    if backend == "networkx":
        return Networkx(graph)
    if backend != "native":
        raise InvalidInputError(f'backend must be "native" or "networkx", got {backend!r}.')
    return DensePrim(graph) if DensePrim.suits(graph) else Kruskal(graph)


def _owned(array: Array) -> Array:
    """The array, copied unless it is contiguous and writable: kernels are compiled for those only."""
    return array if array.flags.carray else array.copy()
