"""The compiled kernels of the Birkhoff family against their numpy twins."""

import numpy as np
import pytest
from osp_birkhoff import kernels_numba, kernels_numpy
from osp_birkhoff.cycles import kernels_numba as cycles_numba
from osp_birkhoff.cycles import kernels_numpy as cycles_numpy
from osp_birkhoff.newton import kernels_numba as newton_numba
from osp_birkhoff.newton import kernels_numpy as newton_numpy

import osp_core as osp
from osp_core import kernels

TWINS = kernels_numba, kernels_numpy
NEWTON_TWINS = newton_numba, newton_numpy
SHAPES = [(1, 1), (2, 2), (6, 6), (3, 7), (20, 20)]


def problem(rows, columns, seed=0, masked=False):
    rng = np.random.default_rng(seed)
    scores = 3.0 * rng.standard_normal((rows, columns))
    if masked and rows == columns > 1:
        scores[0, 0] = scores[1, 1] = -np.inf
    floor = np.full(columns, -np.inf) if rows == columns else np.zeros(columns)
    return scores, floor


@pytest.mark.parametrize("shape", SHAPES)
def test_sweeps_agree(shape):
    scores = np.random.default_rng(0).standard_normal((4, *shape))
    scores[1] *= 1e3
    scores[2] += 1e6
    cap = np.inf if shape[0] == shape[1] else 1.0
    ours, twin = (module.sinkhorn(scores, 100.0, cap, 1e-12, 60) for module in TWINS)
    assert np.array_equal(ours[4], twin[4])
    assert np.array_equal(np.isinf(ours[3]), np.isinf(twin[3]))
    for compiled, reference in zip(ours[:3], twin[:3], strict=True):
        assert np.allclose(compiled, reference, rtol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [0.1, 2.0])
def test_points_of_scaled_matrices_agree(shape, scale):
    cap = np.inf if shape[0] == shape[1] else 1.0
    scores = scale * np.random.default_rng(3).standard_normal((2, *shape))
    factors, left, right, errors, _ = kernels_numpy.sinkhorn(scores, 100.0, cap, 1e-9, 4000)
    assert errors.max() <= 1e-9
    points = [factors[0].copy(), factors[0].copy()]
    gaps = [
        module.scale_to_point(point, left[0], right[0], cap)
        for module, point in zip(TWINS, points, strict=True)
    ]
    assert np.abs(points[0] - points[1]).max() <= 1e-14
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("columns", [1, 3, 8, 100])
def test_exponentials_are_right_to_the_last_place(columns):
    row = np.random.default_rng(columns).uniform(-700.0, 5.0, columns)
    row[0] = 1e-9
    row[1 + columns // 2 :: 7] = -np.inf
    powers = np.empty(columns)
    assert kernels_numba.largest_entry(row) == row.max()
    wild = kernels_numba.exponentials(row, 5.0, 100.0, powers, np.empty(columns))
    exponents = row - 5.0
    assert wild == (np.isfinite(row) & (exponents < -100.0)).sum()
    assert np.allclose(powers, np.exp(exponents), rtol=4e-16, atol=0.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["softmax_rows", "sparsemax_rows"])
def test_row_conjugates_agree(shape, name):
    scores, _ = problem(*shape, masked=True)
    potentials = np.random.default_rng(1).standard_normal(shape[1])
    for guess in (np.inf, 0.0, -50.0):
        results = [
            getattr(module, name)(scores, potentials, np.full(shape[0], guess)) for module in NEWTON_TWINS
        ]
        for compiled, reference in zip(*results, strict=True):
            assert np.allclose(compiled, reference, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["newton_entropic", "newton_euclidean"])
@pytest.mark.parametrize("masked", [False, True])
def test_newton_agrees(shape, name, masked):
    if masked and shape == (2, 2):
        masked = False  # nothing would be left of the diagonal
    scores, floor = problem(*shape, masked=masked)
    start = np.zeros(shape[1])
    compiled, reference = (getattr(module, name)(scores, start, floor, 1e-14, 100) for module in NEWTON_TWINS)
    assert np.abs(compiled[0] - reference[0]).max() <= 1e-11
    assert compiled[3] <= 1e-12
    assert reference[3] <= 1e-12


def test_feasibility_and_gaps_agree():
    rng = np.random.default_rng(2)
    plan = rng.random((8, 8)) ** 8 + 1e-250
    for _ in range(30):
        plan /= plan.sum(axis=0)
        plan /= plan.sum(axis=1, keepdims=True)
    scores, zeros = np.log(plan), np.zeros(8)
    points = []
    for module in TWINS:
        point = plan.copy()
        module.cap_and_fill(point)
        points.append(point)
    assert np.abs(points[0] - points[1]).max() <= 1e-15
    assert max(np.abs(points[0].sum(axis=axis) - 1).max() for axis in (0, 1)) <= 1e-14
    entropic = [module.entropic_gap(points[0], plan, scores, zeros, zeros) for module in TWINS]
    assert entropic[0] == pytest.approx(entropic[1], rel=1e-6, abs=1e-13)
    euclidean = [module.euclidean_gap(points[0], scores, zeros, zeros) for module in TWINS]
    assert euclidean[0] == pytest.approx(euclidean[1], rel=1e-12)


def test_distances_agree():
    lengths = np.random.default_rng(0).random((9, 9))
    lengths[2, :5] = np.inf
    results = [lengths.copy(), lengths.copy()]
    for module, result in zip(TWINS, results, strict=True):
        module.all_distances(result)
    assert np.array_equal(*results)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_the_sampler_makes_the_same_choices(n):
    point = osp.make_space("birkhoff", n=n).predict(np.random.default_rng(n).standard_normal(n * n)).point
    uniforms = np.random.default_rng(0).random(n * n)
    results = [point.reshape(n, n).copy(), point.reshape(n, n).copy()]
    used = [
        module.round_by_cycles(result, uniforms)
        for module, result in zip((cycles_numba, cycles_numpy), results, strict=True)
    ]
    assert used[0] == used[1]
    assert np.array_equal(*results)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
def test_whole_predictions_agree(scale):
    theta = scale * np.random.default_rng(0).standard_normal(100)
    for psi in (osp.NegativeEntropy(), osp.SquaredNorm()):
        space = osp.make_space("birkhoff", n=10, psi=psi)
        points = []
        for choice in ("numba", "numpy"):
            with kernels.use(choice):
                points.append(space.predict(theta).point)
        assert np.abs(points[0] - points[1]).max() <= 1e-11


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (3, 5)])
def test_both_see_the_same_plans_and_violations(shape):
    rng = np.random.default_rng(0)
    whole = np.eye(*shape)
    spoilt = [whole, whole[:, ::-1].copy(), np.zeros(shape), np.ones(shape), 0.5 * whole, 2.0 * whole]
    repeated = whole.copy()
    repeated[-1] = whole[0]
    spoilt += [repeated, whole - 1e-9, whole + 1e-3 * rng.random(shape)]
    for matrix in spoilt:
        assert kernels_numba.is_plan(matrix) == kernels_numpy.is_plan(matrix)
        assert kernels_numba.violation(matrix) == pytest.approx(kernels_numpy.violation(matrix), abs=1e-15)
    assert kernels_numpy.is_plan(whole)


@pytest.mark.parametrize(
    ("n", "psi"), [(2, osp.NegativeEntropy()), (12, osp.NegativeEntropy()), (12, osp.SquaredNorm())]
)
def test_cancelling_squares_leaves_no_square(n, psi):
    space = osp.make_space("birkhoff", n=n, psi=psi)
    point = space.predict(np.random.default_rng(n).standard_normal(n * n)).point.reshape(n, n)
    results = [np.where(point < 1e-15, 0.0, point) for _ in range(2)]
    uniforms = np.random.default_rng(0).random(n * n)
    used = [
        module.cancel_squares(result, uniforms)
        for module, result in zip((cycles_numba, cycles_numpy), results, strict=True)
    ]
    assert used[0] == used[1]
    assert np.array_equal(*results)
    assert max(np.abs(results[0].sum(axis=axis) - 1.0).max() for axis in (0, 1)) <= 1e-12
    fractional = ((results[0] > 0) & (results[0] < 1 - 1e-12)).astype(float)
    shared = fractional @ fractional.T
    assert (shared - np.diag(np.diag(shared))).max() <= 1


def test_dust_is_swept_and_fractions_are_counted_alike():
    matrix = np.array([[1e-16, 0.5, 0.5], [1.0, 0.0, 1e-14]])
    results = [matrix.copy(), matrix.copy()]
    counts = [
        module.sweep_dust(result)
        for module, result in zip((cycles_numba, cycles_numpy), results, strict=True)
    ]
    assert counts == [3, 3]
    assert np.array_equal(*results)
    assert results[0][0, 0] == 0.0
