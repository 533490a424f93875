"""Predictions on the ordinal chain against a conic solver."""

import cvxpy
import numpy as np
import pytest

import osp_core as osp

TIGHT = {"solver": cvxpy.CLARABEL, "tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}


def solve(objective, d, **options):
    y = cvxpy.Variable(d)
    constraints = [y >= 0, y <= 1] + ([y[:-1] >= y[1:]] if d > 1 else [])
    cvxpy.Problem(cvxpy.Minimize(objective(y)), constraints).solve(**options)
    return y.value


@pytest.mark.parametrize("d", [1, 3, 30, 400])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_projections_equal_those_of_a_conic_solver(d, scale):
    theta = scale * np.random.default_rng(d).normal(0.3, 1, d)
    expected = solve(lambda y: cvxpy.sum_squares(y - theta), d, **TIGHT)
    np.testing.assert_allclose(osp.make_space("ordinal", d=d).predict(theta).point, expected, atol=1e-7)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_entropic_predictions_equal_those_of_a_conic_solver(d, scale):
    theta = scale * np.random.default_rng(d).normal(0.3, 1, d)
    entropic = solve(lambda y: -cvxpy.sum(cvxpy.entr(y)) - theta @ y, d, solver=cvxpy.CLARABEL)
    y = osp.make_space("ordinal", d=d, psi=osp.NegativeEntropy()).predict(theta).point
    np.testing.assert_allclose(y, entropic, atol=2e-4)
    binary = solve(
        lambda y: -cvxpy.sum(cvxpy.entr(y) + cvxpy.entr(1 - y)) - theta @ y, d, solver=cvxpy.CLARABEL
    )
    y = osp.make_space("ordinal", d=d, psi=osp.BinaryEntropy()).predict(theta).point
    np.testing.assert_allclose(y, binary, atol=2e-4)
