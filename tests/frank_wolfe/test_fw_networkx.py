"""The default method with networkx as the oracle for spanning trees."""

import networkx
import numpy as np
import pytest

from osp_core.frank_wolfe import Quadratic, Status, minimize


@pytest.mark.parametrize("scale", [1e-3, 0.3, 1e3])
def test_spanning_tree_projections_agree_between_two_oracles(fw, scale):
    graph = networkx.karate_club_graph()
    edges = list(graph.edges())
    position = {edge: index for index, edge in enumerate(edges)}

    def networkx_tree(cost):
        for edge, weight in zip(edges, cost, strict=True):
            graph.edges[edge]["weight"] = weight
        vertex = np.zeros(len(edges))
        for u, v in networkx.minimum_spanning_edges(graph, data=False):
            vertex[position[(u, v) if (u, v) in position else (v, u)]] = 1.0
        return vertex

    centre = scale * np.random.default_rng(0).normal(size=len(edges))
    reference = minimize(networkx_tree, Quadratic(centre))
    result = minimize(fw.spanning_trees(graph.number_of_nodes(), edges), Quadratic(centre))
    fw.check_result(result)
    assert result.status is reference.status is Status.OPTIMAL
    assert np.abs(result.point - reference.point).max() < 1e-6
