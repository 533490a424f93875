"""The default method against a conic solver."""

import cvxpy
import numpy as np
import pytest

from osp_core.frank_wolfe import Quadratic, Status, minimize


@pytest.mark.parametrize("n", [3, 8, 14, 20])
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_projections_on_birkhoff_polytopes_equal_those_of_a_conic_solver(fw, n, scale):
    centre = scale * np.random.default_rng(n).normal(size=(n, n))
    plan = cvxpy.Variable((n, n), nonneg=True)
    constraints = [cvxpy.sum(plan, axis=0) == 1, cvxpy.sum(plan, axis=1) == 1]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(plan - centre)), constraints)
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    result = minimize(fw.birkhoff(n), Quadratic(centre.ravel()))
    fw.check_result(result)
    assert result.status is Status.OPTIMAL
    assert np.abs(result.point.reshape(n, n) - plan.value).max() < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_projections_on_hulls_equal_those_of_a_conic_solver(fw, seed):
    rng = np.random.default_rng(seed)
    vertices, centre = rng.normal(size=(25, 8)), rng.normal(size=8)
    weights = cvxpy.Variable(25, nonneg=True)
    problem = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(vertices.T @ weights - centre)), [cvxpy.sum(weights) == 1]
    )
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    result = minimize(fw.vertex_list(vertices), Quadratic(centre))
    assert np.abs(result.point - weights.value @ vertices).max() < 1e-6
