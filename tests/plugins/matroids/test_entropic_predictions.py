"""Entropic predictions over matroids: feasible, and optimal by conditions that do not know the algorithm."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from osp_matroids.graphs.space import GraphicMatroid
from osp_matroids.partition import PartitionMatroid
from osp_matroids.space import MatroidSpace

from osp_core.frank_wolfe import Smooth, Status, minimize
from osp_core.regularizers import NegativeEntropy


def worst_exchange(space, theta, point, negligible=1e-12):
    """How much the objective still falls, to first order, per unit moved towards any vertex.

    Entries that are all but zero have no derivative; moving towards them is judged at `negligible`.
    """
    gradient = np.log(np.maximum(point, negligible)) + 1.0 - theta
    slack = gradient @ point - (space.vertices() @ gradient).min()
    return slack / (1.0 + np.abs(theta).max())


@pytest.mark.parametrize("exponent", [-8, 0, 1])
def test_predictions_of_every_matroid_are_feasible_and_optimal(random_matroids, exponent):
    rng = np.random.default_rng(0)
    for space, _ in random_matroids:
        theta = 10.0**exponent * rng.normal(size=space.dim)
        prediction = MatroidSpace.kl_project(space, theta)
        assert space.contains(prediction.point, 1e-8)
        assert prediction.gap <= 1e-9
        assert prediction.status is Status.OPTIMAL
        assert worst_exchange(space, theta, prediction.point) <= 1e-8


def most_overfull(space, point):
    """By how much the fullest of all sets exceeds its rank."""
    sets = np.array(list(itertools.product([0.0, 1.0], repeat=space.dim)))
    return float((sets @ point - (sets @ space.vertices().T).max(axis=1)).max())


@pytest.mark.parametrize("size", [1e-9, 3e-9, 1e-8, 1e-7])
def test_no_set_of_a_prediction_exceeds_its_rank_even_where_it_is_nearly_tight(random_matroids, size):
    rng = np.random.default_rng(4)
    for space, _ in random_matroids:
        # The softmax of these scores, scaled to the rank, is a face of the polytope but for `size`.
        few = rng.dirichlet(np.ones(3)) @ space.vertices()[rng.integers(len(space.vertices()), size=3)]
        theta = np.log(np.maximum(few, 1e-20)) + size * rng.normal(size=space.dim)
        point = MatroidSpace.kl_project(space, theta).point
        assert most_overfull(space, point) <= 1e-12
        assert point.min() >= 0.0
        if space.constant_mass:
            assert point.sum() == pytest.approx(space.vertices()[0].sum(), rel=1e-13)


@pytest.mark.parametrize("bases", [True, False])
def test_partition_matroids_have_the_same_answer_in_closed_form(bases):
    rng = np.random.default_rng(1)
    space = PartitionMatroid([4, 3, 2], [2, 1, 2], bases=bases)
    for scale in (1e-8, 1.0, 1e2, 1e8):
        theta = scale * rng.normal(size=9)
        assert MatroidSpace.kl_project(space, theta).point == pytest.approx(
            space.kl_project(theta).point, abs=1e-9
        )


def test_trees_agree_with_the_blended_pairwise_method():
    space = GraphicMatroid(7)
    theta = np.random.default_rng(2).normal(size=space.dim)
    entropy = Smooth(
        lambda y: float((y * np.log(y)).sum() - theta @ y), lambda y: np.log(y) + 1.0 - theta, positive=True
    )
    engine = minimize(space.lmo, entropy, dim=space.dim, tol=1e-11)
    assert space.kl_project(theta).point == pytest.approx(engine.point, abs=1e-7)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(nodes=st.integers(2, 7), bases=st.booleans(), exponent=st.integers(-8, 8), seed=st.integers(0, 10**6))
def test_trees_and_forests_are_certified_at_every_scale(nodes, bases, exponent, seed):
    space = GraphicMatroid(nodes, bases=bases, psi=NegativeEntropy(1.0))
    theta = 10.0**exponent * np.random.default_rng(seed).normal(size=space.dim)
    prediction = space.predict(theta)
    assert prediction.status is Status.OPTIMAL
    assert prediction.gap <= 1e-14 * (1.0 + np.abs(theta).max()) * nodes
    assert np.isfinite(prediction.point).all()
    assert np.abs(space.project(prediction.point).point - prediction.point).max() <= 1e-8


def test_huge_scores_leave_the_best_tree():
    space = GraphicMatroid(6, psi=NegativeEntropy(1.0))
    theta = 1e8 * np.random.default_rng(3).normal(size=15)
    assert space.predict(theta).point == pytest.approx(space.lmo(-theta), abs=1e-12)


def test_closures_are_all_that_adds_no_rank(random_matroids):
    rng = np.random.default_rng(4)
    for space, _ in random_matroids:
        chosen = np.flatnonzero(rng.random(space.dim) < 0.4)
        rank = len(space.greedy(chosen))
        slow = [e for e in range(space.dim) if len(space.greedy(np.union1d(chosen, [e]))) == rank]
        assert space.closure(chosen).tolist() == slow
