"""Spanning trees of complete graphs: cheapest tree, Euclidean prediction, Gibbs marginals.

Every contestant starts from the same numpy vector of costs and a graph that was built beforehand, and
brings the costs into the form it wants in the fastest way we know.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import Case
from numpy.typing import NDArray

import osp_core as osp

Array = NDArray[np.float64]
Peer = Callable[[], Any]


def cases(short: bool) -> Iterator[Case]:
    """Yield the cases of this family, small sizes only when `short`."""
    for n in (10, 50) if short else (10, 50, 200):
        yield _cheapest_tree(n)
    for n in (5, 10) if short else (5, 10, 20):
        yield _prediction(n)
    for n in (10, 50) if short else (10, 50, 200):
        yield _marginals(n)


def _cheapest_tree(n: int) -> Case:
    space = osp.make_space("graphic_matroid", graph=n)
    cost = np.random.default_rng(n).normal(size=space.dim)
    least = float(space.lmo(cost) @ cost)
    makers = {"igraph": _igraph, "rustworkx": _rustworkx, "scipy": _scipy, "networkx": _networkx}
    peers = {name: _installed(name) or make(n, cost) for name, make in makers.items()}

    def error(answer: Any) -> float:
        chosen = answer > 0 if isinstance(answer, np.ndarray) else _edge_numbers(answer, n)
        return abs(float(cost[chosen].sum()) - least) / abs(least)

    goal = 1.5 if n < 50 else 10.0
    targets = {"igraph": goal, "rustworkx": goal}
    return Case(
        "spanning tree, cheapest", n, lambda: space.lmo(cost), peers, error, 1e-9, targets, exponent=2.0
    )


def _igraph(n: int, cost: Array) -> Peer:
    import igraph

    graph = igraph.Graph.Full(n)  # its edges come in the order of our coordinates
    return lambda: graph.spanning_tree(weights=cost.tolist(), return_tree=False)


def _rustworkx(n: int, cost: Array) -> Peer:
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from([(*pair, number) for number, pair in enumerate(_pairs(n))])
    return lambda: rustworkx.minimum_spanning_edges(graph, weight_fn=cost.tolist().__getitem__)


def _scipy(n: int, cost: Array) -> Peer:
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import minimum_spanning_tree

    matrix = csr_matrix(np.triu(np.ones((n, n)), 1))  # row by row, which is the order of our coordinates

    def solve() -> Any:
        matrix.data = cost - (cost.min() - 1.0)  # zero would mean: no edge
        return minimum_spanning_tree(matrix)

    return solve


def _networkx(n: int, cost: Array) -> Peer:
    import networkx

    graph = networkx.complete_graph(n)
    attributes = [data for _, _, data in graph.edges(data=True)]

    def solve() -> Any:
        for data, value in zip(attributes, cost.tolist(), strict=True):
            data["weight"] = value
        return list(networkx.minimum_spanning_edges(graph, data=False))

    return solve


def _prediction(n: int) -> Case:
    space = osp.make_space("graphic_matroid", graph=n)
    theta = np.random.default_rng(n).normal(size=space.dim)

    def error(answer: Any) -> float:
        """The Frank–Wolfe gap, which bounds the squared distance to the right answer."""
        point = answer.point if isinstance(answer, osp.Prediction) else answer
        gradient = point - theta
        return float(gradient @ (point - space.lmo(gradient)))

    peers: dict[str, Peer | str] = {"cvxpy": _installed("cvxpy") or _cvxpy(n, theta)}
    return Case("spanning tree, Euclidean prediction", n, lambda: space.predict(theta), peers, error, 1e-6)


def _cvxpy(n: int, theta: Array) -> Peer:
    """The extended formulation of [Martin 1991]: below any root, every other node has one parent at most."""
    import cvxpy

    tails, heads = np.array(_pairs(n)).T
    incoming = [
        (np.equal.outer(np.arange(n), heads) * 1.0, np.equal.outer(np.arange(n), tails) * 1.0)
        for _ in range(n)
    ]
    scores, y = cvxpy.Parameter(theta.size), cvxpy.Variable(theta.size, nonneg=True)
    constraints = [cvxpy.sum(y) == n - 1]
    for root, (to_heads, to_tails) in enumerate(incoming):
        down, up = cvxpy.Variable(theta.size, nonneg=True), cvxpy.Variable(theta.size, nonneg=True)
        limit = np.ones(n)
        limit[root] = 0.0
        constraints += [down + up == y, to_heads @ down + to_tails @ up <= limit]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(y - scores)), constraints)

    def solve() -> Any:
        scores.value = theta
        problem.solve(solver=cvxpy.CLARABEL)
        return y.value

    return solve


def _marginals(n: int) -> Case:
    space = osp.make_space("graphic_matroid", graph=n)
    theta = np.random.default_rng(n).normal(size=space.dim)
    right = space.marginals(theta)
    tails, heads = np.array(_pairs(n)).T

    def textbook() -> Array:
        """Weights times effective resistances from an inverse: fast, and wrong beyond small scores."""
        weights = np.exp(theta)
        laplacian = np.zeros((n, n))
        laplacian[tails, heads] = laplacian[heads, tails] = -weights
        np.fill_diagonal(laplacian, -laplacian.sum(axis=0))
        inverse = np.linalg.inv(laplacian + 1.0 / n)
        diagonal = np.diag(inverse)
        return np.asarray(weights * (diagonal[tails] + diagonal[heads] - 2 * inverse[tails, heads]))

    def error(answer: Any) -> float:
        return float(np.abs(answer - right).max())

    peers: dict[str, Peer | str] = {"numpy inverse": textbook}
    return Case("spanning tree, Gibbs marginals", n, lambda: space.marginals(theta), peers, error, 1e-10)


def _pairs(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


def _edge_numbers(answer: Any, n: int) -> list[int]:
    """The coordinates of a tree as peers return it: edge numbers, pairs of nodes, or a sparse matrix."""
    if hasattr(answer, "tocoo"):
        coordinates = answer.tocoo()
        answer = list(zip(coordinates.row.tolist(), coordinates.col.tolist(), strict=True))
    if isinstance(answer[0], int):
        return list(answer)
    numbers = {frozenset(pair): number for number, pair in enumerate(_pairs(n))}
    return [numbers[frozenset((edge[0], edge[1]))] for edge in answer]


def _installed(name: str) -> str:
    """The reason why a peer cannot run, or nothing."""
    return "" if importlib.util.find_spec(name) else f"{name} is not installed"
