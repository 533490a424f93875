"""The generic engine against copt, and against the C++ of lp-sparsemap on dependency trees.

Everybody projects Gaussian noise with the same oracle until a certified gap of 1e−6 is reached: then the
squared distance to the projection is below 2e−6.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from frank_wolfe_problems import PROBLEMS, Problem
from harness import BEST, Case, Fact, Row

from osp_core.frank_wolfe import Quadratic, minimize

GAP = 1e-6
CALLS: dict[tuple[str, str], list[int]] = {}


def cases(short: bool) -> Iterator[Case]:
    """One case per problem; seeds are the instances."""
    names = ("Birkhoff 10, s=0.3", "Birkhoff 10, s=1")
    if not short:
        names += ("Birkhoff 20, s=0.3", "Birkhoff 20, s=1")
    for problem in PROBLEMS:
        if problem.name in names:
            yield _projection(problem)
    if importlib.util.find_spec("lpsmap"):
        for n in (5, 10) if short else (5, 10, 20, 40):
            yield _dependency_trees(n)


def facts(rows: list[Row], short: bool) -> Iterator[Fact]:
    """How many calls of the oracle the projections took."""
    ours = {problem: float(np.mean(calls)) for (problem, who), calls in CALLS.items() if who == "ours"}
    for (problem, who), calls in CALLS.items():
        if who != "ours":
            name = f"{problem}: oracle calls of {who} over our {ours[problem]:.0f}"
            yield Fact(name, float(np.mean(calls)) / ours[problem], "×", at_least=4.0)


def _projection(problem: Problem) -> Case:
    def ours(seed: int) -> float:
        result = minimize(problem.lmo, Quadratic(problem.centre(seed)), tol=GAP / 20)
        CALLS.setdefault((problem.name, "ours"), []).append(result.lmo_calls)
        return result.gap

    peers: dict[str, Callable[[int], Any] | str] = {}
    if importlib.util.find_spec("copt") is None:
        peers["copt"] = "not installed"
    else:
        peers |= {
            f"copt, {variant}": _copt(problem, variant)
            for variant in ("pairwise, DR", "pairwise, backtracking")
        }
    size = round(problem.dim**0.5)
    return Case(
        f"projection by oracle calls, {problem.name}",
        size,
        ours,
        peers,
        lambda gap, seed: gap,
        GAP,
        {BEST: 8.0},
        [(0,), (1,), (2,)],
    )


def _copt(problem: Problem, variant: str) -> Callable[[int], float]:
    import frank_wolfe_copt

    def run(seed: int) -> float:
        trajectory = frank_wolfe_copt.run(problem, seed, variant, GAP, 20.0)["trajectory"]
        CALLS.setdefault((problem.name, f"copt, {variant}"), []).append(trajectory[-1][1])
        return float(trajectory[-1][3])

    return run


def _dependency_trees(n: int) -> Case:
    """SparseMAP over the trees of a sentence of n words: our engine with the oracle of the C++ library."""
    from lpsmap.ad3ext.tree import PFactorTree
    from lpsmap.ad3qp.factor_graph import PFactorGraph

    graph, factor = PFactorGraph(), PFactorTree()
    factor.initialize(False, True, n)  # any trees; scores of roots on the diagonal
    graph.declare_factor(factor, [graph.create_binary_variable() for _ in range(n * n)])

    def lmo(cost: Any) -> Any:
        return np.array(factor.solve_map(-cost, [])[1])

    def gap(answer: Any, theta: Any) -> float:
        gradient = answer - theta
        return float(gradient @ (answer - lmo(gradient)))

    def peer(theta: Any, _owner: Any = graph) -> Any:  # the graph must outlive the factor
        return np.array(factor.solve_qp(theta, [], 10_000, False)[0])

    return Case(
        "SparseMAP of dependency trees",
        n,
        lambda theta: minimize(lmo, Quadratic(theta), tol=1e-10).point,
        {"lp-sparsemap, cold": peer},
        gap,
        1e-5 * n,
        {BEST: 1 / 3},
        [(np.random.default_rng((n, seed)).standard_normal(n * n),) for seed in range(5)],
    )
