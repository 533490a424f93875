"""The ordinal chain: oracles, closed forms, level sets, Gibbs marginals, labels and constants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import osp_core as osp

PSIS = [osp.SquaredNorm(0.7), osp.NegativeEntropy(1.3), osp.BinaryEntropy(0.6)]
problems = given(
    d=st.integers(1, 25),
    exponent=st.floats(-8, 8),
    offset=st.sampled_from([0.0, 0.5, -3.0]),
    seed=st.integers(0, 999),
)


def scores(d, exponent, offset, seed):
    return 10.0**exponent * (np.random.default_rng(seed).standard_normal(d) + offset)


def frank_wolfe_gap(space, theta, y):
    """max over outputs v of ⟨∇f(y), y − v⟩: bounds λ‖y − ŷ‖² from above."""
    slope = space.psi.gradient(y) - theta
    return float(slope @ (y - space.vertices()[np.argmin(space.vertices() @ slope)]))


@problems
def test_the_oracle_returns_the_cheapest_prefix(d, exponent, offset, seed):
    space, cost = osp.make_space("ordinal", d=d), scores(d, exponent, offset, seed)
    y = space.lmo(cost)
    assert space.is_vertex(y)
    assert cost @ y <= (space.vertices() @ cost).min() + 1e-12 * np.abs(cost).sum()


def test_equal_costs_give_the_shortest_prefix():
    space = osp.make_space("ordinal", d=4)
    assert space.lmo(np.zeros(4)).tolist() == [0, 0, 0, 0]
    assert space.lmo([-1.0, 0.0, 1.0, -1.0]).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, np.inf])
def test_the_nearest_vertex_is_nearest_in_every_norm_even_for_points_outside(p, rng):
    space = osp.make_space("ordinal", d=6, norm=p)
    assert space.nearest_is_exact
    for point in rng.normal(0.5, 0.7, (200, 6)):
        distances = np.linalg.norm(space.vertices() - point, ord=p, axis=1)
        assert np.linalg.norm(space.nearest_vertex(point) - point, ord=p) <= distances.min() + 1e-12


@problems
def test_the_projection_is_monotone_bounded_and_optimal(d, exponent, offset, seed):
    space, theta = osp.make_space("ordinal", d=d), scores(d, exponent, offset, seed)
    y = space.predict(theta).point
    assert y.max() <= 1
    assert y.min() >= 0
    assert (np.diff(y) <= 0).all()
    assert frank_wolfe_gap(space, theta, y) <= 1e-13 * d * (1 + np.abs(theta).max())


@pytest.mark.parametrize("psi", PSIS, ids=lambda psi: type(psi).__name__)
@given(d=st.integers(1, 25), exponent=st.floats(-8, 1.5), seed=st.integers(0, 999))
def test_closed_forms_have_no_gap(psi, d, exponent, seed):
    space = osp.make_space("ordinal", d=d, psi=psi)
    theta = scores(d, exponent, 0.3, seed)
    y = np.clip(space.predict(theta).point, 1e-300, 1 - 1e-16)
    # Near one the slope of the entropy is known no better than 1 − y is.
    rounding = np.finfo(float).eps * (1 / (1 - y)).sum() if isinstance(psi, osp.BinaryEntropy) else 0.0
    assert frank_wolfe_gap(space, theta, y) <= 1e-11 * d * (1 + np.abs(theta).max()) + rounding


@pytest.mark.parametrize("psi", PSIS, ids=lambda psi: type(psi).__name__)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4, 1e8])
def test_predictions_stay_finite_and_feasible_at_every_scale(psi, scale, rng):
    space = osp.make_space("ordinal", d=9, psi=psi)
    for theta in scale * rng.standard_normal((20, 9)):
        y = space.predict(theta).point
        assert space.contains(y, 1e-12)
        assert np.isfinite(osp.FenchelYoungLoss(space).value(theta, space.lmo(theta)))


def test_the_entropic_prediction_without_constraints_in_force_is_exp_of_the_score_minus_one():
    space = osp.make_space("ordinal", d=3, psi=osp.NegativeEntropy())
    np.testing.assert_allclose(space.predict([0.5, 0.0, -1.0]).point, np.exp([-0.5, -1.0, -2.0]), rtol=1e-15)
    np.testing.assert_allclose(
        space.predict([0.0, 0.5, -1.0]).point, np.exp([-0.75, -0.75, -2.0]), rtol=1e-15
    )
    assert space.predict([3.0, 0.0, 2.5]).point[0] == 1.0


@pytest.mark.parametrize("psi", [*PSIS, osp.GibbsEntropy(0.8)], ids=lambda psi: type(psi).__name__)
def test_batches_equal_single_calls(psi, rng):
    space = osp.make_space("ordinal", d=6, psi=psi)
    thetas = rng.standard_normal((30, 6))
    points = space.predict_many(thetas).point
    np.testing.assert_array_equal(points, [space.predict(theta).point for theta in thetas])
    np.testing.assert_array_equal(space.lmo_many(thetas), [space.lmo(theta) for theta in thetas])
    nearest = [space.nearest_vertex(point) for point in points]
    np.testing.assert_array_equal(space.nearest_vertex_many(points), nearest)
    assert space.predict_many(np.empty((0, 6))).point.shape == (0, 6)


def test_rows_that_are_strided_or_read_only_are_accepted(rng):
    space, thetas = osp.make_space("ordinal", d=5), rng.standard_normal((5, 7))
    frozen = thetas.T.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(space.predict_many(thetas.T).point, space.predict_many(frozen).point)


@problems
def test_gibbs_marginals_and_partition_are_those_of_enumeration(d, exponent, offset, seed):
    space, theta = osp.make_space("ordinal", d=d), scores(d, min(exponent, 2), offset, seed)
    totals = space.vertices() @ theta
    weights = np.exp(totals - totals.max())
    np.testing.assert_allclose(space.marginals(theta), weights @ space.vertices() / weights.sum(), atol=1e-12)
    expected = totals.max() + np.log(weights.sum())
    assert space.log_partition(theta) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@problems
def test_level_sets_have_the_point_as_mean(d, exponent, offset, seed):
    space = osp.make_space("ordinal", d=d)
    point = space.predict(scores(d, min(exponent, 1), offset, seed)).point
    combination = space.decompose(point)
    assert len(combination) <= d + 1
    assert all(space.is_vertex(vertex) for vertex in combination.vertices)
    np.testing.assert_allclose(combination.mean, point, atol=1e-14)


def test_samples_have_the_point_as_mean(rng):
    space = osp.make_space("ordinal", d=5)
    point = np.array([1.0, 0.9, 0.45, 0.45, 0.0])
    draws = space.sample_many(np.tile(point, (20_000, 1)), rng)
    assert {tuple(draw) for draw in draws} <= {tuple(vertex) for vertex in space.vertices()}
    assert (np.abs(draws.mean(axis=0) - point) <= 4 * np.sqrt(point * (1 - point) / len(draws))).all()
    singles = np.array([space.sample_vertex(point, rng) for _ in range(4000)])
    assert (np.abs(singles.mean(axis=0) - point) <= 4 * np.sqrt(point * (1 - point) / 4000)).all()


@pytest.mark.parametrize("point", [[0.2, 0.5, 0.1], [1.1, 0.5, 0.1], [0.5, 0.2, -0.1]])
def test_points_outside_are_refused(point, rng):
    space = osp.make_space("ordinal", d=3)
    for refused in (space.decompose, lambda p: space.sample_vertex(p, rng)):
        with pytest.raises(osp.InvalidInputError, match="outside the ordinal polytope"):
            refused(np.array(point))


def test_labels_are_categories_in_order():
    space = osp.make_space("ordinal", categories=["poor", "fair", "good"])
    assert space.from_label("poor").tolist() == [0, 0]
    assert space.from_label("good").tolist() == [1, 1]
    assert [space.to_label(vertex) for vertex in space.vertices()] == ["poor", "fair", "good"]
    assert osp.make_space("ordinal", d=2).to_label(np.array([1.0, 0.0])) == 1
    with pytest.raises(osp.NotAVertexError, match="'bad' is not one of the 3 categories"):
        space.from_label("bad")
    with pytest.raises(osp.NotAVertexError):
        space.from_label(np.array([0.0, 1.0]))
    with pytest.raises(osp.NotAVertexError):
        osp.make_space("ordinal", d=2).from_label(True)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, np.inf])
def test_constants_are_those_of_enumeration(p):
    space = osp.make_space("ordinal", d=5, norm=p)
    pairs = space.vertices()[:, None] - space.vertices()[None]
    distances = np.linalg.norm(pairs, ord=p, axis=2)
    assert space.nu == pytest.approx(distances[~np.eye(6, dtype=bool)].min())
    assert space.diameter == pytest.approx(distances.max())
    assert space.nu == 1.0


def test_the_target_is_the_distance_of_levels_with_its_gamma():
    space = osp.make_space("ordinal", d=4)
    target = space.target_loss()
    losses = [[target.loss(u, v) for u in space.vertices()] for v in space.vertices()]
    levels = np.arange(5)
    np.testing.assert_allclose(losses, np.abs(levels[:, None] - levels) / 4, atol=1e-15)
    assert target.gamma(space) == pytest.approx(1 / np.sqrt(4))
    assert target.gamma(osp.make_space("ordinal", d=4, norm=1)) == pytest.approx(1 / 4)
    assert osp.make_space("ordinal", d=4, psi=osp.GibbsEntropy()).lam == pytest.approx(4 / 4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "either d"),
        ({"d": 2, "categories": "abc"}, "either d"),
        ({"d": 0}, "at least 1"),
        ({"categories": ["one"]}, "at least two categories"),
        ({"categories": ["a", "b", "a"]}, "distinct"),
    ],
)
def test_bad_parameters_are_refused_with_a_reason(parameters, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        osp.make_space("ordinal", **parameters)


def test_a_learner_finds_the_thresholds_of_a_line(rng):
    space = osp.make_space("ordinal", categories=["low", "middle", "high"])
    predictor = osp.OnlinePredictor(space, 2, seed=0)
    features = np.column_stack([rng.uniform(-1, 1, 600), np.ones(600)])
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = np.digitize(features[:, 0] / features[:, 1], [-0.3, 0.4])
    for x, label in zip(features, labels, strict=True):
        predictor.step(x, space.categories[label])
    right = [
        predictor.predict(x) == space.categories[label] for x, label in zip(features, labels, strict=True)
    ]
    assert np.mean(right) > 0.85
