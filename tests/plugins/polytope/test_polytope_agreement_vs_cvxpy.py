"""Sets that are known otherwise, written as constraints: every answer must be the known one."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import osp_core as osp


def polytope(constraints, variable, **options):
    return osp.make_space("polytope", constraints=constraints, variable=variable, **options)


def simplex():
    y = cp.Variable(5, nonneg=True)
    return polytope([cp.sum(y) == 1], y), osp.make_space("simplex", d=5, psi=osp.SquaredNorm(1.0), norm=2.0)


def entropic_simplex():
    y = cp.Variable(5, nonneg=True)
    space = polytope([cp.sum(y) == 1], y, psi=osp.NegativeEntropy(1.0), norm=1.0)
    return space, osp.make_space("simplex", d=5)


def cube():
    y = cp.Variable(4)
    return polytope([y >= 0, y <= 1], y), osp.make_space("hypercube", d=4)


def sigmoid_cube():
    y = cp.Variable(4)
    psi = osp.BinaryEntropy(1.0)
    return polytope([y >= 0, y <= 1], y, psi=psi), osp.make_space("hypercube", d=4, psi=psi)


def birkhoff():
    y = cp.Variable((6, 6), nonneg=True)
    space = polytope([cp.sum(y, axis=0) == 1, cp.sum(y, axis=1) == 1], y)
    return space, osp.make_space("birkhoff", n=6, psi=osp.SquaredNorm(1.0), norm=2.0)


def paths():
    """Unit flows from 0 to 5 in a small acyclic graph, against the list of its paths."""
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (3, 5), (4, 5)]
    incidence = np.zeros((6, len(edges)))
    for number, (tail, head) in enumerate(edges):
        incidence[tail, number], incidence[head, number] = -1.0, 1.0
    flow = cp.Variable(len(edges), nonneg=True)
    space = polytope([incidence @ flow == np.array([-1.0, 0, 0, 0, 0, 1])], flow)
    found = [
        [float(edge in chosen) for edge in range(len(edges))]
        for size in range(2, 6)
        for chosen in itertools.combinations(range(len(edges)), size)
        if np.array_equal(incidence[:, chosen].sum(axis=1), [-1, 0, 0, 0, 0, 1])
    ]
    return space, osp.vertices(found)


def schedules():
    """Hours for four jobs on two machines: vertices with halves, against all basic solutions."""
    hours = cp.Variable(4)
    rows = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 0, 1, 0]])
    bounds = np.array([1.0, 1, 1, 1, 1.5])
    space = polytope([hours >= 0, rows @ hours <= bounds, cp.sum(hours) <= 1.75], hours)
    matrix = np.vstack([rows, np.ones((1, 4)), -np.eye(4)])
    rhs = np.concatenate([bounds, [1.75], np.zeros(4)])
    return space, osp.vertices(basic_solutions(matrix, rhs))


def basic_solutions(matrix, rhs):
    dim, found = matrix.shape[1], set()
    for rows in itertools.combinations(range(len(matrix)), dim):
        square = matrix[list(rows)]
        if abs(np.linalg.det(square)) > 1e-9:
            point = np.linalg.solve(square, rhs[list(rows)])
            if (matrix @ point <= rhs + 1e-9).all():
                found.add(tuple(np.round(point, 9) + 0.0))
    return sorted(found)


def small_knapsack():
    weights = np.array([3, 5, 7, 4, 6, 2, 9])
    items = cp.Variable(7, boolean=True)
    chosen = [y for y in itertools.product([0.0, 1.0], repeat=7) if weights @ y <= 15]
    return polytope([weights @ items <= 15], items), osp.vertices(chosen)


def spanning_trees():
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    incidence = np.zeros((4, len(edges)))
    for number, (tail, head) in enumerate(edges):
        incidence[tail, number], incidence[head, number] = -1.0, 1.0
    chosen, flow = cp.Variable(len(edges), boolean=True), cp.Variable(len(edges))
    rules = [cp.sum(chosen) == 3, incidence @ flow == np.array([-3.0, 1, 1, 1]), cp.abs(flow) <= 3 * chosen]
    return polytope(rules, chosen), osp.make_space("graphic_matroid", edges=edges, psi=osp.SquaredNorm(1.0))


def integer_shares():
    units = cp.Variable(3, integer=True)
    points = [y for y in itertools.product(range(4), repeat=3) if np.dot([2, 3, 1], y) <= 7]
    return polytope([units >= 0, units <= 3, np.array([2, 3, 1]) @ units <= 7], units), osp.vertices(points)


CASES = {
    case.__name__: case
    for case in (
        simplex,
        entropic_simplex,
        cube,
        sigmoid_cube,
        birkhoff,
        paths,
        schedules,
        small_knapsack,
        spanning_trees,
        integer_shares,
    )
}


@pytest.fixture(scope="module")
def pairs():
    return {}


@pytest.fixture(params=CASES)
def pair(request, pairs):
    if request.param not in pairs:
        pairs[request.param] = CASES[request.param]()
    return pairs[request.param]


def scores(rng, dim):
    for scale in (1e-8, 1e-3, 0.1, 1.0, 1.0, 10.0, 1e3, 1e8):
        yield scale * rng.standard_normal(dim)
    yield np.zeros(dim)


def test_cheapest_vertices_cost_the_same(pair, rng):
    space, known = pair
    for cost in scores(rng, space.dim):
        found = space.lmo(cost)
        assert known.is_vertex(found)
        assert found @ cost == pytest.approx(known.lmo(cost) @ cost, abs=1e-9 * np.abs(cost).max() + 1e-300)


def test_nearest_vertices_are_equally_near(pair, rng):
    space, known = pair
    for _ in range(6):
        point = known.predict(rng.standard_normal(space.dim)).point
        found, best = space.nearest_vertex(point), known.nearest_vertex(point)
        assert known.is_vertex(found)
        assert space.distance(found, point) == pytest.approx(space.distance(best, point), abs=1e-9)


def test_predictions_agree_to_a_millionth_and_are_certified(pair, rng):
    space, known = pair
    for theta in scores(rng, space.dim):
        prediction, expected = space.predict(theta), known.predict(theta)
        assert np.abs(prediction.point - expected.point).max() <= 1e-6
        assert prediction.gap <= 1e-8 * (1.0 + np.abs(theta).max())
        assert known.contains(prediction.point, 1e-9)


def test_sampling_is_unbiased(pair, rng):
    space, known = pair
    for _ in range(3):
        prediction = space.predict(rng.standard_normal(space.dim))
        combination = prediction.combination or space.decompose(prediction.point)
        assert all(known.is_vertex(vertex) for vertex in combination.vertices)
        assert np.abs(combination.mean - prediction.point).max() <= 1e-11


def test_constants_are_safe(pair):
    space, known = pair
    assert space.nu <= known.nu * (1 + 1e-12)
    assert space.diameter2 >= known.diameter2 * (1 - 1e-12) or known.diameter2 > space.dim**0.5
    assert space.lam == pytest.approx(known.lam)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-8, 1.0, 1e8]))
def test_the_oracle_of_a_thirty_item_knapsack_agrees_with_dynamic_programming(seed, scale):
    rng = np.random.default_rng(seed)
    values = np.round(scale * rng.uniform(-0.2, 1.0, 30), 12)
    found = knapsack_30().lmo(-values)
    assert WEIGHTS @ found <= CAPACITY
    assert values @ found == pytest.approx(best_value(values), rel=1e-9)


WEIGHTS, CAPACITY = np.random.default_rng(5).integers(5, 40, 30), 220
_made = {}


def knapsack_30():
    if not _made:
        items = cp.Variable(30, boolean=True)
        _made["space"] = polytope([WEIGHTS @ items <= CAPACITY], items)
    return _made["space"]


def best_value(values):
    best = np.zeros(CAPACITY + 1)
    for value, weight in zip(values, WEIGHTS, strict=True):
        best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
    return best[-1]
