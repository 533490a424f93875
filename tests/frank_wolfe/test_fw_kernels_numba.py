"""The compiled kernels and their numpy twins give the same results."""

import numpy as np
import pytest

from osp_core import kernels
from osp_core.frank_wolfe import Quadratic, kernels_numba, kernels_numpy, minimize
from osp_core.frank_wolfe.cholesky import AffineFactor


@pytest.mark.parametrize("seed", range(5))
def test_products_and_combinations_agree(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 5, 8)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    indices = rng.integers(0, 10, bounds[-1]).astype(np.int32)
    vector, weights = rng.normal(size=10), rng.dirichlet(np.ones(8))
    for name, arguments in [
        ("atom_products", (vector,)),
        ("atom_slopes", (vector,)),
        ("atom_combination", (weights, 10)),
    ]:
        compiled = getattr(kernels_numba, name)(indices, bounds, *arguments)
        plain = getattr(kernels_numpy, name)(indices, bounds, *arguments)
        assert np.allclose(compiled, plain, rtol=0, atol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_steps_of_the_weights_agree_and_stop_at_zero(seed):
    rng = np.random.default_rng(seed)
    weights, step = rng.dirichlet(np.ones(6)), rng.normal(size=6) * rng.choice([0.01, 1.0])
    (compiled, length), (plain, expected) = (k.advance(weights, step) for k in (kernels_numba, kernels_numpy))
    assert length == expected
    assert np.allclose(compiled, plain, rtol=0, atol=1e-16)
    assert compiled.min() >= 0.0
    assert (length == 1.0) == (weights + step >= 0).all()
    assert length == 1.0 or compiled.min() == 0.0


@pytest.mark.parametrize("kind", ["numba", "numpy"])
@pytest.mark.parametrize("seed", range(5))
def test_the_updated_factor_equals_a_fresh_one(kind, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(7, 9))
    with kernels.use(kind):
        factor = AffineFactor.of(vectors @ vectors.T)
        for index in (6, 0, 2):
            factor.delete(index)
            vectors = np.delete(vectors, index, axis=0)
        extra = rng.normal(size=9)
        half, coordinates = factor.solve(vectors @ extra + factor.sigma)
        factor.append(coordinates, extra @ extra + factor.sigma - half @ half)
    vectors = np.vstack([vectors, extra])
    matrix = vectors @ vectors.T + factor.sigma
    rhs = rng.normal(size=5)
    half, full = factor.solve(rhs)
    assert np.allclose(matrix @ full, rhs)
    assert half @ half == pytest.approx(rhs @ full)
    constrained = factor.constrained(rhs, 0.5)
    residual = vectors @ vectors.T @ constrained - rhs
    assert constrained.sum() == pytest.approx(0.5)
    assert np.allclose(residual, residual[0])
    assert np.allclose(factor.last_direction(3.0), factor.constrained(np.array([0, 0, 0, 0, 3.0]), 0.0))


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0])
def test_whole_runs_agree(fw, scale):
    centre = scale * np.random.default_rng(0).normal(size=225)
    results = []
    for kind in ("numba", "numpy"):
        with kernels.use(kind):
            results.append(minimize(fw.birkhoff(15), Quadratic(centre)))
    assert np.abs(results[0].point - results[1].point).max() < 1e-9
    assert abs(results[0].lmo_calls - results[1].lmo_calls) <= 0.1 * results[0].lmo_calls
