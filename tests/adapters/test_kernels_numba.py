"""The compiled standardisation against its numpy twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from osp_core.adapters import kernels_numba, kernels_numpy

SIZES = st.integers(0, 40)
SCALES = st.sampled_from([1e-8, 1e-3, 1.0, 1e4, 1e8])


@given(SIZES, SCALES, st.booleans(), st.integers(0, 1000))
def test_the_compiled_kernels_agree_with_numpy(size, scale, intercept, seed):
    rng = np.random.default_rng(seed)
    rows = scale * (rng.normal(size=(12, size)) + rng.normal(size=size))
    rows[:, : size // 3] = 3.5  # constant columns
    state = {kernels: (np.zeros(size), np.zeros(size)) for kernels in (kernels_numba, kernels_numpy)}
    for count, row in enumerate(rows, start=1):
        scaled = {}
        for kernels, (mean, squares) in state.items():
            mean, squares, factors = kernels.observe(row, count, mean, squares)
            state[kernels] = mean, squares
            scaled[kernels] = kernels.standardise(row, mean, factors, intercept)
        assert np.allclose(scaled[kernels_numba], scaled[kernels_numpy], rtol=1e-9, atol=1e-12)
        assert kernels_numba.largest(row) == kernels_numpy.largest(row)
    assert np.allclose(state[kernels_numba][0], rows.mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("kernels", [kernels_numba, kernels_numpy])
def test_the_largest_entry_is_nan_where_there_is_one(kernels):
    for row in ([1.0, np.nan, 2.0], [np.nan, 1.0], [2.0, np.nan]):
        assert np.isnan(kernels.largest(np.array(row)))
    assert kernels.largest(np.array([1.0, -np.inf])) == np.inf
