"""Spanning trees of a complete graph on 200 nodes: 19 900 coordinates, compact atoms."""

import numpy as np
from scipy.sparse import coo_matrix, issparse
from scipy.sparse.csgraph import minimum_spanning_tree

from osp_core.frank_wolfe import Quadratic, Status, minimize

NODES = 200


def cheapest_tree(cost):
    rows, columns = np.triu_indices(NODES, 1)
    positive = cost - cost.min() + 1.0  # scipy takes zero entries for missing edges
    tree = minimum_spanning_tree(
        coo_matrix((positive, (rows, columns)), shape=(NODES, NODES)).tocsr()
    ).tocoo()
    low, high = np.minimum(tree.row, tree.col).astype(int), np.maximum(tree.row, tree.col).astype(int)
    vertex = np.zeros(rows.size)
    vertex[low * NODES - low * (low + 1) // 2 + high - low - 1] = 1.0
    return vertex


def test_a_large_spanning_tree_problem_is_solved_with_compact_atoms(fw):
    centre = np.random.default_rng(0).normal(size=NODES * (NODES - 1) // 2)
    result = minimize(cheapest_tree, Quadratic(centre), tol=1e-8)
    assert result.status is Status.OPTIMAL
    assert result.gap <= 1e-6
    assert result.lmo_calls < 1500
    atoms = result.combination.atoms
    assert issparse(atoms)
    assert atoms.nnz == (NODES - 1) * len(result.combination)
    assert np.abs(result.combination.mean - result.point).max() <= 1e-10
