"""Spanning trees: input formats, oracles, marginals, large graphs."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from osp_matroids.graphs.blocks import block_labels
from osp_matroids.graphs.kernels_numpy import effective_conductances
from osp_matroids.graphs.oracles import DensePrim, Kruskal
from osp_matroids.graphs.space import GraphicMatroid

import osp_core as osp
from osp_core import kernels
from osp_core.errors import InvalidInputError, NotAVertexError, UnsupportedError
from osp_core.frank_wolfe import Status
from osp_core.regularizers import BinaryEntropy, GibbsEntropy

TRIANGLE = [("a", "b"), ("b", "c"), ("a", "c")]


def random_edges(rng, nodes, m):
    return [tuple(map(int, edge)) for edge in rng.integers(0, nodes, (m, 2))]


def exact_marginals(space, theta):
    """P(e ∈ T) and log Z by listing all trees."""
    trees = space.vertices()
    scores = trees @ theta
    weights = np.exp(scores - scores.max())
    return weights @ trees / weights.sum(), scores.max() + np.log(weights.sum())


class TestInput:
    def test_edges_an_adjacency_matrix_and_a_number_of_nodes_describe_the_same_graph(self):
        complete = GraphicMatroid(4)
        matrix = GraphicMatroid(1 - np.eye(4))
        listed = GraphicMatroid(edges=complete.elements)
        assert complete.elements == matrix.elements == listed.elements
        cost = np.random.default_rng(0).normal(size=6)
        assert np.array_equal(complete.lmo(cost), matrix.lmo(cost))
        assert np.array_equal(complete.lmo(cost), listed.lmo(cost))

    def test_the_registry_makes_it(self):
        space = osp.make_space("graphic_matroid", graph=[["x", "y"], ["y", "z"]])
        assert space.elements == [("x", "y"), ("y", "z")]

    def test_parallel_edges_get_keys_and_single_edges_do_not(self):
        space = GraphicMatroid(edges=[(0, 1), (1, 0), (1, 2), (0, 1, "fast")])
        assert space.elements == [(0, 1, 0), (1, 0, 1), (1, 2), (0, 1, "fast")]

    def test_keys_that_are_given_are_not_given_again(self):
        assert GraphicMatroid(edges=[(0, 1, 0), (0, 1)]).elements == [(0, 1, 0), (0, 1, 1)]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "either graph or edges"),
            ({"graph": 3, "edges": [(0, 1)]}, "either graph or edges"),
            ({"edges": []}, "no edges"),
            ({"graph": np.zeros((3, 3))}, "no edges"),
            ({"graph": 1}, "at least 2"),
            ({"graph": np.ones((2, 3))}, "square"),
            ({"graph": np.triu(np.ones((3, 3)))}, "symmetric"),
            ({"graph": "abc"}, "networkx graph"),
            ({"edges": [(0, 1, 2, 3)]}, "pair of nodes"),
            ({"edges": ["ab"]}, "pair of nodes"),
            ({"edges": [([0], 1)]}, "hashable"),
            ({"edges": [(0, 1, "k"), (1, 0, "k")]}, "distinct|twice"),
            ({"graph": 3, "backend": "boost"}, "backend"),
            ({"graph": 3, "bases": "yes"}, "bases"),
        ],
    )
    def test_bad_graphs_are_refused_with_a_reason(self, arguments, message):
        with pytest.raises(InvalidInputError, match=message):
            GraphicMatroid(**arguments)


class TestLabels:
    def test_an_edge_may_be_written_in_either_direction(self):
        space = GraphicMatroid(edges=TRIANGLE)
        assert space.from_label({("b", "a"), ("c", "b")}).tolist() == [1, 1, 0]
        assert space.from_label([["a", "c"], ["b", "c"]]).tolist() == [0, 1, 1]
        assert space.to_label(np.array([1.0, 0, 1])) == {("a", "b"), ("a", "c")}

    def test_an_array_of_pairs_is_a_list_of_edges(self):
        assert GraphicMatroid(3).from_label(np.array([[0, 1], [2, 1]])).tolist() == [1, 0, 1]

    def test_parallel_edges_need_their_key(self):
        space = GraphicMatroid(edges=[(0, 1), (0, 1)])
        assert space.from_label([(1, 0, 1)]).tolist() == [0, 1]
        with pytest.raises(NotAVertexError, match="parallel"):
            space.from_label([(0, 1)])

    @pytest.mark.parametrize(
        ("label", "message"),
        [
            (TRIANGLE, "not independent"),
            ([("a", "b")], "has 1 elements"),
            ([("a", "b"), ("b", "a")], "twice"),
            ([("a", "z")], "not an edge"),
            ([("a", "b", "c", "d")], "not an edge"),
            ([([], "b")], "not an edge"),
            (["ab"], "not an edge"),
            ("ab", "set of elements"),
            (7, "set of elements"),
        ],
    )
    def test_what_is_no_tree_is_refused_with_a_reason(self, label, message):
        with pytest.raises(NotAVertexError, match=message):
            GraphicMatroid(edges=TRIANGLE).from_label(label)


class TestOracle:
    def test_prim_serves_dense_simple_graphs_and_kruskal_the_others(self):
        path = [(i, i + 1) for i in range(99)]
        assert isinstance(GraphicMatroid(9)._oracle, DensePrim)
        assert isinstance(GraphicMatroid(edges=path)._oracle, Kruskal)
        assert isinstance(GraphicMatroid(edges=[(0, 1), (0, 1)])._oracle, Kruskal)
        assert isinstance(GraphicMatroid(edges=[(0, 1), (1, 1)])._oracle, Kruskal)

    @settings(derandomize=True, max_examples=60, deadline=None)
    @given(
        nodes=st.integers(2, 12),
        density=st.floats(0.2, 1.0),
        levels=st.integers(1, 4),
        exponent=st.integers(-8, 8),
        seed=st.integers(0, 10**6),
    )
    def test_prim_and_kruskal_return_the_same_forest_ties_included(
        self, nodes, density, levels, exponent, seed
    ):
        rng = np.random.default_rng(seed)
        pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes) if rng.random() < density]
        space = GraphicMatroid(edges=[*pairs, (nodes, nodes + 1)])
        prim, kruskal = DensePrim(space.graph), Kruskal(space.graph)
        costs = 10.0**exponent * rng.integers(-levels, levels + 1, (4, space.dim))
        for cost in costs:
            assert np.array_equal(prim.forest(cost), kruskal.forest(cost))
        assert np.array_equal(prim.forests(costs), kruskal.forests(costs))

    def test_costs_of_another_type_or_layout_are_accepted(self):
        space = GraphicMatroid(4)
        cost = np.array([3, 1, 2, 5, 4, 0])
        expected = space.lmo(cost.astype(float))
        assert np.array_equal(space.lmo(cost), expected)
        assert np.array_equal(space.lmo(cost.tolist()), expected)
        assert np.array_equal(space.lmo(cost.astype(np.float32)), expected)
        assert np.array_equal(space.lmo(np.repeat(cost.astype(float), 2)[::2]), expected)
        read_only = cost.astype(float)
        read_only.setflags(write=False)
        assert np.array_equal(space.lmo(read_only), expected)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("space", [GraphicMatroid(4), GraphicMatroid(edges=[(0, 1), (0, 1)])])
    def test_costs_that_are_not_finite_are_refused(self, space, bad):
        for position in range(space.dim):
            cost = np.zeros(space.dim)
            cost[position] = bad
            with pytest.raises(InvalidInputError, match="finite"):
                space.lmo(cost)

    @pytest.mark.parametrize("cost", [np.zeros(5), np.zeros((2, 3)), "abcdef", np.zeros((1, 6))])
    def test_costs_of_another_shape_are_refused(self, cost):
        with pytest.raises(InvalidInputError, match="cost"):
            GraphicMatroid(4).lmo(cost)

    def test_a_disconnected_graph_gives_a_spanning_forest(self):
        space = GraphicMatroid(edges=[(0, 1), (1, 2), (0, 2), (3, 4)])
        assert space.rank == 3
        assert space.lmo(np.array([1.0, 2.0, 3.0, 9.0])).tolist() == [1, 1, 0, 1]

    def test_forests_take_negative_costs_only(self):
        space = GraphicMatroid(3, bases=False)
        assert space.lmo(np.array([-1.0, 0.0, -0.0])).tolist() == [1, 0, 0]
        assert space.lmo(np.array([-1.0, -2.0, -3.0])).tolist() == [0, 1, 1]


class TestBlocks:
    def test_blocks_meet_in_cut_nodes_only(self):
        # Two triangles that share node 2, a bridge to 5, a loop there and a pair of parallel edges.
        edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 2), (4, 5), (5, 5), (5, 6), (6, 5)]
        labels = GraphicMatroid(edges=edges).component_labels
        groups = [labels[:3], labels[3:6], labels[6:7], labels[7:8], labels[8:]]
        assert all(len(set(group)) == 1 for group in groups)
        assert len(set(labels)) == 5

    def test_a_long_path_does_not_exhaust_the_stack(self):
        n = 20_000
        labels = block_labels(np.arange(n - 1), np.arange(1, n), n)
        assert len(set(labels.tolist())) == n - 1

    def test_a_long_cycle_is_one_block(self):
        n = 20_000
        assert not block_labels(np.arange(n), (np.arange(n) + 1) % n, n).any()


class TestGibbs:
    @settings(derandomize=True, max_examples=60, deadline=None)
    @given(
        nodes=st.integers(2, 5),
        m=st.integers(1, 8),
        exponent=st.integers(-8, 8),
        seed=st.integers(0, 10**6),
    )
    def test_marginals_and_log_partition_agree_with_the_list_of_all_trees(self, nodes, m, exponent, seed):
        rng = np.random.default_rng(seed)
        space = GraphicMatroid(edges=random_edges(rng, nodes, m))
        theta = 10.0**exponent * rng.normal(size=m)
        marginals, log_z = exact_marginals(space, theta)
        size = 1.0 + np.abs(theta).max()
        assert space.marginals(theta) == pytest.approx(marginals, abs=1e-14 * size)
        assert space.log_partition(theta) == pytest.approx(log_z, rel=1e-12, abs=1e-14 * size)

    @pytest.mark.parametrize("scale", [1.0, 1e2, 1e3, 1e4])
    def test_marginals_of_a_larger_graph_are_feasible_at_every_scale(self, scale):
        space = GraphicMatroid(40)
        theta = scale * np.random.default_rng(0).normal(size=space.dim)
        marginals = space.marginals(theta)
        assert (marginals >= 0).all()
        assert (marginals <= 1).all()
        assert marginals.sum() == pytest.approx(39, abs=1e-13 * scale + 1e-12)

    @pytest.mark.parametrize("scale", [1.0, 10.0])
    def test_marginals_are_the_gradient_of_the_log_partition_function(self, scale):
        space = GraphicMatroid(9)
        theta = scale * np.random.default_rng(1).normal(size=space.dim)
        step = 1e-4
        slopes = [
            (space.log_partition(theta + step * axis) - space.log_partition(theta - step * axis)) / (2 * step)
            for axis in np.eye(space.dim)
        ]
        assert space.marginals(theta) == pytest.approx(slopes, abs=1e-7)

    def test_cayley_counts_the_trees_of_a_complete_graph(self):
        for n in (2, 5, 20, 60):
            assert GraphicMatroid(n).log_partition(np.zeros(n * (n - 1) // 2)) == pytest.approx(
                (n - 2) * np.log(n), rel=1e-13, abs=1e-13
            )

    def test_tiny_probabilities_keep_their_digits(self):
        # One heavy cycle of three; the fourth node hangs on two edges whose odds are e^−700.
        space = GraphicMatroid(edges=[(0, 1), (1, 2), (2, 0), (2, 3), (3, 1)])
        marginals = space.marginals(np.array([5.0, 5.0, 5.0, 0.0, -700.0]))
        assert marginals[4] == pytest.approx(np.exp(-700.0), rel=1e-11)

    def test_shifting_all_scores_changes_nothing(self):
        space = GraphicMatroid(6)
        theta = np.random.default_rng(2).normal(size=15)
        assert space.marginals(theta + 1e6) == pytest.approx(space.marginals(theta), abs=1e-9)

    @pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 9, 16, 17])
    def test_effective_conductances_agree_with_the_pseudo_inverse_of_the_laplacian(self, n):
        conductance = np.random.default_rng(n).uniform(0.5, 2.0, (n, n))
        conductance = np.triu(conductance, 1) + np.triu(conductance, 1).T
        laplacian = np.diag(conductance.sum(axis=1)) - conductance
        inverse = np.linalg.pinv(laplacian)
        resistance = np.diag(inverse)[:, np.newaxis] + np.diag(inverse) - 2 * inverse
        with np.errstate(divide="ignore"):
            effective = effective_conductances(np.log(conductance))
        off = ~np.eye(n, dtype=bool)
        assert np.exp(effective)[off] == pytest.approx(1 / resistance[off], rel=1e-10)

    def test_forests_are_counted_by_enumeration_or_refused(self):
        small = GraphicMatroid(3, bases=False, psi=GibbsEntropy(1.0))
        assert small.predict(np.zeros(3)).point == pytest.approx([3 / 7] * 3)
        with pytest.raises(UnsupportedError, match="SquaredNorm"):
            GraphicMatroid(8, bases=False, psi=GibbsEntropy(1.0)).predict(np.zeros(28))

    def test_the_binary_entropy_has_no_method_and_is_refused(self):
        with pytest.raises(UnsupportedError, match="SquaredNorm"):
            GraphicMatroid(4, psi=BinaryEntropy(1.0)).predict(np.zeros(6))


class TestPredictions:
    def test_a_random_tree_has_the_prediction_as_its_mean(self):
        space = GraphicMatroid(6)
        theta = np.random.default_rng(3).normal(size=space.dim)
        prediction = space.predict(theta)
        assert prediction.combination.mean == pytest.approx(prediction.point, abs=1e-12)
        rng = np.random.default_rng(4)
        draws = np.array([prediction.combination.sample(rng) for _ in range(4000)])
        error = np.sqrt(prediction.point * (1 - prediction.point) / 4000)
        assert (np.abs(draws.mean(axis=0) - prediction.point) <= 4 * error + 1e-12).all()

    def test_gibbs_marginals_are_decomposed_into_trees(self):
        space = GraphicMatroid(5, psi=GibbsEntropy(1.0))
        point = space.predict(np.random.default_rng(5).normal(size=10)).point
        combination = space.decompose(point)
        assert all(space.is_vertex(tree) for tree in combination.vertices)
        assert combination.mean == pytest.approx(point, abs=1e-10)

    def test_trees_of_200_nodes_are_predicted_with_few_oracle_calls_in_500_megabytes(self):
        space = GraphicMatroid(200)
        theta = np.random.default_rng(6).normal(size=19_900)
        space.lmo(theta)
        tracemalloc.start()
        prediction = space.predict(theta)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert prediction.status is Status.OPTIMAL
        assert prediction.gap <= 1e-6
        assert prediction.lmo_calls < 600
        assert peak < 500e6
        law = osp.RandomizedDecoder(space).law(prediction)
        assert space.is_vertex(law.sample(np.random.default_rng(7)))

    def test_a_round_of_learning_runs_on_trees(self):
        space = GraphicMatroid(4)
        predictor = osp.OnlinePredictor(space, 3, seed=0)
        tree = {(0, 1), (1, 2), (2, 3)}
        for _ in range(30):
            predictor.step(np.array([1.0, 0.0, 0.0]), tree)
        assert predictor.predict(np.array([1.0, 0.0, 0.0])) == tree


def test_the_graph_may_change_from_round_to_round():
    space = GraphicMatroid(4, psi=GibbsEntropy(2.0), norm=1)
    assert space.at(None) is space
    other = space.at([("a", "b"), ("b", "c"), ("c", "a")])
    assert (other.dim, other.psi, other.norm) == (3, GibbsEntropy(2.0), 1.0)


@pytest.mark.parametrize("space", [GraphicMatroid(4), GraphicMatroid(edges=[(0, 1), (0, 1)])])
def test_spaces_can_be_copied_and_sent_to_other_processes(space):
    cost = np.arange(space.dim, dtype=float)
    for twin in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert np.array_equal(twin.lmo(cost), space.lmo(cost))


def test_the_numpy_kernels_give_a_space_with_the_same_answers():
    rng = np.random.default_rng(8)
    fast = GraphicMatroid(7)
    with kernels.use("numpy"):
        slow = GraphicMatroid(7)
        costs = rng.integers(-2, 3, (20, 21)).astype(float)
        assert np.array_equal(slow.lmo_many(costs), [slow.lmo(cost) for cost in costs])
        answers = slow.lmo_many(costs)
    assert np.array_equal(fast.lmo_many(costs), answers)
