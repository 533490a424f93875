"""Polytopes of lower dimension than their space: points, segments, polygons, redundant constraints."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

import osp_core as osp

PSIS = (osp.SquaredNorm(1.0), osp.NegativeEntropy(1.0), osp.BinaryEntropy(1.0), osp.GibbsEntropy(1.0))


def inequalities(dim, *more):
    """Rows (g, h) of g·x ≤ h: the unit cube, and more."""
    cube = [*(np.append(axis, 1.0) for axis in np.eye(dim)), *(np.append(-axis, 0.0) for axis in np.eye(dim))]
    return np.array([*cube, *more], dtype=float)


NONE = np.zeros((0, 4))
# Equations (a, b) with a·x = b, and inequalities.
SETS = {
    "two entries equal": (np.array([[1.0, 1, 1, 1], [1, -1, 0, 0]]), inequalities(3)),
    "a point": (np.array([[1.0, 0, 0, 0.5], [0, 1, 0, 0.25], [0, 0, 1, 1]]), inequalities(3)),
    "a point by equations alone": (np.array([[1.0, 1, 1, 1], [1, -1, 0, 0], [0, 1, 1, 0.5]]), NONE),
    "a point of 0 and 1": (np.array([[1.0, 1, 2]]), inequalities(2)),
    "a segment": (np.array([[1.0, -1, 0, 0], [0, 1, -2, 0]]), inequalities(3)),
    "a polygon": (np.array([[1.0, 2, 3, 4, 3], [1, -1, 1, -1, 0]]), inequalities(4)),
    "the same equation twice": (np.array([[1.0, 1, 1, 1], [2, 2, 2, 2]]), inequalities(3)),
    "redundant inequalities": (NONE, inequalities(3, [1, 1, 1, 1], [2, 2, 2, 2], [1, 1, 1, 9])),
    "flat between inequalities": (NONE, inequalities(3, [1, 1, 1, 1], [-1, -1, -1, -1])),
}


def space_of(name, **options):
    equations, rows = SETS[name]
    x = cp.Variable(rows.shape[1] - 1)
    constraints = [rows[:, :-1] @ x <= rows[:, -1]] if len(rows) else []
    constraints += [equations[:, :-1] @ x == equations[:, -1]] if len(equations) else []
    return osp.make_space("polytope", constraints=constraints, variable=x, **options)


def all_bases(equations, rows):
    """Vertices by solving every choice of tight inequalities: slow and obvious."""
    dim, found = rows.shape[1] - 1, []
    rank = np.linalg.matrix_rank(equations[:, :-1]) if len(equations) else 0
    for tight in itertools.combinations(range(len(rows)), dim - rank):
        system = np.vstack([equations.reshape(-1, dim + 1), rows[list(tight)]])
        if np.linalg.matrix_rank(system[:, :-1]) < dim:
            continue
        x = np.linalg.lstsq(system[:, :-1], system[:, -1], rcond=None)[0]
        feasible = (rows[:, :-1] @ x <= rows[:, -1] + 1e-9).all()
        if feasible and np.abs(system[:, :-1] @ x - system[:, -1]).max() < 1e-9:
            found.append(x)
    return np.unique(np.round(found, 8) + 0.0, axis=0)


def assert_same_rows(rows, expected):
    assert rows.shape == expected.shape
    assert np.unique(np.round(rows, 8) + 0.0, axis=0) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", SETS)
def test_vertices_of_flat_sets_are_those_of_all_bases(name):
    assert_same_rows(space_of(name).vertices(), all_bases(*SETS[name]))


@pytest.mark.parametrize("seed", [5, 6, 16, 106])
def test_vertices_that_lie_in_a_plane_at_first_are_completed(seed):
    """The oracle's answers along the axes may be many and still span too little."""
    rng = np.random.default_rng(seed)
    for dim in (3, 4, 5):
        more = rng.integers(-1, 2, size=(2, dim))
        through = rng.integers(0, 3, size=dim) / 2.0
        rows = inequalities(dim, *np.column_stack([more, more @ through + rng.integers(0, 2, size=2) / 2.0]))
        x = cp.Variable(dim)
        space = osp.make_space("polytope", constraints=[rows[:, :-1] @ x <= rows[:, -1]], variable=x)
        expected = all_bases(np.zeros((0, dim + 1)), rows)
        assert_same_rows(space.vertices(), expected)


@pytest.mark.parametrize("name", SETS)
def test_flat_sets_answer_whatever_is_asked_in_a_round(name, rng):
    space = space_of(name)
    vertices = space.vertices()
    for psi in PSIS:
        twin = space.with_psi(psi)
        for size in (0.0, 1.0, 1e4):
            theta = size * rng.standard_normal(space.dim)
            prediction = twin.predict(theta)
            assert prediction.gap <= 1e-9 * (1.0 + size)
            assert twin.contains(prediction.point, 1e-8)
            if len(vertices) == 1:
                assert np.array_equal(prediction.point, vertices[0])
            assert psi.loss(twin, theta, twin.lmo(-theta), prediction) >= 0.0
            assert twin.is_vertex(osp.RandomizedDecoder(twin).law(prediction).sample(rng))
    assert all(space.is_vertex(vertex) for vertex in vertices)
    assert space.diameter >= 0.0
    assert space.nu > 0.0


def test_a_set_too_thin_for_an_entropy_is_refused_rather_than_left():
    x = cp.Variable(3)
    thin = [x >= 0, x <= 1, cp.sum(x) >= 1, cp.sum(x) <= 1 + 1e-9]
    space = osp.make_space("polytope", constraints=thin, variable=x, psi=osp.NegativeEntropy(1.0))
    with pytest.raises(osp.OspError, match="too thin"):
        space.predict(np.zeros(3))
    assert space.with_psi(osp.SquaredNorm(1.0)).predict(np.zeros(3)).point == pytest.approx([1 / 3] * 3)


def test_scores_that_overflow_the_curvature_raise_no_warning():
    hours = cp.Variable(3)
    constraints = [hours >= 0, hours <= 2, cp.sum(hours) <= 3.5]
    space = osp.make_space("polytope", constraints=constraints, variable=hours, psi=osp.NegativeEntropy(1.0))
    prediction = space.predict(np.full(3, 1e8))
    assert prediction.point == pytest.approx([3.5 / 3] * 3, abs=1e-6)
    assert prediction.gap <= 1e-6
