"""Spanning trees through networkx: its graphs as input, its algorithm as a back end."""

import networkx as nx
import numpy as np
import pytest
from osp_matroids.graphs.space import GraphicMatroid

import osp_core as osp
from osp_core.errors import InvalidInputError
from osp_core.testing import check_space


def random_multigraph(seed):
    rng = np.random.default_rng(seed)
    nodes, m = int(rng.integers(2, 8)), int(rng.integers(1, 20))
    return [tuple(map(int, edge)) for edge in rng.integers(0, nodes, (m, 2))]


@pytest.mark.parametrize("bases", [True, False])
def test_both_back_ends_return_the_same_forest_ties_included(bases):
    for seed in range(30):
        edges = random_multigraph(seed)
        native = GraphicMatroid(edges=edges, bases=bases)
        other = GraphicMatroid(edges=edges, bases=bases, backend="networkx")
        costs = np.random.default_rng(seed).integers(-2, 3, (5, native.dim)).astype(float)
        assert np.array_equal(native.lmo_many(costs), other.lmo_many(costs))
        assert np.array_equal(native.lmo_many(costs), [other.lmo(cost) for cost in costs])


def test_the_native_oracle_finds_trees_as_cheap_as_networkx_does():
    rng = np.random.default_rng(0)
    graph = nx.gnm_random_graph(30, 90, seed=1)
    space = GraphicMatroid(graph)
    for _ in range(10):
        cost = rng.normal(size=space.dim)
        for (u, v), value in zip(space.elements, cost, strict=True):
            graph[u][v]["weight"] = value
        assert space.lmo(cost) @ cost == pytest.approx(nx.minimum_spanning_tree(graph).size("weight"))


@pytest.mark.parametrize(
    "graph",
    [
        nx.complete_graph(4),
        nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2)]),
        nx.disjoint_union(nx.cycle_graph(3), nx.path_graph(2)),
    ],
    ids=["complete", "multigraph", "disconnected"],
)
def test_the_networkx_back_end_passes_the_conformance_kit(graph):
    check_space(GraphicMatroid(graph, backend="networkx"))


def test_nodes_and_edges_keep_the_names_of_the_graph():
    space = GraphicMatroid(nx.florentine_families_graph())
    tree = space.to_label(space.lmo(np.zeros(space.dim)))
    assert nx.is_tree(nx.Graph(tree))
    assert space.rank == 14
    assert np.array_equal(space.from_label(tree), space.lmo(np.zeros(space.dim)))


def test_keys_of_a_multigraph_name_its_parallel_edges():
    graph = nx.MultiGraph()
    graph.add_edge("x", "y", key="road")
    graph.add_edge("x", "y", key="rail")
    space = osp.make_space("graphic_matroid", graph=graph)
    assert space.to_label(space.from_label([("y", "x", "rail")])) == {("x", "y", "rail")}


def test_a_directed_graph_is_refused():
    with pytest.raises(InvalidInputError, match="directed"):
        GraphicMatroid(nx.DiGraph([(0, 1)]))


def test_a_graph_without_edges_is_refused():
    with pytest.raises(InvalidInputError, match="no edges"):
        GraphicMatroid(nx.empty_graph(3))


def test_blocks_are_the_biconnected_components_of_networkx():
    for seed in range(30):
        graph = nx.gnm_random_graph(9, 11, seed=seed)
        space = GraphicMatroid(graph)
        ours = {
            frozenset(frozenset(space.elements[i]) for i in np.flatnonzero(space.component_labels == label))
            for label in set(space.component_labels.tolist())
        }
        theirs = {
            frozenset(frozenset(edge) for edge in block) for block in nx.biconnected_component_edges(graph)
        }
        assert ours == theirs


def test_the_number_of_trees_is_that_of_networkx():
    graph = nx.petersen_graph()
    count = nx.number_of_spanning_trees(graph)
    assert GraphicMatroid(graph).log_partition(np.zeros(15)) == pytest.approx(np.log(count), rel=1e-12)
