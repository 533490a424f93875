"""The permutahedron: oracles, pooling, T-transforms, decompositions, labels and constants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import osp_core as osp

KINDS = ("ranks", "ties", "negative", "geometric")
problems = given(
    d=st.integers(1, 30), kind=st.sampled_from(KINDS), exponent=st.floats(-8, 8), seed=st.integers(0, 999)
)


def weights(kind, d):
    """Weight vectors of length d that differ in what is hard about them."""
    rng = np.random.default_rng(d)
    if kind == "ties":
        return np.sort(rng.integers(0, 1 + d // 2, d).astype(float))
    if kind == "negative":
        return rng.normal(0.0, 3.0, d)
    if kind == "geometric":
        return 0.5 ** np.arange(d)
    return np.arange(1.0, d + 1)


def scores(d, exponent, seed):
    """Random scores, with ties among them for every third seed."""
    theta = np.random.default_rng(seed).standard_normal(d)
    return 10.0**exponent * (np.round(theta) if seed % 3 == 0 else theta)


def frank_wolfe_gap(space, slope, y):
    """max over outputs v of ⟨slope, y − v⟩; the best v puts the largest weights on the smallest slopes."""
    slope = slope - slope.mean()  # all outputs have the same sum
    return float(slope @ y - np.sort(slope) @ np.sort(space.weights)[::-1])


@problems
def test_the_oracle_returns_the_cheapest_permutation(d, kind, exponent, seed):
    space, cost = osp.make_space("permutahedron", weights=weights(kind, d)), scores(d, exponent, seed)
    y = space.lmo(cost)
    assert space.is_vertex(y)
    # The rearrangement inequality: opposite orders have the least inner product.
    assert cost @ y == pytest.approx(np.sort(cost) @ np.sort(weights(kind, d))[::-1], rel=1e-12, abs=1e-9)


def test_the_oracle_is_best_among_all_permutations(rng):
    for w in ([1, 2, 3, 4, 5], [0, 0, 1, 4, 4], [-2.0, 0.5, 0.5, 3.0, 7.0]):
        space = osp.make_space("permutahedron", weights=w)
        for cost in rng.standard_normal((20, 5)):
            assert cost @ space.lmo(cost) == pytest.approx((space.vertices() @ cost).min(), rel=1e-13)


def test_equal_costs_rank_items_by_index():
    assert osp.make_space("permutahedron", d=4).lmo(np.zeros(4)).tolist() == [4, 3, 2, 1]
    assert osp.make_space("permutahedron", d=4).nearest_vertex([1.0, 3.0, 1.0, 3.0]).tolist() == [2, 4, 1, 3]


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, np.inf])
def test_the_rank_vector_is_nearest_in_every_norm(p, rng):
    for w in ([1, 2, 3, 4], [-1.0, 0.5, 0.5, 6.0]):
        space = osp.make_space("permutahedron", weights=w, norm=p)
        assert space.nearest_is_exact
        for point in rng.normal(2.0, 2.0, (100, 4)):
            distances = np.linalg.norm(space.vertices() - point, ord=p, axis=1)
            assert np.linalg.norm(space.nearest_vertex(point) - point, ord=p) <= distances.min() + 1e-12


@problems
def test_the_projection_is_feasible_and_optimal(d, kind, exponent, seed):
    space, theta = osp.make_space("permutahedron", weights=weights(kind, d)), scores(d, exponent, seed)
    y = space.predict(theta).point
    size = np.abs(space.weights).max()
    prefix_sums = np.cumsum(np.sort(y)[::-1] - space.weights)
    assert prefix_sums.max() <= 1e-12 * d * (1 + size)
    assert abs(prefix_sums[-1]) <= 1e-12 * d * (1 + size)
    assert frank_wolfe_gap(space, y - theta, y) <= 1e-12 * d * (1 + size) * (1 + size + np.abs(theta).max())


@problems
def test_equal_scores_get_equal_values(d, kind, exponent, seed):
    space, theta = (
        osp.make_space("permutahedron", weights=weights(kind, d)),
        scores(d, exponent, seed - seed % 3),
    )
    y = space.predict(theta).point
    for value in np.unique(theta):
        assert np.ptp(y[theta == value]) <= 1e-13 * (1 + np.abs(space.weights).max())


def test_well_separated_scores_give_exactly_a_vertex(rng):
    space = osp.make_space("permutahedron", d=50)
    theta = 1e8 * rng.permutation(50)
    assert space.is_vertex(space.predict(theta).point)
    np.testing.assert_array_equal(space.predict(theta).point, space.nearest_vertex(theta))


def test_a_common_offset_changes_nothing(rng):
    space, theta = osp.make_space("permutahedron", d=20), np.round(rng.standard_normal(20) * 64) / 8
    np.testing.assert_array_equal(space.predict(theta).point, space.predict(theta + 2.0**27).point)


@given(
    d=st.integers(1, 30),
    kind=st.sampled_from(["ranks", "ties", "geometric"]),
    exponent=st.floats(-8, 2.5),
    seed=st.integers(0, 999),
)
def test_the_entropic_prediction_is_feasible_and_optimal(d, kind, exponent, seed):
    space = osp.make_space("permutahedron", weights=weights(kind, d), psi=osp.NegativeEntropy())
    theta = scores(d, exponent, seed)
    y = space.predict(theta).point
    size = np.abs(space.weights).max()
    prefix_sums = np.cumsum(np.sort(y)[::-1] - space.weights)
    assert prefix_sums.max() <= 1e-12 * d * (1 + size)
    assert abs(prefix_sums[-1]) <= 1e-12 * d * (1 + size)
    slope = np.log(np.maximum(y, 1e-300)) + 1.0 - theta
    assert frank_wolfe_gap(space, slope, y) <= 1e-11 * d * (1 + size) * (1 + np.abs(theta).max())


def test_zero_weights_have_an_entropic_prediction_and_negative_ones_a_reason():
    space = osp.make_space("permutahedron", weights=[0, 0, 1], psi=osp.NegativeEntropy())
    softmax = np.exp([1.0, 0.0, 2.0]) / np.exp([1.0, 0.0, 2.0]).sum()
    np.testing.assert_allclose(space.predict([1.0, 0.0, 2.0]).point, softmax, rtol=1e-14)
    nothing = osp.make_space("permutahedron", weights=[0, 0], psi=osp.NegativeEntropy())
    assert nothing.predict([1.0, 3.0]).point.tolist() == [0, 0]
    negative = osp.make_space("permutahedron", weights=[-1, 0, 1], psi=osp.NegativeEntropy())
    for call in (negative.predict, lambda theta: negative.predict_many([theta])):
        with pytest.raises(osp.InvalidInputError, match=r"weights ≥ 0; the least of .* is -1"):
            call([0.0, 0.0, 0.0])


def test_entropic_predictions_stay_finite_at_large_scores(rng):
    space = osp.make_space("permutahedron", d=12, psi=osp.NegativeEntropy())
    for theta in 1e8 * rng.standard_normal((20, 12)):
        np.testing.assert_array_equal(space.predict(theta).point, space.nearest_vertex(theta))
    assert np.ptp(space.predict(np.full(12, 1e8)).point) <= 1e-13


@problems
def test_the_decomposition_has_at_most_d_permutations_with_the_right_mean(d, kind, exponent, seed):
    space = osp.make_space("permutahedron", weights=weights(kind, d))
    point = space.predict(scores(d, exponent, seed)).point
    combination = space.decompose(point)
    assert len(combination) <= d
    assert all(space.is_vertex(vertex) for vertex in combination.vertices)
    np.testing.assert_allclose(combination.mean, point, atol=1e-10)


@pytest.mark.parametrize("d", [50, 400])
@pytest.mark.parametrize(
    "psi", [osp.SquaredNorm(), osp.NegativeEntropy()], ids=lambda psi: type(psi).__name__
)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 20.0])
def test_large_decompositions_keep_their_mean(d, psi, scale, rng):
    space = osp.make_space("permutahedron", d=d, psi=psi)
    point = space.predict(scale * rng.standard_normal(d)).point
    combination = space.decompose(point)
    assert len(combination) <= d
    np.testing.assert_allclose(combination.mean, point, atol=1e-10)


@problems
def test_the_chain_of_transforms_ends_at_the_point(d, kind, exponent, seed):
    from osp_core import kernels

    space = osp.make_space("permutahedron", weights=weights(kind, d))
    point = np.sort(space.predict(scores(d, exponent, seed)).point)[::-1].copy()
    first, second, probabilities = kernels.load("osp_permutahedron").transforms(point, space.weights)
    assert len(first) <= max(d - 1, 0) + 1  # one more may be needed for rounding
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    mean = space.weights
    for i, j, p in zip(first, second, probabilities, strict=True):
        mean[i], mean[j] = (1 - p) * mean[i] + p * mean[j], (1 - p) * mean[j] + p * mean[i]
    np.testing.assert_allclose(mean, point, atol=1e-11 * (1 + np.abs(point).max()))


@pytest.mark.parametrize("w", [[1, 2, 3, 4, 5], [0, 0, 1, 4, 4]])
def test_samples_are_permutations_with_the_point_as_mean(w, rng):
    space = osp.make_space("permutahedron", weights=w)
    point = space.predict([0.3, -0.2, 0.9, 0.1, -1.0]).point
    draws = space.sample_many(np.tile(point, (20_000, 1)), rng)
    assert all(space.is_vertex(draw) for draw in draws[:200])
    errors = np.abs(draws.mean(axis=0) - point)
    assert (errors <= 4 * draws.std(axis=0) / np.sqrt(len(draws)) + 1e-12).all()
    vertex = space.nearest_vertex(point)
    np.testing.assert_array_equal(space.sample_vertex(vertex, rng), vertex)


@pytest.mark.parametrize("point", [[3.1, 2.0, 0.9], [2.0, 2.0, 2.1], [2.0, 2.0, 1.9]])
def test_points_outside_are_refused(point, rng):
    space = osp.make_space("permutahedron", d=3)
    for refused in (space.decompose, lambda p: space.sample_vertex(p, rng)):
        with pytest.raises(osp.InvalidInputError, match="outside the permutahedron"):
            refused(np.array(point))


@pytest.mark.parametrize(
    "psi", [osp.SquaredNorm(), osp.NegativeEntropy()], ids=lambda psi: type(psi).__name__
)
def test_batches_equal_single_calls(psi, rng):
    space = osp.make_space("permutahedron", d=7, psi=psi)
    thetas = rng.standard_normal((30, 7))
    points = space.predict_many(thetas).point
    np.testing.assert_array_equal(points, [space.predict(theta).point for theta in thetas])
    np.testing.assert_array_equal(space.lmo_many(thetas), [space.lmo(theta) for theta in thetas])
    nearest = [space.nearest_vertex(point) for point in points]
    np.testing.assert_array_equal(space.nearest_vertex_many(points), nearest)
    frozen = thetas.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(space.predict_many(frozen).point, points)
    np.testing.assert_array_equal(space.predict_many(np.asfortranarray(thetas)).point, points)
    assert space.predict_many(np.empty((0, 7))).point.shape == (0, 7)


def test_gibbs_marginals_are_enumerated_when_small_and_refused_when_not(rng):
    space, theta = osp.make_space("permutahedron", d=4, psi=osp.GibbsEntropy()), rng.standard_normal(4)
    weights = np.exp(space.vertices() @ theta)
    np.testing.assert_allclose(
        space.predict(theta).point, weights @ space.vertices() / weights.sum(), rtol=1e-12
    )
    with pytest.raises(osp.UnsupportedError, match="no tractable Gibbs marginals"):
        osp.make_space("permutahedron", d=12, psi=osp.GibbsEntropy()).predict(np.zeros(12))


def test_the_names_of_the_items_say_how_many_there_are():
    space = osp.make_space("permutahedron", items=["ann", "bob", "cid"])
    assert space.from_label(["cid", "ann", "bob"]).tolist() == [2.0, 1.0, 3.0]


def test_labels_are_rankings_best_first():
    space = osp.make_space("permutahedron", d=3, items=["ann", "bob", "cid"])
    assert space.from_label(["cid", "ann", "bob"]).tolist() == [2, 1, 3]
    assert space.to_label(np.array([2.0, 1.0, 3.0])) == ("cid", "ann", "bob")
    plain = osp.make_space("permutahedron", d=3)
    assert plain.from_label((2, 0, 1)).tolist() == [2, 1, 3]
    assert plain.as_vertex(np.array([2, 1, 3])).tolist() == [2, 1, 3]  # numpy: a vertex, not a ranking
    tied = osp.make_space("permutahedron", weights=[0, 0, 1])
    assert tied.to_label(tied.from_label([1, 2, 0])) == (1, 0, 2)


@pytest.mark.parametrize(
    "label",
    [["ann", "bob"], ["ann", "ann", "bob"], ["ann", "bob", "eve"], "abc", 3, np.array([1.0, 1.0, 3.0])],
)
def test_what_is_no_ranking_is_refused(label):
    with pytest.raises(osp.NotAVertexError):
        osp.make_space("permutahedron", d=3, items=["ann", "bob", "cid"]).from_label(label)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, np.inf])
@pytest.mark.parametrize("w", [[1, 2, 3, 4], [0.0, 0.0, 1.5, 4.0], [-1.0, 2.0, 2.5, 9.0]])
def test_constants_are_those_of_enumeration(p, w):
    space = osp.make_space("permutahedron", weights=w, norm=p)
    vertices = space.vertices()
    distances = np.linalg.norm(vertices[:, None] - vertices[None], ord=p, axis=2)
    assert space.nu == pytest.approx(distances[distances > 0].min())
    assert space.diameter == pytest.approx(distances.max())
    assert space.nu_in(2) == pytest.approx(
        np.linalg.norm(vertices[:, None] - vertices, axis=2)[distances > 0].min()
    )
    assert space.max_mass == np.abs(w).sum()


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_gamma_is_the_corrected_one_and_sharp(d):
    space = osp.make_space("permutahedron", d=d)
    target, vertices = space.target_loss(), space.vertices()
    gamma = target.gamma(space)
    assert gamma == pytest.approx(np.sqrt(3 / (d * (d * d - 1))))
    assert space.diameter2 == pytest.approx(np.sqrt(d * (d * d - 1) / 3))
    assert space.diameter_in(1) == d * d // 2
    y = vertices[0]
    ratios = [target.loss(other, y) / np.linalg.norm(other - y) for other in vertices[1:]]
    assert max(ratios) == pytest.approx(gamma)  # attained by the opposite ranking
    printed = np.sqrt((2 * d + 1) / (6 * d * (d + 1))) / (d - 1)
    assert max(ratios) > printed


def test_gamma_of_any_weights_bounds_every_loss(rng):
    for w in ([0.0, 0.0, 1.5, 4.0], [-1.0, 2.0, 2.5, 9.0]):
        for p in (1.0, 2.0, 3.0, np.inf):
            space = osp.make_space("permutahedron", weights=w, norm=p)
            target, vertices = space.target_loss(), space.vertices()
            gamma = target.gamma(space)
            for y in vertices:
                for other in vertices:
                    assert target.loss(other, y) <= gamma * np.linalg.norm(other - y, ord=p) + 1e-12


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "either d"),
        ({"d": 2, "weights": [1, 2]}, "either d"),
        ({"d": 0}, "at least 1"),
        ({"weights": []}, "at least 1"),
        ({"weights": [1.0, np.nan]}, "finite"),
        ({"d": 3, "items": ["a", "b"]}, "3 distinct names"),
        ({"d": 3, "items": ["a", "b", "a"]}, "'a' is given twice"),
    ],
)
def test_bad_parameters_are_refused_with_a_reason(parameters, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        osp.make_space("permutahedron", **parameters)


def test_a_hundred_thousand_items_decode_in_linear_memory(rng):
    import tracemalloc

    d = 100_000
    space = osp.make_space("permutahedron", d=d)
    decoder, theta = osp.RandomizedDecoder(space), 300.0 * rng.standard_normal(d)
    decoder.decode(theta, rng)  # compiles
    tracemalloc.start()
    vertex = decoder.decode(theta, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert space.is_vertex(vertex)
    assert peak < 400 * d  # bytes: a few dozen numbers per item, no d×d table


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
    space = osp.make_space("permutahedron", d=4)
    with pytest.raises(osp.InvalidInputError, match="point must be"):
        space.project(point)


@pytest.mark.parametrize("kind", [list, tuple, np.float32, "strided", "read-only"])
def test_a_projection_takes_vectors_in_any_form(kind):
    space, theta = osp.make_space("permutahedron", d=4), np.array([0.5, -0.25, 0.125, 0.0])
    if kind == "strided":
        vector = np.repeat(theta, 2)[::2]
    elif kind == "read-only":
        vector = theta.copy()
        vector.setflags(write=False)
    else:
        vector = theta.astype(kind) if kind is np.float32 else kind(theta)
    np.testing.assert_array_equal(space.project(vector).point, space.project(theta).point)


def test_the_largest_scores_are_projected_without_overflow():
    space = osp.make_space("permutahedron", d=4)
    y = space.project(np.array([1e100, -1e100, 1e100, 0.0])).point
    np.testing.assert_allclose(y, space.project(np.array([9.0, -9.0, 9.0, 0.0])).point, rtol=1e-15)


def test_a_space_survives_pickling():
    import pickle

    space, theta = osp.make_space("permutahedron", d=4), np.array([0.5, -0.25, 0.125, 0.0])
    twin = pickle.loads(pickle.dumps(space))
    np.testing.assert_array_equal(twin.predict(theta).point, space.predict(theta).point)
