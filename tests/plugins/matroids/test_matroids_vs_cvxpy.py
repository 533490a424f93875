"""Euclidean predictions against quadratic programs with the inequalities of the matroid polytope."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from osp_matroids.graphs.space import GraphicMatroid
from osp_matroids.laminar import LaminarMatroid
from osp_matroids.linear import LinearMatroid
from osp_matroids.partition import PartitionMatroid
from osp_matroids.transversal import TransversalMatroid


def by_rank_inequalities(space, theta):
    """min ½‖y − θ‖² over {y ≥ 0, y(S) ≤ rank(S)}, with y(E) = rank(E) for bases [Edmonds 1970]."""
    y = cp.Variable(space.dim, nonneg=True)
    constraints = []
    for size in range(1, space.dim + 1):
        for subset in itertools.combinations(range(space.dim), size):
            chosen = np.array(subset)
            constraints.append(cp.sum(y[chosen]) <= len(space.greedy(chosen)))
    if space.bases:
        constraints.append(cp.sum(y) == space.rank)
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(y - theta)), constraints).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-14, tol_gap_rel=1e-14, tol_feas=1e-12
    )
    return y.value


@pytest.mark.parametrize("bases", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda bases: GraphicMatroid(edges=[(0, 1), (1, 2), (2, 0), (2, 3), (0, 3), (3, 4)], bases=bases),
        lambda bases: LinearMatroid(
            np.random.default_rng(0).integers(-1, 2, (3, 7)).astype(float), bases=bases
        ),
        lambda bases: TransversalMatroid([[0, 1, 2], [2, 3], [3, 4, 5]], bases=bases),
        lambda bases: LaminarMatroid([range(6), range(3), [3, 4]], [3, 1, 1], bases=bases),
        lambda bases: PartitionMatroid([4, 2, 1], [2, 1, 1], bases=bases),
    ],
    ids=["graphic", "linear", "transversal", "laminar", "partition"],
)
def test_projections_solve_the_quadratic_program(make, bases):
    space = make(bases)
    rng = np.random.default_rng(1)
    for theta in rng.normal(size=(3, space.dim)):
        prediction = space.project(theta)
        assert prediction.point == pytest.approx(by_rank_inequalities(space, theta), abs=1e-7)


def test_trees_of_a_graph_with_120_edges_solve_the_extended_formulation():
    """The spanning-tree polytope with n³ variables: every root sees every edge point up or down."""
    nodes, m = 18, 120
    rng = np.random.default_rng(2)
    pairs = np.array(list(itertools.combinations(range(nodes), 2)))
    chosen = pairs[np.sort(rng.choice(len(pairs), m, replace=False))]
    space = GraphicMatroid(edges=chosen)
    theta = rng.normal(size=m)
    tails, heads = space.graph.tails, space.graph.heads
    count = len(space.graph.nodes)
    y = cp.Variable(m, nonneg=True)
    constraints = [cp.sum(y) == space.rank]
    for root in range(count):
        # [Martin 1991]: below any root, every other node has one parent at most.
        down, up = cp.Variable(m, nonneg=True), cp.Variable(m, nonneg=True)
        constraints.append(down + up == y)
        for node in range(count):
            incoming = cp.sum(down[heads == node]) + cp.sum(up[tails == node])
            constraints.append(incoming == 0 if node == root else incoming <= 1)
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(y - theta)), constraints).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-14, tol_gap_rel=1e-14, tol_feas=1e-12
    )
    assert space.project(theta).point == pytest.approx(y.value, abs=1e-7)
