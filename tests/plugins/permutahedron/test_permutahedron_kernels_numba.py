"""The compiled kernels of the permutahedron and their numpy twins give the same results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from osp_permutahedron import kernels_numba, kernels_numpy

problems = given(
    d=st.integers(1, 80), exponent=st.floats(-8, 8), digits=st.sampled_from([0, 16]), seed=st.integers(0, 999)
)


def random_problem(d, exponent, digits, seed):
    rng = np.random.default_rng(seed)
    weights = np.sort(np.round(rng.exponential(5.0, d), digits))[::-1].copy()
    return 10.0**exponent * np.round(rng.standard_normal(d), digits), weights


@problems
def test_orders_are_the_same_ties_included(d, exponent, digits, seed):
    theta, _ = random_problem(d, exponent, digits, seed)
    np.testing.assert_array_equal(
        kernels_numba.order_descending(theta), kernels_numpy.order_descending(theta)
    )


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(100),
        np.append(np.arange(200.0) * 1e-9, 1e9),  # all but one in a single bucket
        np.repeat([1.0, 0.0], 60),
        1e308 * np.linspace(-1, 1, 50),
        np.linspace(0.0, 1e-310, 50),
        -np.arange(1000.0),
    ],
    ids=["equal", "outlier", "two values", "huge", "subnormal", "sorted"],
)
def test_awkward_values_are_sorted_too(values):
    for shuffled in (values, values[::-1].copy(), np.random.default_rng(0).permutation(values)):
        order = kernels_numba.order_descending(shuffled)
        np.testing.assert_array_equal(order, np.argsort(-shuffled, kind="stable"))


@problems
def test_projections_agree(d, exponent, digits, seed):
    theta, weights = random_problem(d, exponent, digits, seed)
    for name in ("project", "kl_project"):
        compiled = getattr(kernels_numba, name)(theta, weights)
        np.testing.assert_allclose(
            compiled, getattr(kernels_numpy, name)(theta, weights), rtol=1e-12, atol=1e-11
        )
        both = np.vstack([theta, -theta])
        many = getattr(kernels_numba, f"{name}_many")(both, weights)
        np.testing.assert_array_equal(many[0], compiled)
        np.testing.assert_allclose(
            many, getattr(kernels_numpy, f"{name}_many")(both, weights), rtol=1e-12, atol=1e-11
        )


@problems
def test_transforms_swaps_and_decompositions_agree(d, exponent, digits, seed):
    theta, weights = random_problem(d, exponent, digits, seed)
    point = np.sort(kernels_numpy.project(theta, weights))[::-1].copy()
    compiled, plain = kernels_numba.transforms(point, weights), kernels_numpy.transforms(point, weights)
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    uniforms = np.random.default_rng(seed).random(compiled[0].size)
    np.testing.assert_array_equal(
        kernels_numba.swap_at_random(weights, *compiled, uniforms),
        kernels_numpy.swap_at_random(weights, *plain, uniforms),
    )
    for module in (kernels_numba, kernels_numpy):
        atoms, masses = module.decompose(point, weights)
        assert len(masses) <= d + 1
        np.testing.assert_allclose(masses @ atoms, point, atol=1e-11 * (1 + weights[0]))
        np.testing.assert_array_equal(np.sort(atoms, axis=1)[:, ::-1], np.tile(weights, (len(atoms), 1)))
