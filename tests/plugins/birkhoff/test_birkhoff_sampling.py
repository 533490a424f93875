"""Decompositions and random vertices of the Birkhoff family: means are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from osp_birkhoff.cycles import kernels_numpy

import osp_core as osp


def some_point(space, seed, scale=1.0):
    return space.predict(scale * np.random.default_rng(seed).standard_normal(space.dim)).point


@settings(max_examples=50, derandomize=True, deadline=None)
@given(
    rows=st.integers(1, 9),
    spare=st.sampled_from([0, 0, 1, 3]),
    scale=st.sampled_from([1e-8, 0.5, 3.0, 100.0]),
    euclidean=st.booleans(),
    seed=st.integers(0, 99),
)
def test_decompositions_have_the_right_mean_and_few_terms(rows, spare, scale, euclidean, seed):
    psi = osp.SquaredNorm() if euclidean else osp.NegativeEntropy()
    columns = rows + spare
    space = osp.make_space("assignment", m=rows, n=columns, psi=psi)
    point = some_point(space, seed, scale)
    mixture = space.decompose(point)
    assert np.abs(mixture.mean - point).max() <= 1e-12
    assert len(mixture) <= (rows - 1) ** 2 + 1 if spare == 0 else rows * (columns - 1) + 1
    assert all(space.is_vertex(vertex) for vertex in mixture.vertices)


def test_a_large_decomposition_needs_half_the_terms_of_the_theorem():
    space = osp.make_space("birkhoff", n=30)
    point = some_point(space, 0)
    mixture = space.decompose(point)
    assert np.abs(mixture.mean - point).max() <= 1e-10
    assert len(mixture) <= 29**2 // 2


def test_a_vertex_is_its_own_decomposition():
    space = osp.make_space("birkhoff", n=5)
    vertex = space.from_label((4, 2, 0, 1, 3))
    assert np.array_equal(space.decompose(vertex).vertices, vertex[np.newaxis])
    assert np.array_equal(space.sample_vertex(vertex, np.random.default_rng(0)), vertex)


def test_points_slightly_off_are_moved_and_points_outside_refused():
    space = osp.make_space("birkhoff", n=4)
    point = some_point(space, 1)
    off = point + 1e-9 * np.random.default_rng(0).standard_normal(16)
    assert np.abs(space.decompose(off).mean - point).max() <= 1e-8
    assert space.is_vertex(space.sample_vertex(off, np.random.default_rng(0)))
    for outside in (point + 0.01, np.where(np.arange(16) == 3, -0.2, point)):
        with pytest.raises(osp.InvalidInputError, match="outside the convex hull"):
            space.decompose(outside)
        with pytest.raises(osp.InvalidInputError, match="outside the convex hull"):
            space.sample_vertex(outside, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("birkhoff", {"n": 4}),
        ("birkhoff", {"n": 4, "psi": osp.SquaredNorm(2.0)}),
        ("assignment", {"m": 2, "n": 5}),
        ("matching", {"graph": [(i, j) for i in range(5) for j in range(5) if abs(i - j) <= 1]}),
    ],
)
def test_random_vertices_have_the_point_as_their_mean(name, params):
    space = osp.make_space(name, **params)
    point, draws = some_point(space, 2), 4000
    rng = np.random.default_rng(7)
    sample = space.sample_many(np.repeat(point[np.newaxis], draws, axis=0), rng)
    assert all(space.is_vertex(vertex) for vertex in np.unique(sample, axis=0))
    standard_errors = np.sqrt(np.maximum(point * (1 - point), 1e-12) / draws)
    assert (np.abs(sample.mean(axis=0) - point) <= 4.5 * standard_errors + 1e-9).all()


def test_every_coin_of_the_sampler_is_fair_to_the_mean():
    """One cancelled cycle has two outcomes; weighted with the odds of the coin they average to the matrix."""
    start = some_point(osp.make_space("birkhoff", n=4), 3).reshape(4, 4)
    cycle = [0, 4, 1, 6, 2, 5, 0]  # rows 0, 1, 2 and columns 0, 2, 1
    outcomes = []
    for uniform in (0.0, 1.0 - 1e-15):
        matrix = start.copy()
        neighbours = [[4, 5, 6, 7] for _ in range(4)] + [[0, 1, 2, 3] for _ in range(4)]
        kernels_numpy._cancel(matrix, neighbours, 4, cycle, uniform)
        outcomes.append(matrix)
        assert np.isclose(matrix.sum(axis=0), 1).all()
        assert np.isclose(matrix.sum(axis=1), 1).all()
        assert (matrix == 0).sum() == 1
    moved = np.unravel_index(np.abs(outcomes[0] - outcomes[1]).argmax(), (4, 4))
    odds = (start - outcomes[1])[moved] / (outcomes[0] - outcomes[1])[moved]
    for uniform, expected in ((odds - 1e-9, outcomes[0]), (odds + 1e-9, outcomes[1])):
        matrix = start.copy()
        neighbours = [[4, 5, 6, 7] for _ in range(4)] + [[0, 1, 2, 3] for _ in range(4)]
        kernels_numpy._cancel(matrix, neighbours, 4, cycle, uniform)
        assert np.allclose(matrix, expected, atol=1e-14)
    assert np.allclose(odds * outcomes[0] + (1 - odds) * outcomes[1], start, atol=1e-15)


def test_the_same_seed_draws_the_same_vertex():
    space = osp.make_space("birkhoff", n=12)
    point = some_point(space, 4)
    draws = [space.sample_vertex(point, np.random.default_rng(9)) for _ in range(2)]
    assert draws[0].tobytes() == draws[1].tobytes()


def test_dust_on_a_vertex_neither_slows_nor_biases_the_sampler():
    space = osp.make_space("birkhoff", n=40)
    theta = 1e5 * np.random.default_rng(0).standard_normal(1600)
    point = space.predict(theta).point
    assert np.array_equal(space.sample_vertex(point, np.random.default_rng(0)), space.lmo(-theta))
