"""Predictions on k-subsets against a conic solver."""

import cvxpy
import numpy as np
import pytest

import osp_core as osp

TIGHT = {"solver": cvxpy.CLARABEL, "tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}


def solve(objective, d, k, **options):
    y = cvxpy.Variable(d)
    cvxpy.Problem(cvxpy.Minimize(objective(y)), [y >= 0, y <= 1, cvxpy.sum(y) == k]).solve(**options)
    return y.value


@pytest.mark.parametrize(("d", "k"), [(4, 1), (30, 11), (400, 20), (400, 390)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_projections_equal_those_of_a_conic_solver(d, k, scale):
    theta = scale * np.random.default_rng(d + k).standard_normal(d)
    expected = solve(lambda y: cvxpy.sum_squares(y - theta), d, k, **TIGHT)
    np.testing.assert_allclose(
        osp.make_space("k_subsets", d=d, k=k).predict(theta).point, expected, atol=1e-7
    )


@pytest.mark.parametrize(("d", "k"), [(4, 1), (20, 7)])
@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_entropic_predictions_equal_those_of_a_conic_solver(d, k, scale):
    theta = scale * np.random.default_rng(d).standard_normal(d)
    entropic = solve(lambda y: -cvxpy.sum(cvxpy.entr(y)) - theta @ y, d, k, solver=cvxpy.CLARABEL)
    space = osp.make_space("k_subsets", d=d, k=k, psi=osp.NegativeEntropy())
    np.testing.assert_allclose(space.predict(theta).point, entropic, atol=2e-4)
    binary = solve(
        lambda y: -cvxpy.sum(cvxpy.entr(y) + cvxpy.entr(1 - y)) - theta @ y, d, k, solver=cvxpy.CLARABEL
    )
    space = osp.make_space("k_subsets", d=d, k=k, psi=osp.BinaryEntropy())
    np.testing.assert_allclose(space.predict(theta).point, binary, atol=2e-4)
