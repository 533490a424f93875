"""Predictions on the permutahedron against a conic solver."""

import cvxpy
import numpy as np
import pytest

import osp_core as osp

TIGHT = {"solver": cvxpy.CLARABEL, "tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}


def as_mixture(d, w):
    """y = Pw with P doubly stochastic: the permutahedron by Birkhoff's theorem, with no use of sorting."""
    plan = cvxpy.Variable((d, d), nonneg=True)
    return plan @ w, [cvxpy.sum(plan, axis=0) == 1, cvxpy.sum(plan, axis=1) == 1]


@pytest.mark.parametrize(
    "w", [[1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 1, 1, 2, 5, 5], [-4, -1, 0, 0.5, 1, 2, 3, 9]]
)
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_projections_equal_those_over_doubly_stochastic_plans(w, scale):
    theta = scale * np.random.default_rng(8).standard_normal(8)
    y, constraints = as_mixture(8, np.array(w, dtype=float))
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(y - theta)), constraints).solve(**TIGHT)
    np.testing.assert_allclose(
        osp.make_space("permutahedron", weights=w).predict(theta).point, y.value, atol=1e-7
    )


@pytest.mark.parametrize("d", [30, 400])
@pytest.mark.parametrize("scale", [0.5, 20.0])
def test_large_projections_equal_those_under_majorisation(d, scale):
    # Scores in decreasing order: only the sums of the first r entries can bind.
    theta = -np.sort(-scale * np.random.default_rng(d).standard_normal(d))
    w = np.arange(d, 0, -1.0) / d
    sums = cvxpy.Variable(d + 1)
    constraints = [sums[0] == 0, sums[d] == w.sum(), sums[1:d] <= np.cumsum(w)[:-1]]
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(cvxpy.diff(sums) - theta / d)), constraints).solve(**TIGHT)
    y = osp.make_space("permutahedron", weights=w).predict(theta / d).point
    np.testing.assert_allclose(y, np.diff(sums.value), atol=1e-7)


@pytest.mark.parametrize("w", [[1, 2, 3, 4, 5, 6], [0, 0, 0.5, 1, 2, 2]])
@pytest.mark.parametrize("scale", [0.3, 1.5])
def test_entropic_predictions_equal_those_over_doubly_stochastic_plans(w, scale):
    theta = scale * np.random.default_rng(6).standard_normal(6)
    y, constraints = as_mixture(6, np.array(w, dtype=float))
    problem = cvxpy.Problem(cvxpy.Minimize(-cvxpy.sum(cvxpy.entr(y)) - theta @ y), constraints)
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    space = osp.make_space("permutahedron", weights=w, psi=osp.NegativeEntropy())
    np.testing.assert_allclose(space.predict(theta).point, y.value, atol=2e-4)
