"""Perfect matchings of a given bipartite graph: a face of the Birkhoff polytope."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from osp_birkhoff.bipartite import as_bipartite, find_matching, live_edges
from osp_birkhoff.couplings import PlanSpace
from osp_birkhoff.support import Support
from osp_core.errors import Array, NotAVertexError, UnsupportedError, is_hashable
from osp_core.regularizers import NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_core.spaces.pictures import Columns
from osp_core.spaces.size_parameters import sized_by_edges

MOST_LISTED = 5040


class Matching(PlanSpace):
    """The perfect matchings of a bipartite graph, one coordinate per edge.

    A label is a dict from left to right nodes, or a collection of edges. Edges in no perfect matching are
    coordinates too; they are 0 in every output and every prediction.

    Parameters
    ----------
    graph : networkx graph, Boolean matrix or sequence of pairs
        Matrix: rows are the left nodes, entries the edges, in row-major order. Pairs: (left, right), in the
        order of the coordinates; the two sides may share names. networkx: the sides come from the node
        attribute `bipartite` (0 is left) or, without it, from a two-colouring.
    backend : {"scipy", "networkx"}
        Who solves the assignment problems; the answers are the same.
    psi : Regularizer
        NegativeEntropy(1) by default; SquaredNorm gives sparse predictions.
    norm : float
        1 by default.
    """

    size_parameters = sized_by_edges("graph")
    nu1 = 4.0  # two perfect matchings differ by alternating cycles, of four edges or more

    def __init__(
        self,
        graph: Any,
        *,
        backend: str = "scipy",
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        bipartite = as_bipartite(graph)
        chosen = find_matching(bipartite)
        self.left, self.right = bipartite.left, bipartite.right
        size = len(self.left)
        cells = np.array([row * size + column for row, column in bipartite.edges])
        self._set_cells((size, size), cells, backend)
        live = live_edges(bipartite.biadjacency, chosen)
        self.support: Support = Support(live)
        self.live = live.ravel()[cells]
        """Which edges are in some perfect matching."""
        self.diameter1 = 2.0 * float((live.sum(axis=1) > 1).sum())
        self._row_index = {name: i for i, name in enumerate(self.left)}
        self._column_index = {name: j for j, name in enumerate(self.right)}

    def __repr__(self) -> str:
        return f"Matching({self.dim} edges, {self.shape[0]} pairs)"

    def _scores(self, vectors: Array) -> Array:
        return self.matrix(np.where(self.live, vectors, -np.inf), -np.inf)

    def from_label(self, label: Any) -> Array:
        if isinstance(label, np.ndarray) and label.dtype.kind in "fiub" and label.shape == (self.dim,):
            return super().from_label(label)
        if isinstance(label, str) or not isinstance(label, Collection) or len(label) != self.shape[0]:
            raise NotAVertexError(
                f"An output of {self!r} is a dict from left to right nodes, or a collection of "
                f"{self.shape[0]} edges, got {label!r}."
            )
        pairs = label.items() if isinstance(label, Mapping) else label
        chosen = np.full(self.shape[0], -1)
        for row, column in map(self._edge, pairs):
            chosen[row] = column
        if len(set(chosen.tolist()) - {-1}) < self.shape[0]:
            raise NotAVertexError(f"{label!r} does not match every node exactly once.")
        return self.vertex(chosen)

    def _edge(self, pair: Any) -> tuple[int, int]:
        """The row and column of an edge, which may be written from either end."""
        if not isinstance(pair, str) and isinstance(pair, Collection) and len(pair) == 2:
            first, second = pair
            for u, v in ((first, second), (second, first)):
                if not is_hashable(u) or not is_hashable(v):
                    continue
                row, column = self._row_index.get(u), self._column_index.get(v)
                if row is None or column is None:
                    continue
                if self._coordinate[row * self.shape[1] + column] >= 0:
                    return row, column
        raise NotAVertexError(f"{pair!r} is not one of the {self.dim} edges of {self!r}.")

    def to_label(self, vertex: Array) -> Any:
        """A dict from left to right nodes."""
        pairs = zip(self.left, self.columns(vertex), strict=True)
        return {node: self.right[column] for node, column in pairs}

    def draw(self, point: Array) -> Columns:
        return Columns(self.left, self.right, self.matrix(point))

    def vertices(self) -> Array:
        outputs = []
        for chosen in self._matchings(0, set()):
            outputs.append(self.vertex(np.array(chosen)))
            if len(outputs) > MOST_LISTED:
                raise UnsupportedError(f"{self!r} has more than {MOST_LISTED} outputs, too many to list.")
        return np.array(outputs)

    def _matchings(self, row: int, taken: set[int]) -> Iterator[list[int]]:
        if row == self.shape[0]:
            yield []
            return
        for column in np.flatnonzero(self.support.live[row]).tolist():
            if column not in taken:
                for rest in self._matchings(row + 1, taken | {column}):
                    yield [column, *rest]

    def project_direction(self, direction: Array) -> Array:
        """Differences span the vectors on live edges whose sum at every node is 0."""
        return self.vector(self.support.centre(self.matrix(direction)))

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        ladder = [(i, j) for i in range(4) for j in range(4) if abs(i - j) <= 1]
        return (
            cls(ladder),
            cls(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool), psi=NegativeEntropy(0.5)),
            cls(ladder, psi=SquaredNorm(1.0), norm=2),
            # The edge ("b", "x") is in no perfect matching.
            cls([("a", "x"), ("b", "x"), ("b", "y"), ("b", "z"), ("c", "y"), ("c", "z")]),
            cls([("a", "x")]),
        )
