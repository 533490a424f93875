"""Predictions of the Birkhoff family against a general convex solver."""

import cvxpy as cp
import numpy as np
import pytest

import osp_core as osp

TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def constraints(plan, rows, columns):
    sums = cp.sum(plan, axis=0)
    return [cp.sum(plan, axis=1) == 1, sums == 1 if rows == columns else sums <= 1]


@pytest.mark.parametrize(("m", "n"), [(4, 4), (5, 8), (20, 20), (15, 25)])
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_euclidean_predictions_agree(m, n, scale):
    theta = scale * np.random.default_rng(m).standard_normal((m, n))
    plan = cp.Variable((m, n))
    cp.Problem(cp.Minimize(cp.sum_squares(plan - theta)), [*constraints(plan, m, n), plan >= 0]).solve(
        solver=cp.CLARABEL, **TIGHT
    )
    point = osp.make_space("assignment", m=m, n=n).project(theta.ravel()).point
    assert np.abs(point - plan.value.ravel()).max() <= 1e-7


@pytest.mark.parametrize(("m", "n"), [(4, 4), (4, 6), (12, 12), (20, 20)])
@pytest.mark.parametrize("scale", [0.5, 5.0])
def test_entropic_predictions_agree(m, n, scale):
    theta = scale * np.random.default_rng(n).standard_normal((m, n))
    plan = cp.Variable((m, n))
    objective = cp.sum(cp.entr(plan)) + cp.sum(cp.multiply(theta, plan))
    cp.Problem(cp.Maximize(objective), constraints(plan, m, n)).solve(solver=cp.CLARABEL, **TIGHT)
    point = osp.make_space("assignment", m=m, n=n).kl_project(theta.ravel()).point
    assert np.abs(point - plan.value.ravel()).max() <= 1e-7


def test_matching_predictions_agree():
    rng = np.random.default_rng(0)
    matrix = rng.random((8, 8)) < 0.45
    matrix[np.arange(8), np.roll(np.arange(8), 1)] = True
    space = osp.make_space("matching", graph=matrix)
    theta = rng.standard_normal(space.dim)
    plan = cp.Variable((8, 8))
    outside = cp.multiply(plan, (~matrix).astype(float)) == 0
    target = space.matrix(theta)
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(cp.multiply(matrix.astype(float), plan - target))),
        [*constraints(plan, 8, 8), plan >= 0, outside],
    )
    problem.solve(solver=cp.CLARABEL, **TIGHT)
    assert np.abs(space.project(theta).point - plan.value[matrix]).max() <= 1e-7
