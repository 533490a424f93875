"""The slow twins agree with closed forms: they must not be the ones that are wrong."""

import brute_force
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

scales = st.sampled_from([1e-3, 1e-1, 1.0, 10.0, 1e3])


@given(dim=st.integers(1, 6), scale=scales, seed=st.integers(0, 10**6), ties=st.booleans())
def test_the_projection_on_the_cube_is_a_clip(dim, scale, seed, ties):
    rng = np.random.default_rng(seed)
    point = scale * (rng.integers(-1, 2, size=dim) if ties else rng.standard_normal(dim))
    projected = brute_force.hull_projection(brute_force.zero_one_points(dim), point)
    assert projected == pytest.approx(np.clip(point, 0, 1), abs=1e-9)


@given(dim=st.integers(1, 6), scale=scales, seed=st.integers(0, 10**6))
def test_points_of_the_hull_have_distance_zero(dim, scale, seed):
    rng = np.random.default_rng(seed)
    vertices = scale * rng.standard_normal((8, dim))
    assert brute_force.hull_distance(vertices, rng.dirichlet(np.ones(8)) @ vertices) <= 1e-9 * scale


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_entropic_predictions_on_the_simplex_are_softmaxes(scale, rng):
    theta = rng.standard_normal(4)
    softmax = np.exp(theta / scale) / np.exp(theta / scale).sum()
    assert brute_force.gibbs_marginals(np.eye(4), theta / scale) == pytest.approx(softmax)
    assert brute_force.entropic_prediction(np.eye(4), theta, scale) == pytest.approx(softmax, abs=1e-4)


def test_binary_entropic_predictions_on_the_cube_are_sigmoids(rng):
    theta = rng.standard_normal(3)
    predicted = brute_force.binary_entropic_prediction(brute_force.zero_one_points(3), theta, 0.7)
    assert predicted == pytest.approx(1 / (1 + np.exp(-theta / 0.7)), abs=1e-4)


def test_distances_and_costs_of_a_triangle():
    triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    assert brute_force.closest_pair(triangle) == 1.0
    assert brute_force.diameter(triangle, 1) == 5.0
    assert brute_force.diameter(triangle[:1]) == 0.0
    assert brute_force.nearest(triangle, np.array([1.5, 0.0])) == 1.5
    assert brute_force.cheapest(triangle, np.array([-1.0, 2.0])) == -4.0
    assert brute_force.log_partition(triangle, np.zeros(2)) == pytest.approx(np.log(3))
