"""Convex combinations."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from osp_core import ConvexCombination, InvalidInputError


@pytest.fixture(params=[np.asarray, csr_array], ids=["dense", "sparse"])
def combination(request):
    atoms = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    return ConvexCombination(request.param(atoms), np.array([0.5, 0.3, 0.2]))


def test_the_mean_is_the_weighted_sum_of_the_vertices(combination):
    np.testing.assert_allclose(combination.mean, [0.7, 0.5, 0.3], atol=1e-15)
    np.testing.assert_allclose(combination.weights @ combination.vertices, combination.mean)


def test_samples_have_the_frequencies_of_the_weights(combination):
    rng = np.random.default_rng(0)
    draws = np.array([combination.sample(rng) for _ in range(20_000)])
    # Four standard errors of a frequency are at most 4·√(0.25/20000).
    assert np.abs(draws.mean(axis=0) - combination.mean).max() < 4 * np.sqrt(0.25 / 20_000)


def test_a_sample_can_be_changed_without_changing_the_combination(combination):
    before = combination.mean.copy()
    combination.sample(np.random.default_rng(1))[:] = 7.0
    np.testing.assert_array_equal(ConvexCombination(combination.atoms, combination.weights).mean, before)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([0.5, 0.6, 0.2], "sum"), ([1.2, -0.2, 0.0], "non-negative"), ([0.5, 0.5], "one weight per vertex")],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InvalidInputError, match=message):
        ConvexCombination(np.eye(3), np.array(weights))
