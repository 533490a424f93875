"""The k-subsets: oracles, capped projections, systematic sampling, Gibbs marginals, labels and constants."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import osp_core as osp

PSIS = [osp.SquaredNorm(0.7), osp.NegativeEntropy(1.3), osp.BinaryEntropy(0.6), osp.GibbsEntropy(0.9)]
sizes = st.integers(1, 25).flatmap(lambda d: st.tuples(st.just(d), st.integers(0, d)))
problems = given(size=sizes, exponent=st.floats(-8, 8), seed=st.integers(0, 999))


def k_subsets(size, **parameters):
    return osp.make_space("k_subsets", d=size[0], k=size[1], **parameters)


def scores(d, exponent, seed):
    """Random scores, with ties among them for every third seed and a large offset for every fourth."""
    theta = np.random.default_rng(seed).standard_normal(d)
    theta = np.round(theta, 1) if seed % 3 == 0 else theta
    return 10.0**exponent * theta + (1e8 if seed % 4 == 0 else 0.0)


def frank_wolfe_gap(space, slope, y):
    """max over outputs v of ⟨slope, y − v⟩; the best v has the k smallest slopes."""
    slope = slope - slope.mean()  # all outputs have the same sum
    return float(slope @ y - np.sort(slope)[: space.k].sum())


@problems
def test_the_oracle_returns_the_k_smallest_costs(size, exponent, seed):
    space, cost = k_subsets(size), scores(size[0], exponent, seed)
    y = space.lmo(cost)
    assert space.is_vertex(y)
    chosen = np.sort(np.argsort(cost, kind="stable")[: size[1]])  # equal costs by index
    np.testing.assert_array_equal(np.flatnonzero(y), chosen)
    np.testing.assert_array_equal(space.lmo_many(np.vstack([cost, -cost])), [y, space.lmo(-cost)])


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, np.inf])
def test_the_k_largest_entries_are_nearest_in_every_norm(p, rng):
    space = osp.make_space("k_subsets", d=6, k=2, norm=p)
    assert space.nearest_is_exact
    for point in rng.normal(0.4, 0.5, (100, 6)):
        distances = np.linalg.norm(space.vertices() - point, ord=p, axis=1)
        assert np.linalg.norm(space.nearest_vertex(point) - point, ord=p) <= distances.min() + 1e-12


@problems
def test_the_projection_is_feasible_and_optimal(size, exponent, seed):
    space, theta = k_subsets(size), scores(size[0], exponent, seed)
    y = space.predict(theta).point
    assert y.min() >= 0
    assert y.max() <= 1
    assert y.sum() == pytest.approx(size[1], abs=1e-12)
    spread = np.ptp(theta)
    assert frank_wolfe_gap(space, y - theta, y) <= 1e-13 * size[0] * (1 + spread)


@pytest.mark.parametrize("psi", PSIS[1:3], ids=lambda psi: type(psi).__name__)
@given(size=sizes, exponent=st.floats(-8, 2), seed=st.integers(0, 999))
def test_entropic_predictions_are_feasible_and_optimal(psi, size, exponent, seed):
    space = k_subsets(size, psi=psi)
    theta = scores(size[0], exponent, 4 * seed + 1)
    y = space.predict(theta).point
    assert y.sum() == pytest.approx(size[1], abs=1e-11)
    assert y.min() >= 0
    assert y.max() <= 1
    if 0 < size[1] < size[0]:
        inside = np.clip(y, 1e-300, 1 - 1e-16)
        # Near one the slope of the entropy is known no better than 1 − y is.
        rounding = np.finfo(float).eps / (1 - inside) if isinstance(psi, osp.BinaryEntropy) else np.zeros(1)
        gap = frank_wolfe_gap(space, psi.gradient(inside) - theta, inside)
        assert gap <= 1e-11 * size[0] * (1 + np.ptp(theta)) + rounding.sum()


@pytest.mark.parametrize("psi", PSIS, ids=lambda psi: type(psi).__name__)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4, 1e8, 1e98])
def test_predictions_are_finite_and_feasible_at_every_scale(psi, scale, rng):
    for k in (1, 4, 8):
        space = osp.make_space("k_subsets", d=9, k=k, psi=psi)
        for theta in scale * rng.standard_normal((10, 9)):
            y = space.predict(theta).point
            assert y.sum() == pytest.approx(k, abs=1e-10)
            assert y.min() >= 0
            assert y.max() <= 1
        tied = np.array([3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]) * scale
        assert np.ptp(space.predict(tied).point[1:]) <= 1e-12


def test_far_apart_scores_give_exactly_a_vertex(rng):
    for psi in (osp.SquaredNorm(), osp.NegativeEntropy(), osp.GibbsEntropy()):
        space = osp.make_space("k_subsets", d=30, k=7, psi=psi)
        theta = 1e8 * rng.permutation(30)
        np.testing.assert_allclose(space.predict(theta).point, space.nearest_vertex(theta), atol=1e-15)


@pytest.mark.parametrize("psi", PSIS, ids=lambda psi: type(psi).__name__)
def test_batches_equal_single_calls(psi, rng):
    space = osp.make_space("k_subsets", d=8, k=3, psi=psi)
    thetas = rng.standard_normal((30, 8))
    points = space.predict_many(thetas).point
    np.testing.assert_allclose(
        points, [space.predict(theta).point for theta in thetas], rtol=1e-13, atol=1e-15
    )
    nearest = [space.nearest_vertex(point) for point in points]
    np.testing.assert_array_equal(space.nearest_vertex_many(points), nearest)
    frozen = np.asfortranarray(thetas)
    frozen.setflags(write=False)
    np.testing.assert_array_equal(space.predict_many(frozen).point, points)
    assert space.predict_many(np.empty((0, 8))).point.shape == (0, 8)


@given(
    size=st.integers(1, 9).flatmap(lambda d: st.tuples(st.just(d), st.integers(0, d))),
    exponent=st.floats(-8, 2),
    seed=st.integers(0, 999),
)
def test_gibbs_marginals_and_partition_are_those_of_enumeration(size, exponent, seed):
    space, theta = k_subsets(size), scores(size[0], exponent, 4 * seed + 1)
    totals = space.vertices() @ theta
    weights = np.exp(totals - totals.max())
    np.testing.assert_allclose(space.marginals(theta), weights @ space.vertices() / weights.sum(), atol=1e-12)
    expected = totals.max() + np.log(weights.sum())
    assert space.log_partition(theta) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_gibbs_marginals_are_the_gradient_of_the_partition(rng):
    space, theta = osp.make_space("k_subsets", d=60, k=25), rng.standard_normal(60)
    steps = 1e-5 * np.eye(60)
    slopes = [(space.log_partition(theta + h) - space.log_partition(theta - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(space.marginals(theta), slopes, atol=1e-8)


def test_gibbs_marginals_at_large_scores_keep_the_small_differences():
    space = osp.make_space("k_subsets", d=5, k=3)
    marginals = space.marginals([2e8, 1e8, 1e8 - 1.0, 1e8 - 2.0, -1e8])
    pairs = np.exp([1.0 + 0.0 - 1, 1.0 - 1 - 1, 0.0 - 1 - 1])  # {1, 2}, {1, 3}, {2, 3} above 1e8 − 1
    expected = [1, (pairs[0] + pairs[1]) / pairs.sum(), (pairs[0] + pairs[2]) / pairs.sum()]
    np.testing.assert_allclose(marginals[:3], expected, atol=1e-12)
    assert marginals[4] == pytest.approx(0, abs=1e-200)


def test_gibbs_tables_that_would_not_fit_are_refused():
    with pytest.raises(osp.UnsupportedError, match="need a table of 100001 × 40001 numbers"):
        osp.make_space("k_subsets", d=100_000, k=40_000).marginals(np.zeros(100_000))


@pytest.mark.parametrize("psi", PSIS[:3], ids=lambda psi: type(psi).__name__)
@problems
def test_the_decomposition_has_at_most_d_sets_with_the_right_mean(psi, size, exponent, seed):
    space = k_subsets(size, psi=psi)
    point = space.predict(scores(size[0], min(exponent, 2), seed)).point
    combination = space.decompose(point)
    assert len(combination) <= max(size[0], 1)
    assert all(space.is_vertex(vertex) for vertex in combination.vertices)
    assert len(np.unique(combination.vertices, axis=0)) == len(combination)
    np.testing.assert_allclose(combination.mean, point, atol=1e-12)


def test_a_large_decomposition_keeps_its_mean(rng):
    space = osp.make_space("k_subsets", d=400, k=150)
    point = space.predict(rng.standard_normal(400)).point
    combination = space.decompose(point)
    assert len(combination) <= 400
    np.testing.assert_allclose(combination.mean, point, atol=1e-10)


def test_systematic_samples_have_the_point_as_mean(rng):
    space = osp.make_space("k_subsets", d=6, k=3)
    point = np.array([1.0, 0.9, 0.5, 0.35, 0.25, 0.0])
    draws = space.sample_many(np.tile(point, (20_000, 1)), rng)
    assert (draws.sum(axis=1) == 3).all()
    assert ((draws == 0) | (draws == 1)).all()
    assert (np.abs(draws.mean(axis=0) - point) <= 4 * np.sqrt(point * (1 - point) / len(draws))).all()
    singles = np.array([space.sample_vertex(point, rng) for _ in range(4000)])
    assert (singles.sum(axis=1) == 3).all()
    assert (np.abs(singles.mean(axis=0) - point) <= 4 * np.sqrt(point * (1 - point) / 4000)).all()


@problems
def test_a_sample_always_has_k_elements_and_none_of_probability_zero(size, exponent, seed):
    space, rng = k_subsets(size), np.random.default_rng(seed)
    point = space.predict(scores(size[0], min(exponent, 1), seed)).point
    for draw in (space.sample_vertex(point, rng), space.sample_many([point], rng)[0]):
        assert space.is_vertex(draw)
        assert not draw[point == 0].any()
        assert draw[point == 1].all()


def test_ticks_on_a_border_still_choose_k_elements():
    from osp_matroids.uniform.systematic import systematic_subset, systematic_subsets

    for point in ([0.5, 0.5, 0.5, 0.5], [1 - 1e-16, 1e-16, 1.0], [1 / 3] * 6, [0.7, 0.3, 1.0]):
        probabilities = np.array(point)
        k = round(probabilities.sum())
        borders = np.concatenate([np.cumsum(probabilities) % 1.0, [0.0, 1 - 2**-53]])
        for u in borders:
            assert systematic_subset(probabilities, k, u).sum() == k
        many = systematic_subsets(np.tile(probabilities, (len(borders), 1)), k, borders)
        assert (many.sum(axis=1) == k).all()
        assert ((many == 0) | (many == 1)).all()


@pytest.mark.parametrize("point", [[0.5, 0.5, 0.5], [1.2, 0.8, 0.0], [1.0, 1.2, -0.2]])
def test_points_outside_are_refused(point, rng):
    space = osp.make_space("k_subsets", d=3, k=2)
    for refused in (space.decompose, lambda p: space.sample_vertex(p, rng)):
        with pytest.raises(osp.InvalidInputError, match="outside the polytope"):
            refused(np.array(point))


def test_labels_are_sets_of_k_elements():
    space = osp.make_space("k_subsets", elements=["ace", "king", "queen"], k=2)
    assert space.from_label({"ace", "queen"}).tolist() == [1, 0, 1]
    assert space.to_label(np.array([1.0, 0.0, 1.0])) == frozenset({"ace", "queen"})
    numbers = osp.make_space("k_subsets", d=4, k=2)
    assert numbers.from_label([3, 0]).tolist() == [1, 0, 0, 1]
    assert numbers.from_label(np.array([0.0, 1.0, 1.0, 0.0])).tolist() == [0, 1, 1, 0]
    assert numbers.from_label(np.array([3, 0])).tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    "label", [{"ace"}, ["ace", "ace"], {"ace", "joker"}, "ace", 3, {True, "ace"}, np.array([1.0, 1.0, 1.0])]
)
def test_what_is_no_set_of_k_elements_is_refused(label):
    space = osp.make_space("k_subsets", elements=["ace", "king", "queen"], k=2)
    with pytest.raises(osp.NotAVertexError):
        space.from_label(label)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, np.inf])
@pytest.mark.parametrize("size", [(5, 1), (5, 2), (5, 4)])
def test_constants_are_those_of_enumeration(p, size):
    space = k_subsets(size, norm=p)
    distances = [np.linalg.norm(u - v, ord=p) for u, v in itertools.combinations(space.vertices(), 2)]
    assert space.nu == pytest.approx(min(distances))
    assert space.diameter == pytest.approx(max(distances))


@pytest.mark.parametrize("size", [(5, 1), (5, 2), (6, 3), (5, 4)])
def test_the_target_counts_misses_with_a_sharp_gamma(size):
    d, k = size
    space = k_subsets(size)
    target = space.target_loss()
    for u, v in itertools.product(space.vertices(), repeat=2):
        assert target.loss(u, v) == pytest.approx((k - u @ v) / k, abs=1e-15)
    assert target.gamma(space) == pytest.approx(np.sqrt((d - k) / (d * k)))
    # In the direction of the projected cost, the loss grows as fast as γ says.
    y = space.vertices()[0]
    direction = space.project_direction(target.cost(y))
    assert target.cost(y) @ direction / np.linalg.norm(direction) == pytest.approx(target.gamma(space))
    assert target.gamma(k_subsets(size, norm=1)) == pytest.approx(1 / (2 * k))


@pytest.mark.parametrize("size", [(1, 0), (1, 1), (4, 0), (4, 4)])
@pytest.mark.parametrize("psi", PSIS, ids=lambda psi: type(psi).__name__)
def test_degenerate_sizes_have_one_output_and_play_it(size, psi, rng):
    space = k_subsets(size, psi=psi)
    (only,) = space.vertices()
    theta = rng.standard_normal(size[0])
    for y in (
        space.predict(theta).point,
        space.lmo(theta),
        space.sample_vertex(only, rng),
        space.decompose(only).mean,
    ):
        np.testing.assert_array_equal(y, only)
    np.testing.assert_array_equal(osp.RandomizedDecoder(space).decode(theta, rng), only)
    assert space.log_partition(theta) == pytest.approx(theta @ only)
    assert osp.FenchelYoungLoss(space).value(theta, only) == pytest.approx(0, abs=1e-14)
    assert space.target_loss().loss(only, only) == 0
    assert space.target_loss().gamma(space) == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 1}, "either d"),
        ({"d": 3, "elements": "abc", "k": 1}, "either d"),
        ({"d": 3}, "needs k"),
        ({"d": 3, "k": 4}, "at most the number of elements, 3; got 4"),
        ({"d": 3, "k": -1}, "at least 0"),
        ({"d": 3, "k": 1.5}, "whole number"),
        ({"elements": [], "k": 0}, "at least 1"),
        ({"elements": ["a", "a"], "k": 1}, "distinct"),
    ],
)
def test_bad_parameters_are_refused_with_a_reason(parameters, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        osp.make_space("k_subsets", **parameters)


def test_a_million_elements_decode_in_linear_memory(rng):
    import tracemalloc

    d = 1_000_000
    space = osp.make_space("k_subsets", d=d, k=1000)
    decoder, theta = osp.RandomizedDecoder(space), rng.standard_normal(d)
    tracemalloc.start()
    vertex = decoder.decode(theta, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert space.is_vertex(vertex)
    assert peak < 400 * d  # bytes: a few dozen numbers per element


@pytest.mark.parametrize(
    "point",
    [
        np.array([0.0, np.nan, 0.0, 0.0]),
        np.array([0.0, 0.0, 0.0, -np.inf]),
        np.array([np.inf, -np.inf, 0.0, 0.0]),
        np.array([1e101, 0.0, 0.0, 0.0]),
        np.zeros(5),
        np.zeros((4, 1)),
        "abcd",
    ],
)
def test_a_projection_refuses_what_is_no_finite_vector(point):
    space = osp.make_space("k_subsets", d=4, k=2)
    with pytest.raises(osp.InvalidInputError, match="point must be"):
        space.project(point)


@pytest.mark.parametrize("kind", [list, tuple, np.float32, "strided", "read-only"])
def test_a_projection_takes_vectors_in_any_form(kind):
    space, theta = osp.make_space("k_subsets", d=4, k=2), np.array([0.5, -0.25, 0.125, 0.0])
    if kind == "strided":
        vector = np.repeat(theta, 2)[::2]
    elif kind == "read-only":
        vector = theta.copy()
        vector.setflags(write=False)
    else:
        vector = theta.astype(kind) if kind is np.float32 else kind(theta)
    np.testing.assert_array_equal(space.project(vector).point, space.project(theta).point)


def test_the_largest_scores_are_projected_without_overflow():
    space = osp.make_space("k_subsets", d=4, k=2)
    y = space.project(np.array([1e100, -1e100, 1e100, 0.0])).point
    np.testing.assert_allclose(y, space.project(np.array([9.0, -9.0, 9.0, 0.0])).point, rtol=1e-15)


def test_a_space_survives_pickling():
    import pickle

    space, theta = osp.make_space("k_subsets", d=4, k=2), np.array([0.5, -0.25, 0.125, 0.0])
    twin = pickle.loads(pickle.dumps(space))
    np.testing.assert_array_equal(twin.predict(theta).point, space.predict(theta).point)
