"""Perfect matchings of a given graph: constants, dead edges, infeasible graphs, labels and predictions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import osp_core as osp
from osp_core.geometry.directions import discover_span
from osp_core.spaces import OutputSpace


def random_graph(n, density, seed):
    """A random Boolean matrix that has a perfect matching."""
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, n)) < density
    matrix[np.arange(n), rng.permutation(n)] = True
    return matrix


def all_matchings(matrix):
    n = len(matrix)
    chosen = [p for p in itertools.permutations(range(n)) if matrix[np.arange(n), p].all()]
    return np.array([np.eye(n)[list(p)][matrix] for p in chosen])


@settings(max_examples=30, derandomize=True, deadline=None)
@given(n=st.integers(1, 5), density=st.sampled_from([0.2, 0.5, 0.9]), seed=st.integers(0, 999))
def test_everything_agrees_with_enumeration(n, density, seed):
    matrix = random_graph(n, density, seed)
    space, vertices = osp.make_space("matching", graph=matrix), all_matchings(matrix)
    assert np.array_equal(np.unique(space.vertices(), axis=0), np.unique(vertices, axis=0))
    assert np.array_equal(space.live, vertices.any(axis=0))
    distances = [np.abs(a - b).sum() for a, b in itertools.combinations(vertices, 2)]
    assert min(distances, default=np.inf) >= space.nu1
    assert max(distances, default=0.0) <= space.diameter1
    cost = np.random.default_rng(seed).standard_normal(space.dim)
    assert space.lmo(cost) @ cost == pytest.approx((vertices @ cost).min(), abs=1e-12)
    span = discover_span(space.lmo, space.dim)
    assert np.abs(space.project_direction(cost) - span.project(cost)).max() <= 1e-12


@settings(max_examples=50, derandomize=True, deadline=None)
@given(
    n=st.integers(1, 12),
    density=st.sampled_from([0.15, 0.4, 0.9]),
    scale=st.sampled_from([1e-8, 1.0, 10.0, 1e3, 1e6, 1e8]),
    tied=st.booleans(),
    seed=st.integers(0, 999),
)
def test_predictions_are_feasible_and_certified_at_every_scale(n, density, scale, tied, seed):
    space = osp.make_space("matching", graph=random_graph(n, density, seed))
    rng = np.random.default_rng(seed)
    theta = scale * (rng.integers(0, 3, space.dim) if tied else rng.standard_normal(space.dim))
    for prediction, gradient_of in (
        (space.kl_project(theta), lambda y: np.log(np.where(space.live, y, 1.0)) - theta),
        (space.project(theta), lambda y: y - theta),
    ):
        point = prediction.point
        matrix = space.matrix(point)
        assert max(np.abs(matrix.sum(axis=axis) - 1).max() for axis in (0, 1)) <= 1e-13
        assert point.min() >= 0
        assert not point[~space.live].any()
        assert prediction.status == "optimal"
        gradient = gradient_of(point)
        costs = space.matrix(np.where(space.live, gradient, np.inf), np.inf)
        gap = (gradient * point)[space.live].sum() - costs[linear_sum_assignment(costs)].sum()
        assert gap <= prediction.gap + 1e-13 * n * (1 + np.abs(theta).max())


def test_projections_agree_with_the_engine():
    space = osp.make_space("matching", graph=random_graph(7, 0.4, 3))
    theta = np.random.default_rng(0).standard_normal(space.dim)
    engine = OutputSpace.project(space, np.where(space.live, theta, 0.0))
    assert np.abs(space.project(theta).point - engine.point).max() <= 1e-9


def test_a_complete_graph_is_the_birkhoff_polytope():
    matching = osp.make_space("matching", graph=np.ones((5, 5), dtype=bool))
    birkhoff = osp.make_space("birkhoff", n=5)
    theta = 3.0 * np.random.default_rng(0).standard_normal(25)
    for method in ("kl_project", "project"):
        points = [getattr(space, method)(theta).point for space in (matching, birkhoff)]
        assert np.abs(points[0] - points[1]).max() <= 1e-11
    assert np.array_equal(matching.lmo(theta), birkhoff.lmo(theta))


def test_edges_of_no_perfect_matching_stay_at_zero():
    graph = [("a", "x"), ("b", "x"), ("b", "y"), ("b", "z"), ("c", "y"), ("c", "z")]
    space = osp.make_space("matching", graph=graph)
    assert space.live.tolist() == [True, False, True, True, True, True]
    theta = np.array([0.0, 1e6, 0.0, 0.0, 0.0, 0.0])
    for psi in (osp.NegativeEntropy(), osp.SquaredNorm()):
        assert np.allclose(space.with_psi(psi).predict(theta).point, [1, 0, 0.5, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([(0, 0), (1, 0), (2, 1), (2, 2)], r"2 left nodes \{0, 1\} have only 1 neighbours, \{0\}"),
        ([(0, 0), (0, 1)], "1 left and 2 right nodes"),
        (np.array([[True, False], [True, False]]), "column 1 has no edge"),
        (np.array([[True, True], [False, False]]), "row 1 has no edge"),
        ([(0, 0), (0, 0)], "given twice"),
        ([], "at least one edge"),
        ("ab", "list of"),
        ([1, 2], "list of"),
        ([([0], 1)], "list of"),
        (np.full((3, 3), 2.0), "zeros and ones"),
        (5, "list of"),
    ],
)
def test_graphs_without_perfect_matchings_are_refused_with_the_reason(graph, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        osp.make_space("matching", graph=graph)


def test_labels_are_dicts_or_edges_written_from_either_end():
    space = osp.make_space("matching", graph=[("a", 1), ("a", 2), ("b", 1), ("b", 2)])
    vertex = space.from_label({"a": 2, "b": 1})
    assert vertex.tolist() == [0, 1, 1, 0]
    assert np.array_equal(space.from_label([("a", 2), (1, "b")]), vertex)
    assert np.array_equal(space.from_label(vertex), vertex)
    assert space.to_label(vertex) == {"a": 2, "b": 1}
    for wrong in ({"a": 1, "b": 1}, {"a": 3, "b": 1}, {"a": 1}, [("a", 1), ("a", 2)], "ab", [1, 2], 4):
        with pytest.raises(osp.NotAVertexError):
            space.from_label(wrong)


def test_both_sides_may_share_their_names():
    space = osp.make_space("matching", graph=[(0, 0), (0, 1), (1, 0), (1, 1)])
    assert space.to_label(space.lmo(np.array([1.0, 0.0, 0.0, 1.0]))) == {0: 1, 1: 0}


def test_sparse_matrices_are_read_like_boolean_ones():
    from scipy.sparse import csr_array

    matrix = random_graph(6, 0.4, 0)
    assert osp.make_space("matching", graph=csr_array(matrix)).dim == matrix.sum()


def test_decompositions_and_samples_stay_in_the_graph():
    matrix = random_graph(8, 0.4, 5)
    space = osp.make_space("matching", graph=matrix)
    point = space.predict(np.random.default_rng(0).standard_normal(space.dim)).point
    mixture = space.decompose(point)
    assert np.abs(mixture.mean - point).max() <= 1e-12
    assert all(space.is_vertex(vertex) for vertex in mixture.vertices)
    assert len(mixture) <= space.live.sum() - 2 * 8 + 2 + 8
    assert space.is_vertex(space.sample_vertex(point, np.random.default_rng(0)))
