"""One run: limits, callbacks, warm starts, caches, stopping on distance, and the oracle's misbehaviour."""

import itertools

import numpy as np
import pytest

from osp_core.errors import InvalidInputError, OracleError
from osp_core.frank_wolfe import BlendedPairwise, Oracle, Pairwise, Quadratic, Status, VertexCache, minimize
from osp_core.geometry.combinations import ConvexCombination

CENTRE = 0.3 * np.random.default_rng(0).normal(size=64)


@pytest.mark.parametrize("method", [None, BlendedPairwise()], ids=repr)
def test_a_limit_on_steps_is_kept_and_reported(fw, method):
    result = minimize(fw.birkhoff(8), Quadratic(CENTRE), method=method, max_iter=5)
    fw.check_result(result)
    assert result.status is Status.MAX_ITER
    assert result.iterations == 5
    gradient = result.point - CENTRE
    assert result.gap == pytest.approx(gradient @ (result.point - fw.birkhoff(8)(gradient)), rel=1e-9)


def test_no_step_at_all_still_gives_a_certified_point(fw):
    result = minimize(fw.birkhoff(8), Quadratic(CENTRE), max_iter=0)
    assert (result.status, result.iterations, result.lmo_calls) == (Status.MAX_ITER, 0, 2)
    assert result.gap > 0.0


def test_a_time_limit_is_kept_and_reported(fw):
    result = minimize(fw.birkhoff(8), Quadratic(CENTRE), time_limit=1e-9)
    fw.check_result(result)
    assert result.status is Status.TIME_LIMIT


def test_a_callback_sees_the_progress_and_can_stop_the_run(fw):
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.iteration == 4

    result = minimize(fw.birkhoff(8), Quadratic(CENTRE), callback=callback)
    assert result.status is Status.INTERRUPTED
    assert [progress.iteration for progress in seen] == [1, 2, 3, 4]
    assert all(a.lmo_calls < b.lmo_calls for a, b in itertools.pairwise(seen))
    assert seen[-1].point.shape == (64,)


def test_the_trajectory_is_recorded_on_request_only(fw):
    quiet = minimize(fw.birkhoff(8), Quadratic(CENTRE))
    result = minimize(fw.birkhoff(8), Quadratic(CENTRE), trajectory=True)
    assert quiet.trajectory == ()
    iterations, calls, seconds, gaps = zip(*result.trajectory, strict=True)
    assert list(iterations) == sorted(iterations)
    assert calls[-1] == result.lmo_calls
    assert list(seconds) == sorted(seconds)
    assert gaps[-1] == result.gap


@pytest.mark.parametrize("method", [None, BlendedPairwise(), Pairwise()], ids=repr)
def test_a_start_at_the_optimum_costs_one_oracle_call(fw, method):
    first = minimize(fw.birkhoff(8), Quadratic(CENTRE))
    for start in (first, first.combination):
        again = minimize(fw.birkhoff(8), Quadratic(CENTRE), start=start, method=method)
        assert again.status is Status.OPTIMAL
        assert again.lmo_calls == 1
        assert np.abs(again.point - first.point).max() < 1e-12


def test_a_warm_start_and_a_cache_save_oracle_calls(fw):
    rng, cache, previous = np.random.default_rng(1), VertexCache(), None
    cold = warm = cached = 0
    for _ in range(15):
        centre = CENTRE + 0.02 * rng.normal(size=64)
        results = [
            minimize(fw.birkhoff(8), Quadratic(centre)),
            minimize(fw.birkhoff(8), Quadratic(centre), start=previous),
            minimize(fw.birkhoff(8), Quadratic(centre), cache=cache),
        ]
        previous = results[1].combination
        for result in results:
            assert result.status is Status.OPTIMAL
            assert np.abs(result.point - results[0].point).max() < 1e-6
        cold, warm, cached = (
            total + r.lmo_calls for total, r in zip((cold, warm, cached), results, strict=True)
        )
    assert warm < 0.7 * cold
    assert cached < 0.4 * cold


def test_a_start_with_repeated_and_dependent_atoms_is_made_independent(fw):
    square = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [1, 1]], dtype=float)
    start = ConvexCombination(square, np.full(5, 0.2))
    result = minimize(fw.hypercube, Quadratic(np.array([0.4, 0.6])), start=start)
    fw.check_result(result)
    assert len(result.combination) <= 3
    assert np.allclose(result.point, [0.4, 0.6])


def test_an_expensive_oracle_is_called_once_per_atom_and_once_to_certify(fw):
    for k in range(1, 6):
        lmo = fw.Counted(fw.k_subsets(k))
        result = minimize(lmo, Quadratic(1e-3 * np.random.default_rng(k).normal(size=6)))
        assert lmo.calls == result.lmo_calls
        assert result.lmo_calls <= len(result.combination) + 2
    lmo = fw.Counted(fw.birkhoff(8))
    result = minimize(lmo, Quadratic(CENTRE))
    assert lmo.calls == result.lmo_calls <= 1.3 * len(result.combination)


@pytest.mark.parametrize("method", [None, BlendedPairwise(), Pairwise()], ids=repr)
@pytest.mark.parametrize("distance_tol", [1e-4, 1e-8])
def test_a_point_of_the_hull_is_decomposed_to_the_distance_asked_for(fw, method, distance_tol):
    rng = np.random.default_rng(2)
    for _ in range(5):
        vertices = np.array([fw.birkhoff(6)(rng.normal(size=36)) for _ in range(20)])
        point = rng.dirichlet(np.ones(20)) @ vertices
        result = minimize(fw.birkhoff(6), Quadratic(point), method=method, distance_tol=distance_tol)
        fw.check_result(result)
        assert result.status is Status.OPTIMAL
        assert np.linalg.norm(result.point - point) <= distance_tol


@pytest.mark.parametrize("method", [None, BlendedPairwise()], ids=repr)
def test_a_point_outside_the_hull_cannot_be_decomposed_and_says_so(fw, method):
    result = minimize(fw.hypercube, Quadratic([0.5, 1.5]), method=method, distance_tol=1e-9)
    assert result.status is Status.STALLED
    assert np.allclose(result.point, [0.5, 1.0])


def bad_oracle(answer):
    def broken_oracle(cost):
        return answer

    return broken_oracle


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (np.zeros(4), "shape"),
        (np.zeros((3, 1)), "shape"),
        (np.array([0.0, np.nan, 1.0]), "nan at index 1"),
        (np.array([0.0, 1.0, -np.inf]), "inf at index 2"),
        (None, "no vector of numbers|shape"),
        ("vertex", "no vector of numbers"),
        ([[1.0], [2.0, 3.0]], "no vector of numbers"),
    ],
)
def test_an_oracle_that_returns_rubbish_is_named(answer, complaint):
    with pytest.raises(OracleError, match="broken_oracle") as error:
        minimize(bad_oracle(answer), Quadratic(np.zeros(3)))
    assert error.match(complaint)


def test_a_point_that_is_no_vertex_is_refused_where_vertices_are_known():
    half = bad_oracle(np.array([0.5, 0.5]))
    with pytest.raises(OracleError, match=r"broken_oracle.*0 and 1"):
        minimize(Oracle(half, zero_one=True), Quadratic(np.zeros(2)))
    with pytest.raises(OracleError, match=r"mine.*not a vertex"):
        minimize(Oracle(half, is_vertex=lambda v: set(v) <= {0, 1}, name="mine"), Quadratic(np.zeros(2)))


def test_an_inexact_zero_one_vertex_is_rounded(fw):
    noisy = Oracle(lambda cost: fw.hypercube(cost) + 1e-9, zero_one=True)
    result = minimize(noisy, Quadratic([0.5, 0.25]))
    assert set(result.combination.vertices.ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("method", [None, BlendedPairwise(), Pairwise()], ids=repr)
def test_an_oracle_that_does_not_minimise_is_found_out(fw, method):
    answers = itertools.cycle([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])

    def in_turn(cost):
        return next(answers)

    with pytest.raises(OracleError, match=r"in_turn.*must minimise"):
        minimize(in_turn, Quadratic([1.0, 0.3, -4.0]), method=method)


def test_an_oracle_that_writes_on_its_argument_does_no_harm(fw):
    def scribbling(cost):
        vertex = fw.hypercube(cost)
        cost[:] = np.nan
        return vertex

    assert np.allclose(minimize(scribbling, Quadratic([0.3, 0.6])).point, [0.3, 0.6])


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"lmo": 3}, "callable"),
        ({"tol": -1.0}, "tol"),
        ({"tol": np.nan}, "tol"),
        ({"max_iter": -1}, "max_iter"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"dim": 3}, "length 2"),
        ({"start": ConvexCombination(np.eye(3)[:1], np.ones(1))}, "length 3"),
    ],
)
def test_bad_arguments_are_refused_by_name(fw, arguments, match):
    lmo = arguments.pop("lmo", fw.hypercube)
    with pytest.raises(InvalidInputError, match=match):
        minimize(lmo, Quadratic([0.0, 1.0]), **arguments)


@pytest.mark.parametrize("centre", [[np.nan, 0.0], [[0.0]], [1e200, 0.0], "abc"])
def test_a_bad_centre_is_refused(centre):
    with pytest.raises(InvalidInputError, match="centre"):
        Quadratic(centre)


def test_stopping_on_distance_needs_a_quadratic(fw):
    from osp_core.frank_wolfe import Smooth

    with pytest.raises(InvalidInputError, match="distance_tol"):
        minimize(fw.hypercube, Smooth(lambda y: 0.0, lambda y: y), dim=2, distance_tol=0.1)


def test_a_cache_forgets_the_vertex_unused_for_longest():
    cache = VertexCache(capacity=2)
    first, second, third = np.eye(3)
    cache.add(first)
    cache.add(second)
    assert np.array_equal(cache.cheapest(np.array([-1.0, 0.0, 0.0])), first)
    cache.add(third)
    assert len(cache) == 2
    assert not np.array_equal(cache.cheapest(np.array([0.0, -1.0, 0.0])), second)


def test_a_cache_serves_one_dimension_only():
    cache = VertexCache()
    cache.add(np.zeros(3))
    assert cache.cheapest(np.zeros(2)) is None
    with pytest.raises(InvalidInputError, match="length 3"):
        cache.add(np.zeros(2))
