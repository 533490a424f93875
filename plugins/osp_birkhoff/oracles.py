"""The two back ends of the assignment oracle. They give the same answers."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import Array, InvalidInputError, MissingDependencyError


class AssignmentOracle(Protocol):
    """Finds the cheapest assignment of rows to distinct columns."""

    def assign(self, costs: Array) -> NDArray[np.intp]:
        """Return the column of every row; entries of infinite cost are not used."""


def make_oracle(backend: str, allowed: NDArray[np.bool_]) -> AssignmentOracle:
    """Make the oracle called `backend` for the entries that are `allowed`."""
    if backend == "scipy":
        return ScipyOracle()
    if backend == "networkx":
        return NetworkxOracle(allowed)
    raise InvalidInputError(f"backend must be 'scipy' or 'networkx', got {backend!r}.")


class ScipyOracle:
    """Shortest augmenting paths in compiled code."""

    def assign(self, costs: Array) -> NDArray[np.intp]:
        from scipy.optimize import linear_sum_assignment

        return linear_sum_assignment(costs)[1]  # type: ignore[no-any-return]


class NetworkxOracle:
    """Minimum-weight full matching of a networkx graph that is built once; only its weights change."""

    def __init__(self, allowed: NDArray[np.bool_]) -> None:
        try:
            import networkx
        except ImportError as error:
            raise MissingDependencyError(
                "The back end 'networkx' needs networkx: "
                "pip install 'online-structured-prediction[networkx]'."
            ) from error
        rows, columns = allowed.shape
        self.graph = networkx.Graph()
        self.graph.add_nodes_from(range(rows), bipartite=0)
        self.graph.add_nodes_from(range(rows, rows + columns), bipartite=1)
        self._cells = np.nonzero(allowed)
        edges = [(int(i), rows + int(j)) for i, j in zip(*self._cells, strict=True)]
        self.graph.add_edges_from(edges, weight=0.0)
        self._attributes: list[dict[str, Any]] = [self.graph.edges[edge] for edge in edges]
        self._rows = rows

    def assign(self, costs: Array) -> NDArray[np.intp]:
        from networkx.algorithms.bipartite import minimum_weight_full_matching

        for attributes, cost in zip(self._attributes, costs[self._cells].tolist(), strict=True):
            attributes["weight"] = cost
        partner = minimum_weight_full_matching(self.graph, top_nodes=range(self._rows))
        return np.array([partner[row] - self._rows for row in range(self._rows)])
