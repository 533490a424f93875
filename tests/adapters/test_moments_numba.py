"""Running moments say the same of a number, of an array, and compiled, and what two passes say."""

import numpy as np
from numba import njit

from osp_core.models.moments import inverse_spread, welford

compiled, compiled_inverse = njit(welford), njit(inverse_spread)


def test_running_moments_are_those_of_two_passes_however_they_are_computed():
    rows = np.random.default_rng(0).normal([0.0, 1e6, -3.0], [1.0, 1e-3, 50.0], size=(40, 3))
    rows = np.column_stack([rows, np.full(40, 7.25), np.zeros(40)])
    mean = squares = np.zeros(5)
    one_by_one = [(0.0, 0.0)] * 5
    for count, row in enumerate(rows, start=1):
        mean, squares = welford(row, count, mean, squares)
        one_by_one = [compiled(x, count, *moments) for x, moments in zip(row, one_by_one, strict=True)]
    np.testing.assert_allclose(np.transpose(one_by_one), [mean, squares], rtol=1e-12)
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(squares[:3] / 40, rows.var(axis=0)[:3], rtol=1e-5)
    factors = inverse_spread(squares, 40, mean)
    np.testing.assert_allclose(factors, [*1.0 / rows.std(axis=0)[:3], 0.0, 0.0], rtol=1e-5)
    again = [compiled_inverse(s, 40, m) for m, s in one_by_one]
    np.testing.assert_allclose(again, factors, rtol=1e-12)
