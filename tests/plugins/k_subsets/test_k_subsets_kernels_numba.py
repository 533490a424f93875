"""The compiled kernels of the k-subsets and their numpy twins give the same results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from osp_matroids.uniform import kernels_numba, kernels_numpy

sizes = st.integers(2, 60).flatmap(lambda d: st.tuples(st.just(d), st.integers(1, d - 1)))


def scores(d, exponent, digits, seed):
    return 10.0**exponent * np.round(np.random.default_rng(seed).standard_normal(d), digits)


@given(size=sizes, exponent=st.floats(-8, 18), digits=st.sampled_from([0, 1, 16]), seed=st.integers(0, 999))
def test_projections_agree(size, exponent, digits, seed):
    d, k = size
    theta = scores(d, exponent, digits, seed)
    compiled = kernels_numba.project(theta, k)
    np.testing.assert_allclose(compiled, kernels_numpy.project(theta, k), atol=1e-13)
    both = np.vstack([theta, -theta])
    many = kernels_numba.project_many(both, k)
    np.testing.assert_array_equal(many[0], compiled)
    np.testing.assert_allclose(many, kernels_numpy.project_many(both, k), atol=1e-13)


@pytest.mark.parametrize("gap", [0.0, 1e-300, 1e-16, 0.5, 1 - 1e-16, 1.0, 1 + 1e-15, 2.0])
@pytest.mark.parametrize("offset", [0.0, 1.0, -1e8, 1e17, 1e99])
def test_projections_agree_where_two_groups_of_ties_meet(gap, offset):
    theta = offset + np.array([gap, gap, gap, 0.0, 0.0, 0.0, 0.0])
    for k in range(1, 7):
        projected = kernels_numba.project(theta, k)
        np.testing.assert_allclose(projected, kernels_numpy.project(theta, k), atol=1e-13)
        assert projected.sum() == pytest.approx(k, abs=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_large_projections_agree(seed):
    theta = np.random.default_rng(seed).standard_normal(20_000) * 3
    for k in (1, 50, 9_000, 19_999):
        np.testing.assert_allclose(
            kernels_numba.project(theta, k), kernels_numpy.project(theta, k), atol=1e-12
        )


@given(size=sizes, exponent=st.floats(-8, 2), digits=st.sampled_from([0, 1, 16]), seed=st.integers(0, 999))
def test_entropic_factors_agree(size, exponent, digits, seed):
    d, k = size
    ordered = np.sort(scores(d, exponent, digits, seed))[::-1]
    ordered = np.ascontiguousarray([ordered - ordered[k - 1], ordered])
    compiled = kernels_numba.log_factors(ordered, k)
    np.testing.assert_allclose(compiled, kernels_numpy.log_factors(ordered, k), rtol=1e-12, atol=1e-11)
    sums = np.exp(np.minimum(ordered + compiled[:, None], 0)).sum(axis=1)
    np.testing.assert_allclose(sums, k, rtol=1e-10)


@given(size=sizes, exponent=st.floats(-8, 2.5), seed=st.integers(0, 999))
def test_gibbs_sums_agree(size, exponent, seed):
    d, k = size
    theta = scores(d, exponent, 16, seed)
    compiled = kernels_numba.inclusion(theta, k)
    np.testing.assert_allclose(compiled, kernels_numpy.inclusion(theta, k), atol=1e-10)
    assert compiled.sum() == pytest.approx(k, rel=1e-10)
    log_sum = kernels_numba.log_symmetric(theta, k)
    assert log_sum == pytest.approx(kernels_numpy.log_symmetric(theta, k), rel=1e-12, abs=1e-12)
