"""The networkx back end gives the answers of the scipy back end; graphs may come from networkx."""

import copy

import networkx as nx
import numpy as np
import pytest

import osp_core as osp

GRAPH = [(i, j) for i in range(5) for j in range(5) if abs(i - j) <= 1]


@pytest.mark.parametrize(
    ("name", "params"),
    [("birkhoff", {"n": 6}), ("assignment", {"m": 3, "n": 5}), ("matching", {"graph": GRAPH})],
)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_both_back_ends_agree(name, params, scale):
    rng = np.random.default_rng(0)
    ours, theirs = (osp.make_space(name, **params, backend=backend) for backend in ("scipy", "networkx"))
    for _ in range(10):
        cost = scale * rng.standard_normal(ours.dim)
        assert np.array_equal(ours.lmo(cost), theirs.lmo(cost))
    assert np.array_equal(ours.lmo_many(np.eye(ours.dim)), theirs.lmo_many(np.eye(ours.dim)))


def test_both_back_ends_break_ties_alike():
    rng = np.random.default_rng(0)
    ours, theirs = (osp.make_space("birkhoff", n=7, backend=backend) for backend in ("scipy", "networkx"))
    for _ in range(20):
        cost = rng.integers(0, 2, 49).astype(float)
        assert np.array_equal(ours.lmo(cost), theirs.lmo(cost))


def test_the_graph_is_built_once_and_reweighted():
    space = osp.make_space("birkhoff", n=4, backend="networkx")
    graph = space._oracle.graph
    space.lmo(np.arange(16.0))
    space.lmo(-np.arange(16.0))
    assert space._oracle.graph is graph
    assert graph.edges[0, 5]["weight"] == -1.0


def test_a_deep_copy_has_a_graph_of_its_own():
    space = osp.make_space("birkhoff", n=3, backend="networkx")
    twin = copy.deepcopy(space)
    cost = np.array([5.0, 1, 9, 2, 7, 3, 8, 6, 4])
    assert np.array_equal(twin.lmo(cost), space.lmo(cost))
    assert np.array_equal(twin.lmo(-cost), osp.make_space("birkhoff", n=3).lmo(-cost))
    assert space._oracle.graph.edges[0, 3]["weight"] == 5.0


def test_decoding_does_not_depend_on_the_back_end():
    theta = np.random.default_rng(1).standard_normal(25)
    plays = [
        osp.RandomizedDecoder(osp.make_space("birkhoff", n=5, backend=backend)).decode(
            theta, np.random.default_rng(3)
        )
        for backend in ("scipy", "networkx")
    ]
    assert np.array_equal(*plays)


def test_a_networkx_graph_gives_its_sides_by_attribute_or_colouring():
    marked = nx.Graph()
    marked.add_nodes_from(["x", "y"], bipartite=1)
    marked.add_nodes_from(["a", "b"], bipartite=0)
    marked.add_edges_from([("x", "a"), ("y", "a"), ("x", "b"), ("y", "b")])
    space = osp.make_space("matching", graph=marked)
    assert set(space.left) == {"a", "b"}
    path = osp.make_space("matching", graph=nx.path_graph(6))
    assert path.to_label(path.vertices()[0]) == {0: 1, 2: 3, 4: 5}
    assert len(path.vertices()) == 1
    even_cycle = osp.make_space("matching", graph=nx.cycle_graph(8))
    assert len(even_cycle.vertices()) == 2
    assert even_cycle.diameter1 == 8.0


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.cycle_graph(5), "not bipartite"),
        (nx.path_graph(3), "no perfect matching|left and"),
        (nx.empty_graph(4), "no neighbour"),
        (nx.star_graph(3), "no perfect matching"),
    ],
)
def test_unsuitable_networkx_graphs_are_refused(graph, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        osp.make_space("matching", graph=graph)


def test_a_disconnected_graph_is_a_product_of_its_parts():
    space = osp.make_space("matching", graph=nx.disjoint_union(nx.cycle_graph(4), nx.cycle_graph(6)))
    assert len(space.vertices()) == 4
    prediction = space.predict(np.zeros(space.dim))
    assert np.allclose(prediction.point, 0.5)
