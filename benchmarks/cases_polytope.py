"""`polytope` against solving the same cvxpy problem anew: linear oracle, projection, knapsack."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import cvxpy as cp
import numpy as np
from harness import Case

import osp_core as osp


def cases(short: bool) -> Iterator[Case]:
    """One case per primitive and size; costs change with every call."""
    for n in (5, 20) if short else (5, 10, 20, 30):
        yield _assignment(n, integral=None, title="Birkhoff LMO")
        yield _assignment(n, integral=True, title="Birkhoff LMO, by HiGHS")
    for n in (30,) if short else (10, 30, 100):
        yield _flow(n)
    for n in (10, 30):
        yield _knapsack(n)


def _assignment(n: int, integral: bool | None, title: str) -> Case:
    y = cp.Variable((n, n), nonneg=True)
    rules = [cp.sum(y, axis=0) == 1, cp.sum(y, axis=1) == 1]
    space = osp.make_space("polytope", constraints=rules, variable=y, integral=integral)
    return _case(title, n, space, rules, y)


def _flow(n: int) -> Case:
    """Paths through a random acyclic graph with n nodes."""
    rng = np.random.default_rng(n)
    edges = [(i, j) for i in range(n) for j in range(i + 1, n) if j == i + 1 or rng.random() < 5 / n]
    incidence = np.zeros((n, len(edges)))
    for number, (tail, head) in enumerate(edges):
        incidence[tail, number], incidence[head, number] = -1.0, 1.0
    y = cp.Variable(len(edges), nonneg=True)
    rules = [incidence @ y == np.eye(n)[-1] - np.eye(n)[0]]
    return _case("path LMO", n, osp.make_space("polytope", constraints=rules, variable=y), rules, y)


def _knapsack(n: int) -> Case:
    weights = np.random.default_rng(n).integers(5, 40, n)
    y = cp.Variable(n, boolean=True)
    rules = [weights @ y <= int(weights.sum() // 3)]
    return _case("knapsack LMO", n, osp.make_space("polytope", constraints=rules, variable=y), rules, y)


def _case(title: str, size: int, space: Any, rules: list[Any], y: Any) -> Case:
    rng = np.random.default_rng(0)
    costs = itertools.cycle(rng.standard_normal((50, space.dim)))
    answers = {
        cost.tobytes(): float(cost @ space.lmo(cost)) for cost, _ in zip(costs, range(50), strict=False)
    }
    parameter = cp.Parameter(y.shape)
    compiled = cp.Problem(cp.Minimize(cp.sum(cp.multiply(parameter, y))), rules)

    def ours() -> tuple[Any, Any]:
        cost = next(costs)
        return cost, space.lmo(cost)

    def fresh() -> tuple[Any, Any]:
        cost = next(costs)
        cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost.reshape(y.shape), y))), rules).solve()
        return cost, np.asarray(y.value).reshape(-1)

    def parametrised(**options: Any) -> Callable[[], tuple[Any, Any]]:
        def call() -> tuple[Any, Any]:
            cost = next(costs)
            parameter.value = cost.reshape(y.shape)
            compiled.solve(**options)
            return cost, np.asarray(y.value).reshape(-1)

        return call

    def error(answer: tuple[Any, Any]) -> float:
        cost, vertex = answer
        return abs(float(cost @ vertex) - answers[cost.tobytes()])

    peers = {
        "cp.Problem.solve()": fresh,
        "cvxpy, compiled": parametrised(),
        "cvxpy, compiled, HiGHS": parametrised(solver="HIGHS"),
    }
    return Case(title, size, ours, peers, error, 1e-4)
