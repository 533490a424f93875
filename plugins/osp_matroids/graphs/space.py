"""Spanning trees and forests of a graph, [SBTO24, Sec. 2.3] for matroids in general."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osp_core.errors import Array, NotAVertexError, as_rows, as_vector
from osp_core.regularizers import GibbsEntropy, NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace, checks_its_input, derived
from osp_core.spaces.pictures import Graph
from osp_core.spaces.size_parameters import sized_by_edges
from osp_matroids.components import UnionFind
from osp_matroids.graphs.blocks import block_labels
from osp_matroids.graphs.marginals import log_tree_sum, tree_marginals
from osp_matroids.graphs.oracles import DensePrim, Kruskal, make_oracle
from osp_matroids.graphs.reading import read_graph
from osp_matroids.space import MatroidSpace

Indices = NDArray[np.intp]

_FLOAT64 = np.dtype(np.float64)


class GraphicMatroid(MatroidSpace):
    """The spanning trees of a graph as 0/1 vectors over its edges; spanning forests if it is disconnected.

    Parameters
    ----------
    graph : networkx graph, square numpy adjacency matrix, list of edges or int, optional
        A number n stands for the complete graph on 0, …, n − 1. Loops and parallel edges are welcome.
    edges : iterable of (u, v) or (u, v, key), optional
        The edges instead of a graph.
    bases : bool
        True: spanning trees. False: all forests, that is, all sets of edges without a cycle.
    backend : {"native", "networkx"}
        Who finds the cheapest tree; both return the same one, ties included.
    psi, norm
        SquaredNorm(1) and ℓ2 by default. NegativeEntropy is exact too, and so is GibbsEntropy for trees.

    Examples
    --------
    >>> import osp_core as osp
    >>> space = osp.make_space("graphic_matroid", edges=[("a", "b"), ("b", "c"), ("a", "c")])
    >>> sorted(space.to_label(space.lmo([3.0, 1.0, 2.0])))
    [('a', 'c'), ('b', 'c')]
    """

    size_parameters = sized_by_edges("edges", instead=("graph",), directed=False)

    def __init__(
        self,
        graph: Any = None,
        *,
        edges: Any = None,
        bases: bool = True,
        backend: str = "native",
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        self.graph = read_graph(graph, edges)
        super().__init__(self.graph.names, bases=bases, psi=psi, norm=norm)
        self.backend = backend
        self._oracle = make_oracle(self.graph, backend)
        self._dense = self._oracle if bases and isinstance(self._oracle, DensePrim) else None
        self._kruskal = self._oracle if isinstance(self._oracle, Kruskal) else Kruskal(self.graph)

    def greedy(self, order: Indices) -> Indices:
        return self._kruskal.kept(order)

    @checks_its_input
    def lmo(self, cost: Array) -> Array:
        dense = self._dense
        if (
            dense is not None
            and type(cost) is np.ndarray
            and cost.dtype is _FLOAT64
            and cost.shape == dense.shape
            and cost.flags.carray
        ):
            # The kernel sees every cost anyway, so it checks them: at ten nodes that is half the time.
            vertex: Array = dense.prim(cost, dense.table)
            if vertex.size:
                return vertex
        return self._forest(as_vector(cost, self.dim, "cost"))

    def _forest(self, cost: Array) -> Array:
        vertex = self._oracle.forest(cost)
        if not self.bases:
            # Kruskal would have taken the edges of negative cost first: the rest can go.
            vertex[cost >= 0] = 0.0
        return vertex

    def lmo_many(self, costs: ArrayLike) -> Array:
        rows = as_rows(costs, self.dim, "costs")
        vertices = self._oracle.forests(rows)
        if not self.bases:
            vertices[rows >= 0] = 0.0
        return vertices

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        rows = as_rows(points, self.dim, "points")
        if self.norm in (1.0, 2.0):
            return self.lmo_many(1.0 - 2.0 * rows)
        return super().nearest_vertex_many(rows)

    def draw(self, point: Array) -> Graph:
        return Graph(self.graph.nodes, self.graph.tails, self.graph.heads, point)

    @derived
    def component_labels(self) -> Indices:
        """The blocks of the graph; bridges and loops are on their own."""
        return block_labels(self.graph.tails, self.graph.heads, len(self.graph.nodes))

    def closure(self, chosen: Indices) -> Indices:
        """All edges whose ends the chosen edges connect."""
        joined = UnionFind(len(self.graph.nodes))
        for edge in chosen.tolist():
            joined.join(int(self.graph.tails[edge]), int(self.graph.heads[edge]))
        piece = joined.labels()
        return np.flatnonzero(piece[self.graph.tails] == piece[self.graph.heads])

    def restricted(self, kept: Indices) -> GraphicMatroid:
        """The same with some of the edges only."""
        return GraphicMatroid(
            edges=[self.elements[edge] for edge in kept],
            bases=self.bases,
            backend=self.backend,
            psi=self.psi,
            norm=self.norm,
        )

    @derived
    def _cyclic_blocks(self) -> list[Indices]:
        """The edges of every block with more than one edge."""
        order = np.argsort(self.component_labels, kind="stable")
        ends = np.cumsum(np.bincount(self.component_labels))[:-1]
        return [block for block in np.split(order, ends) if len(block) > 1]

    def marginals(self, theta: Array) -> Array:
        """P(e ∈ T) for a random tree ∝ exp⟨θ, y⟩: e^θ times the effective resistance, block by block."""
        if not self.bases:
            return super().marginals(theta)
        probabilities = self._always.copy()
        for block in self._cyclic_blocks:
            tails, heads = self.graph.tails[block], self.graph.heads[block]
            probabilities[block] = tree_marginals(theta[block], tails, heads)
        return probabilities

    def log_partition(self, theta: Array) -> float:
        """log Σ_T exp⟨θ, T⟩: the determinant of a Laplacian, block by block."""
        if not self.bases:
            return super().log_partition(theta)
        parts = (
            log_tree_sum(theta[block], self.graph.tails[block], self.graph.heads[block])
            for block in self._cyclic_blocks
        )
        return float(self._always @ theta) + sum(parts)

    @derived
    def _always(self) -> Array:
        """1 for bridges, which are in every tree."""
        sizes, ranks = self._component_sizes
        return ((sizes == 1) & (ranks == 1)).astype(np.float64)[self.component_labels]

    @derived
    def _edges_between(self) -> dict[frozenset[Any], list[int]]:
        edges: dict[frozenset[Any], list[int]] = {}
        for index, name in enumerate(self.elements):
            edges.setdefault(frozenset(name[:2]), []).append(index)
        return edges

    def position(self, name: Any) -> int:
        """The coordinate of an edge, given as (u, v) in any direction, or (u, v, key)."""
        edge = tuple(name) if isinstance(name, list | tuple | np.ndarray | frozenset) else ()
        try:
            between = self._edges_between.get(frozenset(edge[:2]), [])
            matches = [i for i in between if len(edge) == 2 or self.elements[i][2:] == edge[2:]]
        except TypeError:
            matches = []
        if len(matches) == 1 and len(edge) in (2, 3):
            return matches[0]
        if matches:
            raise NotAVertexError(
                f"{name!r} could be any of {len(matches)} parallel edges; say which, for instance "
                f"{self.elements[matches[0]]!r}."
            )
        raise NotAVertexError(f"{name!r} is not an edge of {self!r}; an edge is a pair of nodes (u, v).")

    def at(self, context: Any) -> OutputSpace:
        """The trees of another graph, given as for the constructor: graphs may change from round to round."""
        if context is None:
            return self
        return GraphicMatroid(context, bases=self.bases, backend=self.backend, psi=self.psi, norm=self.norm)

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        house = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c"), ("d", "e")]
        tangle = [(0, 1), (1, 0), (1, 2), (2, 2), (3, 4), (4, 5), (5, 3)]
        return (
            cls(4),
            cls(edges=house, psi=GibbsEntropy(1.0)),
            cls(edges=house, norm=1, psi=SquaredNorm(0.5)),
            cls(edges=tangle),
            cls(edges=tangle, bases=False),
            cls(4, psi=GibbsEntropy(0.5), norm=1),
            cls(3, bases=False, psi=GibbsEntropy(2.0)),
            cls(edges=tangle, psi=NegativeEntropy(0.5), norm=1),
            cls(4, bases=False, psi=NegativeEntropy(2.0)),
            cls(edges=[("a", "b")]),
            cls(edges=[("a", "a")]),
        )
