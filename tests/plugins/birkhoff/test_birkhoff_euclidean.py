"""Euclidean projections of the Birkhoff family, against the engine and the optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import osp_core as osp
from osp_core.spaces import OutputSpace


def projection_gap(theta, point):
    """max_v ⟨point − theta, point − v⟩ for m×n matrices; exact arithmetic is imitated by long doubles."""
    gradient = point.astype(np.longdouble) - theta
    chosen = linear_sum_assignment(gradient.astype(float))
    return float((gradient * point).sum() - gradient[chosen].sum())


@settings(max_examples=80, derandomize=True, deadline=None)
@given(
    rows=st.integers(1, 12),
    spare=st.sampled_from([0, 0, 1, 5]),
    scale=st.sampled_from([1e-8, 1e-2, 1.0, 10.0, 1e3, 1e8]),
    tied=st.booleans(),
    seed=st.integers(0, 99),
)
def test_projections_are_feasible_and_certified_at_every_scale(rows, spare, scale, tied, seed):
    rng = np.random.default_rng(seed)
    shape = (rows, rows + spare)
    theta = scale * (rng.integers(0, 3, shape) if tied else rng.standard_normal(shape))
    space = osp.make_space("assignment", m=rows, n=rows + spare)
    prediction = space.project(theta.ravel())
    point = prediction.point.reshape(shape)
    excess = point.sum(axis=0) - 1.0
    assert np.abs(point.sum(axis=1) - 1.0).max() <= 1e-14 * rows
    assert (np.abs(excess).max() if spare == 0 else excess.max()) <= 1e-14 * rows
    assert point.min() >= 0
    assert prediction.status == "optimal"
    assert prediction.gap <= 1e-10 * rows
    assert projection_gap(theta, point) <= prediction.gap + 1e-14 * rows * (1.0 + scale)


@pytest.mark.parametrize(("name", "params"), [("birkhoff", {"n": 6}), ("assignment", {"m": 4, "n": 7})])
@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_projections_agree_with_the_engine(name, params, scale):
    space = osp.make_space(name, **params, psi=osp.SquaredNorm(), norm=2)
    theta = scale * np.random.default_rng(1).standard_normal(space.dim)
    engine = OutputSpace.project(space, theta)
    assert np.abs(space.project(theta).point - engine.point).max() <= 1e-9


def test_far_scores_give_the_best_vertex_exactly():
    theta = 1e8 * np.random.default_rng(2).standard_normal(400)
    space = osp.make_space("birkhoff", n=20, psi=osp.SquaredNorm(), norm=2)
    assert np.array_equal(space.predict(theta).point, space.lmo(-theta))


def test_predictions_are_sparse():
    theta = 3.0 * np.random.default_rng(3).standard_normal(900)
    point = osp.make_space("birkhoff", n=30, psi=osp.SquaredNorm(), norm=2).predict(theta).point
    assert np.count_nonzero(point) < 120


def test_tiny_scores_move_the_centre_by_their_double_centring():
    space = osp.make_space("birkhoff", n=7, psi=osp.SquaredNorm(), norm=2)
    theta = 1e-8 * np.random.default_rng(4).standard_normal(49)
    expected = 1.0 / 7.0 + space.project_direction(theta)
    assert np.abs(space.predict(theta).point - expected).max() <= 1e-15


def test_a_large_common_offset_costs_no_accuracy():
    rng = np.random.default_rng(5)
    space = osp.make_space("birkhoff", n=9)
    theta = rng.integers(-100, 100, 81) / 64.0
    exact, shifted = space.project(theta).point, space.project(theta + 2.0**30).point
    assert np.abs(exact - shifted).max() <= 1e-12


@pytest.mark.parametrize("n", [65, 150])
def test_large_plans_take_the_other_route_to_the_same_answer(n):
    theta = np.random.default_rng(n).standard_normal((n, n))
    prediction = osp.make_space("birkhoff", n=n).project(theta.ravel())
    point = prediction.point.reshape(n, n)
    assert max(np.abs(point.sum(axis=axis) - 1.0).max() for axis in (0, 1)) <= 1e-13
    assert projection_gap(theta, point) <= 1e-10 * n
