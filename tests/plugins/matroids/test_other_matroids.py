"""Linear, transversal, laminar and oracle matroids: input, degenerate cases, the checker, components."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from osp_matroids.graphs.space import GraphicMatroid
from osp_matroids.laminar import LaminarMatroid
from osp_matroids.linear import LinearMatroid
from osp_matroids.oracle import Matroid, Violation, check_matroid, find_violation
from osp_matroids.partition import PartitionMatroid
from osp_matroids.transversal import TransversalMatroid

import osp_core as osp
from osp_core.errors import InvalidInputError, NotAVertexError, UnsupportedError
from osp_core.regularizers import GibbsEntropy


class TestLinear:
    def test_the_incidence_matrix_of_a_graph_gives_its_trees(self):
        graph = GraphicMatroid(5)
        incidence = np.zeros((5, 10))
        incidence[graph.graph.tails, np.arange(10)] = 1.0
        incidence[graph.graph.heads, np.arange(10)] = -1.0
        linear = LinearMatroid(incidence, elements=graph.elements)
        costs = np.random.default_rng(0).integers(-3, 4, (30, 10)).astype(float)
        assert np.array_equal(linear.lmo_many(costs), graph.lmo_many(costs))
        assert np.array_equal(linear.component_labels, graph.component_labels)

    @settings(derandomize=True, max_examples=40, deadline=None)
    @given(exponent=st.integers(-100, 100), seed=st.integers(0, 10**6))
    def test_the_length_of_columns_does_not_matter(self, exponent, seed):
        rng = np.random.default_rng(seed)
        matrix = rng.integers(-1, 2, (3, 6)).astype(float)
        lengths = 10.0 ** rng.uniform(-abs(exponent), abs(exponent), 6)
        assert np.array_equal(LinearMatroid(matrix).vertices(), LinearMatroid(matrix * lengths).vertices())

    def test_what_is_left_below_the_tolerance_counts_as_nothing(self):
        nearly = np.array([[1.0, 1.0], [0.0, 1e-6]])
        assert LinearMatroid(nearly).rank == 2
        assert LinearMatroid(nearly, tolerance=1e-5).rank == 1

    def test_a_basis_of_many_columns_has_full_rank(self):
        matrix = np.random.default_rng(1).normal(size=(60, 300))
        space = LinearMatroid(matrix)
        basis = space.lmo(np.random.default_rng(2).normal(size=300)) > 0
        assert basis.sum() == 60
        assert np.linalg.matrix_rank(matrix[:, basis]) == 60

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"matrix": [1.0, 2.0]}, "must be a matrix"),
            ({"matrix": np.zeros((2, 0))}, "at least one column"),
            ({"matrix": [[np.nan]]}, "finite"),
            ({"matrix": [["a"]]}, "numbers"),
            ({"matrix": [[1.0, 2.0]], "elements": ["x"]}, "2 columns"),
            ({"matrix": [[1.0, 2.0]], "elements": ["x", "x"]}, "distinct"),
            ({"matrix": [[1.0]], "tolerance": 0.0}, "tolerance"),
        ],
    )
    def test_bad_input_is_refused_with_a_reason(self, arguments, message):
        with pytest.raises(InvalidInputError, match=message):
            LinearMatroid(**arguments)


class TestTransversal:
    def test_partition_matroids_are_transversal(self):
        transversal = TransversalMatroid([["a", "b", "c"]] * 2 + [["d", "e"]])
        partition = PartitionMatroid([["a", "b", "c"], ["d", "e"]], [2, 1])
        assert np.array_equal(transversal.vertices(), partition.vertices())

    def test_long_augmenting_paths_are_found(self):
        # Element i fits sets i − 1 and i: to place the last, all the others have to move.
        n = 300
        sets = [[i, i + 1] for i in range(n)]
        space = TransversalMatroid(sets)
        assert space.rank == n
        order = np.arange(n, -1, -1)
        assert len(space.greedy(order)) == n

    def test_an_element_of_no_set_is_a_loop(self):
        space = TransversalMatroid([["a"]], elements=["a", "b"])
        assert space.lmo(np.array([0.0, -9.0])).tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("sets", "message"),
        [
            ([], "at least one element"),
            ([[]], "at least one element"),
            (3, "collection"),
            ([3], "collection"),
        ],
    )
    def test_bad_input_is_refused_with_a_reason(self, sets, message):
        with pytest.raises(InvalidInputError, match=message):
            TransversalMatroid(sets)


class TestLaminar:
    def test_sets_that_overlap_are_refused_and_named(self):
        with pytest.raises(InvalidInputError, match=r"\['a', 'b'\] and \['b', 'c'\]"):
            LaminarMatroid([["a", "b"], ["b", "c"]], 1)

    @settings(derandomize=True, max_examples=80, deadline=None)
    @given(st.lists(st.frozensets(st.integers(0, 4)), max_size=5))
    def test_a_family_is_accepted_exactly_if_its_sets_are_nested_or_disjoint(self, family):
        laminar = all(not a & b or a <= b or b <= a for a, b in itertools.combinations(family, 2))
        if laminar:
            LaminarMatroid(family, 1, elements=range(5))
        else:
            with pytest.raises(InvalidInputError, match="not laminar"):
                LaminarMatroid(family, 1, elements=range(5))

    def test_equal_sets_obey_the_smaller_capacity(self):
        assert LaminarMatroid([[0, 1, 2], [0, 1, 2]], [2, 1]).rank == 1

    def test_elements_of_no_set_are_free(self):
        space = LaminarMatroid([[0, 1]], 1, elements=range(4))
        assert space.rank == 3
        assert space.component_labels.tolist() == [0, 0, 1, 2]


class TestOracle:
    def test_the_checker_accepts_matroids(self):
        for space in Matroid.examples():
            assert find_violation(space.elements, space._independent) is None

    def test_a_missing_subset_is_found(self):
        family = [frozenset(), frozenset("a"), frozenset("ab")]
        violation = find_violation("ab", family.__contains__)
        assert violation == Violation("hereditary", frozenset("ab"), frozenset("b"))
        with pytest.raises(InvalidInputError, match=r"\{'a', 'b'\} is independent, but its subset \{'b'\}"):
            check_matroid("ab", family.__contains__)

    def test_a_missing_exchange_is_found(self):
        family = [frozenset(x) for x in ("", "a", "b", "c", "bc")]
        violation = find_violation("abc", family.__contains__)
        assert violation == Violation("exchange", frozenset("bc"), frozenset("a"))
        assert "no element of {'b', 'c'} can be added to {'a'}" in str(violation)

    def test_a_family_without_the_empty_set_is_refused(self):
        with pytest.raises(InvalidInputError, match="empty set"):
            Matroid("ab", lambda chosen: len(chosen) == 1)

    @settings(derandomize=True, max_examples=150, deadline=None)
    @given(st.sets(st.frozensets(st.integers(0, 3)), max_size=16))
    def test_the_checker_agrees_with_the_axioms_in_full(self, sets):
        family = {frozenset(subset) for s in sets for subset in _subsets(s)} | {frozenset()}
        exchange = all(
            any(a | {x} in family for x in b - a) for a in family for b in family if len(a) < len(b)
        )
        violation = find_violation(range(4), family.__contains__)
        assert (violation is None) == exchange
        if violation is not None:
            assert violation.axiom == "exchange"
            assert {violation.smaller, violation.larger} <= family
            assert len(violation.smaller) < len(violation.larger)
            assert not any(violation.smaller | {x} in family for x in violation.larger - violation.smaller)

    def test_large_ground_sets_are_not_checked_unless_they_can_be(self):
        assert Matroid(range(30), lambda chosen: len(chosen) <= 2).rank == 2
        with pytest.raises(InvalidInputError, match="2\\^30"):
            check_matroid(range(30), lambda chosen: True)

    def test_what_is_no_function_is_refused(self):
        with pytest.raises(InvalidInputError, match="function"):
            Matroid("ab", {"a"})

    def test_elements_must_be_distinct_and_hashable(self):
        with pytest.raises(InvalidInputError, match="'a' is given twice"):
            Matroid("aa", lambda chosen: True)
        with pytest.raises(InvalidInputError, match="hashable"):
            Matroid([["a"]], lambda chosen: True)
        with pytest.raises(InvalidInputError, match="at least one element"):
            Matroid([], lambda chosen: True)


class TestShared:
    def test_the_registry_makes_every_matroid(self):
        assert osp.make_space("linear_matroid", matrix=[[1.0, 1.0]]).rank == 1
        assert osp.make_space("transversal_matroid", sets=[["a", "b"]]).rank == 1
        assert osp.make_space("laminar_matroid", family=[["a", "b"]], capacities=1).rank == 1
        assert osp.make_space("partition_matroid", blocks=[2, 2], capacities=1).rank == 2
        assert osp.make_space("matroid", ground="abc", independent=lambda s: len(s) < 3).rank == 2
        assert osp.make_space("k_subsets", d=4, k=2).max_mass == 2

    def test_marginals_without_an_algorithm_are_refused_where_enumeration_ends(self):
        space = LinearMatroid(np.random.default_rng(0).normal(size=(10, 40)), psi=GibbsEntropy(1.0))
        with pytest.raises(UnsupportedError, match="SquaredNorm"):
            space.predict(np.zeros(40))

    @pytest.mark.parametrize("name", [np.ones(2), ["a", "a"], "a", 3, {"z"}, [[]]])
    def test_labels_that_make_no_sense_are_refused(self, name):
        space = TransversalMatroid([["a", "b"], ["a", "c"]])
        with pytest.raises(NotAVertexError):
            space.from_label(name)

    def test_a_disconnected_matroid_is_decoded_component_by_component(self):
        two = np.array([[1, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 1], [0, 0, 0, 0, 1, 1.0]])
        space = LinearMatroid(np.column_stack([two, np.zeros(4)]), elements="abcdefg")
        blocks = space.blocks()
        assert [block.coordinates.tolist() for block in blocks] == [[[0, 1, 2]], [[3, 4, 5]], [[6]]]
        target = space.target_loss()
        whole = osp.RandomizedDecoder(space).ratio(target)
        assert osp.BlockwiseDecoder(space).ratio(target) == pytest.approx(whole / np.sqrt(2))
        rng = np.random.default_rng(0)
        law = osp.BlockwiseDecoder(space).law(space.predict(rng.normal(size=7)))
        assert all(space.is_vertex(law.sample(rng)) for _ in range(20))

    def test_loops_and_coloops_share_a_block_each(self):
        space = GraphicMatroid(edges=[(0, 1), (1, 2), (2, 2), (3, 3), (2, 4), (4, 2)], bases=False)
        shapes = [block.coordinates.shape for block in space.blocks()]
        assert sorted(shapes) == [(1, 2), (2, 1), (2, 1)]


def _subsets(elements):
    listed = sorted(elements)
    return [c for size in range(len(listed) + 1) for c in itertools.combinations(listed, size)]
