"""The compiled isotonic regression equals its numpy twin, bit for bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from osp_ordinal import kernels_numba, kernels_numpy


@given(
    rows=st.integers(0, 4),
    d=st.integers(1, 60),
    exponent=st.floats(-8, 8),
    digits=st.sampled_from([1, 16]),
    seed=st.integers(0, 999),
)
def test_both_kernels_fit_the_same(rows, d, exponent, digits, seed):
    values = 10.0**exponent * np.round(np.random.default_rng(seed).standard_normal((rows, d)), digits)
    fitted = kernels_numba.isotonic_decreasing(values)
    np.testing.assert_array_equal(fitted, kernels_numpy.isotonic_decreasing(values))
    assert fitted.shape == values.shape
