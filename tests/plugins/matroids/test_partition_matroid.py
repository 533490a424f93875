"""Partition matroids: closed forms on every block, samplers, blockwise decoding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from osp_matroids.at_most import AtMost
from osp_matroids.partition import PartitionMatroid

import osp_core as osp
from osp_core.errors import InvalidInputError, NotAVertexError
from osp_core.frank_wolfe import Quadratic, Status, minimize
from osp_core.regularizers import BinaryEntropy, GibbsEntropy, NegativeEntropy, SquaredNorm
from osp_core.testing import check_space

TEAMS = [["ann", "bob", "cyd"], ["dan", "eve"], ["flo"]]


@st.composite
def partitions(draw):
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any))
    capacities = [draw(st.integers(0, 5)) for _ in sizes]
    seed = draw(st.integers(0, 10**6))
    return sizes, capacities, draw(st.booleans()), np.random.default_rng(seed)


@pytest.mark.parametrize("space", AtMost.examples(), ids=repr)
def test_at_most_k_of_d_passes_the_conformance_kit(space):
    check_space(space)


class TestInput:
    def test_blocks_may_be_given_by_their_sizes(self):
        space = PartitionMatroid([2, 0, 3], 1)
        assert space.elements == [0, 1, 2, 3, 4]
        assert space.rank == 2

    def test_elements_fix_the_order_of_the_coordinates(self):
        space = PartitionMatroid([["b", "c"], ["a"]], 1, elements=["a", "b", "c"])
        assert space.to_label(space.lmo(np.array([5.0, 2.0, 1.0]))) == {"a", "c"}

    def test_a_block_smaller_than_its_capacity_is_taken_as_a_whole(self):
        assert PartitionMatroid([2, 2], [5, 1]).lmo(np.arange(4.0)).tolist() == [1, 1, 1, 0]

    def test_elements_in_sets_are_ordered_whatever_the_hash_seed(self):
        assert PartitionMatroid([{"b", "a"}, {"d", "c"}], 1).elements == ["a", "b", "c", "d"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([["a"], ["a"]], 1), "two blocks"),
            (([[], []], 1), "at least one element"),
            (([], 1), "at least one element"),
            (([3, -1], 1), "at least 0"),
            (([3, 2], [1]), "2 numbers"),
            (([3, 2], -1), "at least 0"),
            (([3, 2], [1, 0.5]), "whole number"),
            ((5, 1), "list of blocks"),
            (("ab", 1), "list of blocks"),
            (([3, "ab"], 1), "collection"),
            (([[["x"]]], 1), "hashable"),
        ],
    )
    def test_bad_blocks_and_capacities_are_refused_with_a_reason(self, arguments, message):
        with pytest.raises(InvalidInputError, match=message):
            PartitionMatroid(*arguments)

    def test_elements_must_be_those_of_the_blocks(self):
        with pytest.raises(InvalidInputError, match="in no block"):
            PartitionMatroid([["a"]], 1, elements=["a", "b"])
        with pytest.raises(InvalidInputError, match="not one of the elements"):
            PartitionMatroid([["a"]], 1, elements=["b"])

    def test_wrong_labels_are_refused_with_a_reason(self):
        space = PartitionMatroid(TEAMS, [2, 1, 1])
        with pytest.raises(NotAVertexError, match="not independent"):
            space.from_label({"dan", "eve", "flo", "ann"})
        with pytest.raises(NotAVertexError, match="a basis"):
            space.from_label({"ann"})
        with pytest.raises(NotAVertexError, match="not one of"):
            space.from_label({"zoe"})


class TestPredictions:
    @settings(derandomize=True, max_examples=60, deadline=None)
    @given(instance=partitions(), exponent=st.integers(-8, 8))
    def test_projections_agree_with_the_frank_wolfe_engine(self, instance, exponent):
        sizes, capacities, bases, rng = instance
        space = PartitionMatroid(sizes, capacities, bases=bases)
        theta = 10.0**exponent * rng.normal(size=space.dim)
        prediction = space.project(theta)
        engine = minimize(space.lmo, Quadratic(theta))
        assert prediction.status is Status.EXACT
        assert prediction.point == pytest.approx(engine.point, abs=1e-7)

    @settings(derandomize=True, max_examples=60, deadline=None)
    @given(instance=partitions(), exponent=st.integers(-8, 8))
    @pytest.mark.parametrize("psi", [NegativeEntropy(1.0), BinaryEntropy(2.0)], ids=["kl", "binary"])
    def test_entropic_predictions_satisfy_the_optimality_conditions(self, psi, instance, exponent):
        sizes, capacities, bases, rng = instance
        space = PartitionMatroid(sizes, capacities, bases=bases, psi=psi)
        theta = 10.0**exponent * rng.normal(size=space.dim)
        y = space.predict(theta).point
        inside = np.clip(y, 1e-300, 1 - 1e-16)
        gap_gradient = psi.gradient(inside) - theta
        # The gradient is infinite where the box binds; there the sign is all that counts.
        free = (y > 1e-12) & (y < 1 - 1e-12)
        for group in space._groups:
            for row in group.coordinates:
                slopes = gap_gradient[row][free[row]]
                if slopes.size:
                    assert np.ptp(slopes) <= 1e-6 * (1 + np.abs(theta).max())
                    if not bases and y[row].sum() < group.space.rank - 1e-9:
                        assert slopes == pytest.approx(0.0, abs=1e-6 * (1 + np.abs(theta).max()))

    @settings(derandomize=True, max_examples=40, deadline=None)
    @given(instance=partitions(), exponent=st.integers(-8, 3))
    def test_gibbs_marginals_agree_with_enumeration(self, instance, exponent):
        sizes, capacities, bases, rng = instance
        space = PartitionMatroid(sizes, capacities, bases=bases)
        theta = 10.0**exponent * rng.normal(size=space.dim)
        outputs = space.vertices()
        scores = outputs @ theta
        weights = np.exp(scores - scores.max())
        size = 1.0 + np.abs(theta).max()
        assert space.marginals(theta) == pytest.approx(weights @ outputs / weights.sum(), abs=1e-12 * size)
        log_z = scores.max() + np.log(weights.sum())
        assert space.log_partition(theta) == pytest.approx(log_z, abs=1e-12 * size)

    def test_many_equals_one_at_a_time_for_every_regularizer(self):
        rng = np.random.default_rng(0)
        for psi in (SquaredNorm(1.0), NegativeEntropy(1.0), BinaryEntropy(1.0), GibbsEntropy(1.0)):
            for bases in (True, False):
                space = PartitionMatroid([3, 3, 2], [1, 1, 2], psi=psi, bases=bases)
                thetas = rng.normal(size=(5, 8))
                many = space.predict_many(thetas)
                for theta, point in zip(thetas, many.point, strict=True):
                    assert space.predict(theta).point == pytest.approx(point, abs=1e-14)

    def test_changing_psi_reaches_the_blocks(self):
        space = PartitionMatroid([3, 2], 1).with_psi(NegativeEntropy(1.0))
        theta = np.array([0.0, 1.0, 2.0, 0.0, 0.0])
        assert space.predict(theta).point[3:] == pytest.approx([0.5, 0.5])
        assert all(isinstance(block.space.psi, NegativeEntropy) for block in space.blocks())


class TestSampling:
    @settings(derandomize=True, max_examples=50, deadline=None)
    @given(instance=partitions())
    def test_decompositions_reproduce_the_point(self, instance):
        sizes, capacities, bases, rng = instance
        space = PartitionMatroid(sizes, capacities, bases=bases)
        point = space.project(rng.normal(size=space.dim)).point
        combination = space.decompose(point)
        assert combination.mean == pytest.approx(point, abs=1e-10)
        assert all(space.is_vertex(y) for y in combination.vertices)

    @pytest.mark.parametrize("bases", [True, False])
    def test_random_outputs_have_the_point_as_their_mean(self, bases):
        space = PartitionMatroid([4, 4, 3], [2, 2, 1], bases=bases)
        rng = np.random.default_rng(1)
        point = space.project(rng.uniform(0, 1, space.dim)).point
        draws = space.sample_many(np.tile(point, (5000, 1)), rng)
        assert all(space.is_vertex(draw) for draw in draws[:200])
        error = np.sqrt(point * (1 - point) / 5000)
        assert (np.abs(draws.mean(axis=0) - point) <= 4 * error + 1e-12).all()

    @pytest.mark.parametrize("bases", [True, False])
    def test_points_outside_are_refused(self, bases):
        space = PartitionMatroid([3, 2], 1, bases=bases)
        with pytest.raises(InvalidInputError, match="outside"):
            space.decompose(np.full(5, 0.9))
        with pytest.raises(InvalidInputError, match="outside"):
            space.sample_vertex(np.full(5, 0.9), np.random.default_rng(0))


class TestBlockwise:
    def test_equal_blocks_share_one_entry(self):
        blocks = PartitionMatroid([3] * 50 + [2, 0], 1).blocks()
        assert [block.coordinates.shape for block in blocks] == [(50, 3), (1, 2)]

    def test_a_single_block_has_no_blocks(self):
        assert PartitionMatroid([4, 0], [2, 1]).blocks() is None

    def test_decoding_block_by_block_has_the_smaller_ratio(self):
        space = PartitionMatroid([4] * 9, 2)
        target = space.target_loss()
        whole = osp.RandomizedDecoder(space).ratio(target)
        blockwise = osp.BlockwiseDecoder(space).ratio(target)
        # γ of the whole adds up over nine blocks in squares, and becomes that of one block.
        assert blockwise == pytest.approx(whole / 3)

    def test_gamma_is_that_of_disconnected_matroids(self):
        space = PartitionMatroid([4, 3, 2], [2, 1, 1])
        sizes, ranks = np.array([4, 3, 2]), np.array([2, 1, 1])
        expected = np.sqrt((ranks * (sizes - ranks) / sizes).sum()) / ranks.sum()
        assert space.target_loss().gamma(space) == pytest.approx(expected)

    def test_it_is_the_default_decoder_of_a_predictor(self):
        space = PartitionMatroid(TEAMS, [2, 1, 1])
        predictor = osp.OnlinePredictor(space, 2, seed=0)
        label = {"ann", "cyd", "eve", "flo"}
        for _ in range(20):
            predictor.step(np.array([1.0, 0.0]), label)
        assert predictor.predict(np.array([1.0, 0.0])) == label

    def test_thousands_of_blocks_are_predicted_and_decoded_at_once(self):
        space = PartitionMatroid([5] * 4000, 2)
        rng = np.random.default_rng(2)
        decoder = osp.BlockwiseDecoder(space)
        law = decoder.law(space.predict(rng.normal(size=space.dim)))
        assert law.p.shape == (4000,)
        assert space.is_vertex(law.sample(rng))
