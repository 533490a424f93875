"""The formulas of Algorithm 1 say the same of a number, of an array, and compiled."""

import numpy as np
import pytest
from numba import njit

from osp_core.surrogates import mixing

significant, probability, mixture, toss = map(
    njit, (mixing.significant, mixing.probability, mixing.mixture, mixing.randomises)
)

DISTANCES = np.array([0.0, 1e-300, 9.9e-13, 1e-12, 1e-6, 0.3, 0.5, 0.7, 1.0, 40.0])


def slow_probability(distance, nu):
    """min(1, 2Δ*/ν), case by case."""
    if distance < 1e-12:
        return 0.0
    return 1.0 if 2.0 * distance > nu else 2.0 * distance / nu


@pytest.mark.parametrize("nu", [0.1, 1.0, 2.0, np.inf])
def test_p_is_the_same_number_by_number_all_at_once_and_compiled(nu):
    expected = [slow_probability(distance, nu) for distance in DISTANCES]
    assert [mixing.probability(mixing.significant(float(x)), nu) for x in DISTANCES] == expected
    assert mixing.probability(mixing.significant(DISTANCES), nu).tolist() == expected
    assert [probability(significant(x), nu) for x in DISTANCES] == expected


def test_the_mean_is_the_nearest_output_at_p_0_and_the_prediction_at_p_1():
    nearest, y_hat = np.array([0.0, 1.0, 0.0]), np.array([0.1, 0.7, 0.2])
    np.testing.assert_array_equal(mixing.mixture(0.0, nearest, y_hat), nearest)
    np.testing.assert_array_equal(mixing.mixture(1.0, nearest, y_hat), y_hat)
    for p in (0.0, 0.3, 1.0):
        by_entry = [(1.0 - p) * a + p * b for a, b in zip(nearest, y_hat, strict=True)]
        assert mixing.mixture(p, nearest, y_hat).tolist() == by_entry
        assert [mixture(p, a, b) for a, b in zip(nearest, y_hat, strict=True)] == by_entry


def test_the_coin_takes_one_number_and_none_where_the_nearest_output_is_certain():
    one, other, plain = (np.random.default_rng(3) for _ in range(3))
    for p in (0.0, 0.2, 0.0, 0.9, 0.5, 1.0, 0.5):
        expected = p > 0.0 and plain.random() < p
        assert mixing.randomises(p, one) == toss(p, other) == expected
    assert one.bit_generator.state == other.bit_generator.state == plain.bit_generator.state
