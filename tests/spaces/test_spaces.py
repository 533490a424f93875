"""What a space derives from its oracle alone."""

import itertools

import numpy as np
import pytest

import osp_core as osp
from osp_core.geometry.directions import discover_span

PATHS = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 1, 1]], dtype=float)


def best_path(cost):
    return PATHS[np.argmin(PATHS @ cost)]


class Paths(osp.ZeroOneSpace):
    dim = 5

    def lmo(self, cost):
        return best_path(cost)


class Triangle(osp.OutputSpace):
    dim = 2
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])

    def lmo(self, cost):
        return self.corners[np.argmin(self.corners @ cost)]


def test_a_class_with_a_dimension_and_an_oracle_is_enough(rng):
    space = Paths()
    predictor = osp.OnlinePredictor(space, 3, seed=0)
    for _ in range(20):
        x = rng.standard_normal(3)
        record = predictor.step(x / np.linalg.norm(x), PATHS[rng.integers(3)])
        assert space.is_vertex(record.vertex)
    assert predictor.guarantee().value > 0


def test_zero_one_constants_err_on_the_safe_side():
    space = Paths()
    pairs = [np.abs(a - b).sum() for a, b in itertools.combinations(PATHS, 2)]
    assert space.nu1 <= min(pairs)
    assert space.diameter1 >= max(pairs)
    assert space.max_mass == 3
    assert not space.constant_mass
    constant = osp.space_from_lmo(lambda c: PATHS[:2][np.argmin(PATHS[:2] @ c)], 5)
    assert constant.constant_mass
    assert constant.nu == pytest.approx(np.sqrt(2))


def test_general_constants_come_from_the_box():
    space = Triangle()
    assert (space.min_entry, space.max_entry) == (0.0, 4.0)
    assert space.max_mass == 4.0
    assert space.diameter >= np.sqrt(17)
    assert space.max_square >= 16
    with pytest.raises(osp.MissingConstantError, match="nu="):
        _ = space.nu


@pytest.mark.parametrize("norm", [1, 1.5, 2, 3])
def test_one_oracle_call_finds_the_nearest_zero_one_vertex(norm, rng):
    space = osp.space_from_lmo(best_path, 5, norm=norm)
    for _ in range(200):
        point = rng.dirichlet(np.ones(3)) @ PATHS
        nearest = space.nearest_vertex(point)
        assert (
            np.linalg.norm(nearest - point, norm) <= np.linalg.norm(PATHS - point, norm, axis=1).min() + 1e-12
        )


def test_the_vertices_of_a_small_zero_one_space_are_found_through_the_oracle():
    found = {tuple(y) for y in Paths().vertices()}
    assert found == {tuple(y) for y in PATHS}


def test_membership_needs_no_list_of_vertices():
    space = Triangle()
    assert all(space.is_vertex(corner) for corner in space.corners)
    assert not space.is_vertex([1.0, 0.0])  # on an edge
    assert not space.is_vertex([9.0, 9.0])
    assert not space.is_vertex([0.0])
    assert space.contains([1.0, 0.5])
    assert not space.contains([3.0, 1.0])


def test_decompositions_reproduce_the_point_and_refuse_outsiders(rng):
    space = Triangle()
    for _ in range(30):
        point = rng.dirichlet(np.ones(3)) @ space.corners
        np.testing.assert_allclose(space.decompose(point).mean, point, atol=1e-10)
    with pytest.raises(osp.InvalidInputError, match="outside conv"):
        space.decompose([5.0, 5.0])


def test_default_samples_are_unbiased(rng):
    space = Paths()
    point = np.array([0.2, 0.3, 0.5]) @ PATHS
    draws = np.array([space.sample_vertex(point, rng) for _ in range(4000)])
    assert np.abs(draws.mean(axis=0) - point).max() < 4 * np.sqrt(0.25 / 4000)


@pytest.mark.parametrize("method", ["lmo", "nearest_vertex", "predict", "project", "marginals", "decompose"])
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ([1.0, 2.0], "length 5"),
        ([np.nan] * 5, "finite"),
        ([np.inf, 0, 0, 0, 0], "index 0"),
        ("abcde", "numbers"),
    ],
)
def test_every_method_refuses_bad_vectors_even_in_a_ten_line_space(method, argument, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        getattr(Paths(), method)(argument)


def test_the_span_is_found_and_certified_through_the_oracle(rng):
    vertices = rng.integers(0, 2, size=(4, 7)).astype(float)
    span = discover_span(lambda cost: vertices[np.argmin(vertices @ cost)], 7)
    differences = vertices[1:] - vertices[0]
    projector = np.linalg.pinv(differences) @ differences
    direction = rng.standard_normal(7)
    np.testing.assert_allclose(span.project(direction), projector @ direction, atol=1e-9)


def test_a_single_output_spans_nothing():
    span = discover_span(lambda cost: np.array([1.0, 2.0, 3.0]), 3)
    np.testing.assert_allclose(span.project(np.ones(3)), 0.0, atol=1e-12)


def test_an_oracle_function_may_change_its_argument_without_harm():
    def vandal(cost):
        chosen = (cost < 0).astype(float)
        cost[:] = np.nan
        return chosen

    cost = np.array([1.0, -1.0])
    np.testing.assert_array_equal(osp.space_from_lmo(vandal, 2).lmo(cost), [0, 1])
    np.testing.assert_array_equal(cost, [1.0, -1.0])


@pytest.mark.parametrize(
    ("answer", "message"),
    [(np.zeros(3), "length 2"), (np.array([np.nan, 0]), "finite"), (np.array([0.5, 0.5]), "no 0/1 vector")],
)
def test_an_oracle_that_returns_rubbish_is_named(answer, message):
    def lazy_oracle(cost):
        return answer

    with pytest.raises(osp.OracleError, match=message) as error:
        osp.space_from_lmo(lazy_oracle, 2).lmo(np.zeros(2))
    assert "lazy_oracle" in str(error.value)


@pytest.mark.parametrize(
    "params", [{"dim": 0}, {"dim": 2.5}, {"dim": True}, {"nu": -1.0}, {"norm": 0.5}, {"psi": 3}]
)
def test_space_from_lmo_refuses_bad_parameters(params):
    with pytest.raises(osp.InvalidInputError):
        osp.space_from_lmo(best_path, **{"dim": 5, **params})


def test_a_space_takes_no_context_unless_it_says_so():
    assert Paths().at(None).dim == 5
    with pytest.raises(osp.UnsupportedError, match="context"):
        Paths().at("monday")


def test_equal_norms_make_the_oracle_find_the_nearest_vertex(rng):
    points = np.array(list(itertools.permutations([1.0, 2.0, 5.0])))

    def by_sorting(cost):
        return points[np.argmin(points @ cost)]

    space = osp.space_from_lmo(by_sorting, 3, zero_one=False, equal_norm=True, nu=np.sqrt(2))
    assert space.nearest_is_exact
    for _ in range(50):
        point = rng.dirichlet(np.ones(6)) @ points
        chosen = space.nearest_vertex(point)
        assert np.linalg.norm(chosen - point) <= np.linalg.norm(points - point, axis=1).min() + 1e-12
