"""The compiled spanning-tree kernels against their numpy twins."""

import numpy as np
import pytest
from osp_matroids.graphs import kernels_numba, kernels_numpy


def random_table(rng, n, density):
    table = np.full((n, n), -1, dtype=np.int32)
    rows, columns = np.triu_indices(n, 1)
    kept = rng.random(rows.size) < density
    rows, columns = rows[kept], columns[kept]
    table[rows, columns] = table[columns, rows] = rng.permutation(rows.size)
    return table, rows.size


@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("density", [0.3, 1.0])
def test_prim_agrees(n, density):
    rng = np.random.default_rng(n)
    for _ in range(20):
        table, m = random_table(rng, n, density)
        costs = rng.integers(-2, 3, (3, m)).astype(float)
        assert np.array_equal(kernels_numba.prim(costs[0], table), kernels_numpy.prim(costs[0], table))
        assert np.array_equal(kernels_numba.prim_many(costs, table), kernels_numpy.prim_many(costs, table))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_prim_refuses_costs_that_are_not_finite(bad):
    table, m = random_table(np.random.default_rng(0), 5, 1.0)
    for position in range(m):
        cost = np.zeros(m)
        cost[position] = bad
        assert kernels_numba.prim(cost, table).size == 0
        assert kernels_numpy.prim(cost, table).size == 0


def test_kruskal_agrees():
    rng = np.random.default_rng(1)
    for _ in range(50):
        nodes, m = int(rng.integers(1, 8)), int(rng.integers(1, 15))
        tails, heads = rng.integers(0, nodes, (2, m)).astype(np.intp)
        order = rng.permutation(m)[: rng.integers(0, m + 1)].astype(np.intp)
        fast = kernels_numba.kruskal(order, tails, heads, nodes)
        assert fast.tolist() == kernels_numpy.kruskal(order, tails, heads, nodes).tolist()


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 12, 17])
@pytest.mark.parametrize("density", [0.3, 1.0])
def test_effective_conductances_and_tree_sums_agree(n, scale, density):
    rng = np.random.default_rng(n)
    logs = scale * rng.normal(size=(n, n))
    logs[rng.random((n, n)) > density] = -np.inf
    logs = np.maximum(logs, logs.T)
    fast, slow = kernels_numba.effective_conductances(logs), kernels_numpy.effective_conductances(logs)
    off = ~np.eye(n, dtype=bool)
    assert np.array_equal(np.isfinite(fast[off]), np.isfinite(slow[off]))
    finite = np.isfinite(slow) & off
    assert fast[finite] == pytest.approx(slow[finite], rel=1e-12, abs=1e-12)
    fast_sum, slow_sum = kernels_numba.log_tree_sum(logs), kernels_numpy.log_tree_sum(logs)
    assert fast_sum == slow_sum or fast_sum == pytest.approx(slow_sum, rel=1e-12, abs=1e-12)
