"""Entropic predictions of the Birkhoff family, against slow twins and their own optimality conditions."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import osp_core as osp

SCALES = [1e-8, 1e-3, 1.0, 10.0, 100.0, 1e3, 1e4, 1e6, 1e8]


def scores(kind, rows, columns, seed):
    rng = np.random.default_rng(seed)
    return {
        "normal": lambda: rng.standard_normal((rows, columns)),
        "tied": lambda: rng.integers(0, 3, (rows, columns)).astype(float),
        "heavy": lambda: rng.exponential(size=(rows, columns)) ** 4,
        "triangular": lambda: np.triu(np.ones((rows, columns))),
        "products": lambda: np.outer(np.arange(rows), np.arange(columns)).astype(float),
    }[kind]()


def frank_wolfe_gap(theta, point):
    """max_v ⟨ln point − theta, point − v⟩ by one assignment problem, for m×n matrices.

    Row and column constants are taken out first, so that large scores do not drown the result.
    """
    gradient = np.log(point).astype(np.longdouble) - theta
    square = theta.shape[0] == theta.shape[1]
    for _ in range(50):
        gradient = gradient - (gradient * point).sum(axis=1, keepdims=True)
        if square:
            gradient = gradient - (gradient * point).sum(axis=0)
    chosen = linear_sum_assignment(gradient.astype(float))
    return float((gradient * point).sum() - gradient[chosen].sum())


def violation(point):
    excess = point.sum(axis=0) - 1.0
    columns = np.abs(excess).max() if point.shape[0] == point.shape[1] else excess.max()
    return max(-point.min(), np.abs(point.sum(axis=1) - 1.0).max(), columns)


def plain_sinkhorn(theta, sweeps=20_000):
    plan = np.exp(theta - theta.max())
    for _ in range(sweeps):
        plan /= plan.sum(axis=0)
        plan /= plan.sum(axis=1, keepdims=True)
    return plan


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    rows=st.integers(1, 12),
    spare=st.sampled_from([0, 0, 1, 4]),
    scale=st.sampled_from(SCALES),
    kind=st.sampled_from(["normal", "tied", "heavy", "triangular", "products"]),
    seed=st.integers(0, 99),
)
def test_predictions_are_feasible_and_certified_at_every_scale(rows, spare, scale, kind, seed):
    space = osp.make_space("assignment", m=rows, n=rows + spare)
    theta = scale * scores(kind, rows, rows + spare, seed)
    prediction = space.kl_project(theta.ravel())
    point = prediction.point.reshape(theta.shape)
    size = 1.0 + np.abs(theta).max()
    assert violation(point) <= 1e-14 * (rows + spare)
    assert point.min() > 0
    assert prediction.status == "optimal"
    assert prediction.gap <= rows * (1e-9 + 1e-11 * size)
    # The independent gap carries the rounding of the scores themselves.
    assert frank_wolfe_gap(theta, point) <= prediction.gap + 1e-13 * rows * size


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("scale", [1e-8, 0.1, 1.0, 3.0])
def test_birkhoff_agrees_with_plain_sweeps(n, scale):
    theta = scale * scores("normal", n, n, n)
    point = osp.make_space("birkhoff", n=n).kl_project(theta.ravel()).point
    assert np.abs(point - plain_sinkhorn(theta).ravel()).max() <= 1e-11


@pytest.mark.parametrize("n", [10, 100])
def test_scores_of_a_thousand_stay_finite_feasible_and_certified(n):
    mu = 1.5
    space = osp.make_space("birkhoff", n=n, psi=osp.NegativeEntropy(1.0 / mu))
    theta = 1000.0 * scores("normal", n, n, 0)
    prediction = space.predict(theta.ravel())
    point = prediction.point.reshape(n, n)
    assert np.isfinite(prediction.point).all()
    assert violation(point) <= 1e-9
    assert prediction.gap < 1e-6 * n
    assert frank_wolfe_gap(mu * theta, point) / mu < 1e-6 * n


@pytest.mark.parametrize("mu", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4])
def test_every_sharpness_works_at_every_scale(mu, scale):
    space = osp.make_space("birkhoff", n=8, psi=osp.NegativeEntropy(1.0 / mu))
    theta = scale * scores("normal", 8, 8, 3)
    prediction = space.predict(theta.ravel())
    assert violation(prediction.point.reshape(8, 8)) <= 1e-13
    assert prediction.gap <= 8 / mu * (1e-9 + 1e-11 * mu * scale)
    best = space.lmo(-theta.ravel())
    # ⟨θ, y⟩ falls short of the best vertex by no more than the entropy is worth.
    assert theta.ravel() @ (best - prediction.point) <= 8 * np.log(8) / mu * (1 + 1e-9)


def test_tied_scores_of_a_million_give_the_entropic_centre_of_the_best_face():
    # Items 0 and 1 are interchangeable, item 2 must be last.
    theta = 1e6 * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    point = osp.make_space("birkhoff", n=3).kl_project(theta.ravel()).point.reshape(3, 3)
    expected = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert np.abs(point - expected).max() <= 1e-12


def test_constants_on_rows_and_columns_change_nothing():
    rng = np.random.default_rng(0)
    space = osp.make_space("birkhoff", n=6)
    theta = rng.integers(-4, 5, (6, 6)).astype(float)
    shifted = theta + rng.integers(-(10**9), 10**9, (6, 1)) + rng.integers(-(10**9), 10**9, 6)
    points = [space.kl_project(matrix.ravel()).point for matrix in (theta, shifted)]
    assert np.abs(points[0] - points[1]).max() <= 1e-10


def test_a_batch_is_the_same_as_one_by_one():
    space = osp.make_space("birkhoff", n=5)
    rng = np.random.default_rng(0)
    thetas = rng.standard_normal((30, 25)) * 10.0 ** rng.uniform(-3, 4, (30, 1))
    batch = space.predict_many(thetas)
    for theta, prediction in zip(thetas, batch, strict=True):
        alone = space.predict(theta)
        assert np.abs(alone.point - prediction.point).max() <= 1e-13
        assert prediction.status == alone.status


def test_more_columns_than_needed_leave_prices_at_zero():
    # Far more columns than rows: no column is contested much, so rows are almost independent softmaxes.
    space = osp.make_space("assignment", m=3, n=40)
    theta = 0.1 * scores("normal", 3, 40, 1)
    point = space.kl_project(theta.ravel()).point.reshape(3, 40)
    softmax = np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)
    assert np.abs(point - softmax).max() <= 1e-12


def test_three_hundred_items_decode_within_seconds():
    space = osp.make_space("birkhoff", n=300)
    theta = scores("normal", 300, 300, 0).ravel()
    rng = np.random.default_rng(0)
    decoder = osp.RandomizedDecoder(space)
    decoder.decode(theta, rng)  # compiles
    start = time.process_time()
    vertex = space.sample_vertex(space.predict(theta).point, rng)
    assert time.process_time() - start < 10.0
    assert space.is_vertex(vertex)
    hard = space.predict(1000.0 * theta)
    assert hard.gap <= 1e-6 * 300
