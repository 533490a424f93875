"""The simplex: closed forms, sampling, labels, and the sharp constants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import osp_core as osp
from osp_core.frank_wolfe import Quadratic, minimize


@given(d=st.integers(1, 30), exponent=st.floats(-8, 8), seed=st.integers(0, 2**20))
def test_sparsemax_is_the_projection(d, exponent, seed):
    point = 10.0**exponent * np.random.default_rng(seed).standard_normal(d)
    y = osp.make_space("simplex", d=d, psi=osp.SquaredNorm()).predict(point).point
    assert y.min() >= 0
    assert y.sum() == pytest.approx(1, abs=1e-12)
    # First-order condition: no vertex improves on y.
    gradient = (y - point) - (y - point).min()
    assert y @ gradient <= 1e-9 * (1 + np.abs(point).max())


def test_sparsemax_agrees_with_the_engine(rng):
    space = osp.make_space("simplex", d=7)
    for _ in range(20):
        point = rng.standard_normal(7)
        by_engine = minimize(space.lmo, Quadratic(point)).point
        np.testing.assert_allclose(space.project(point).point, by_engine, atol=1e-9)


def test_softmax_stays_finite_at_large_scores():
    space = osp.make_space("simplex", d=3)
    np.testing.assert_allclose(space.predict([1e8, 1e8, -1e8]).point, [0.5, 0.5, 0.0])


def test_categorical_samples_follow_the_point(rng):
    space = osp.make_space("simplex", d=4)
    point = np.array([0.5, 0.0, 0.2, 0.3])
    draws = space.sample_many(np.tile(point, (20_000, 1)), rng)
    assert np.abs(draws.mean(axis=0) - point).max() < 4 * np.sqrt(0.25 / 20_000)
    assert draws[:, 1].sum() == 0
    np.testing.assert_allclose(space.decompose(point).mean, point)


def test_the_decoding_ratio_is_the_supremum_of_the_logistic_example():
    space = osp.make_space("simplex", d=2)
    decoder, loss = osp.RandomizedDecoder(space), osp.FenchelYoungLoss(space)

    def ratio(margin):
        theta = np.array([0.0, margin])
        law = decoder.law(space.predict(theta))
        return law.expected_loss(osp.zero_one, np.array([1.0, 0.0])) / loss.value(theta, 0)

    worst = -minimize_scalar(lambda m: -ratio(m), bounds=(0.01, 2), method="bounded").fun
    assert worst == pytest.approx(0.7467292, abs=1e-6)
    assert worst <= space.decoding_ratio(osp.zero_one) <= worst + 1e-6


def test_the_gradient_ratio_is_the_supremum_of_the_logistic_example():
    worst = -minimize_scalar(lambda s: (1 - s) ** 2 / np.log(s), bounds=(0.01, 0.99), method="bounded").fun
    assert worst == pytest.approx(0.4072644, abs=1e-6)
    space = osp.make_space("simplex", d=2)
    assert 2 * worst <= space.gradient_ratio() <= 2 * worst + 1e-6


@pytest.mark.parametrize("d", [2, 3, 10])
@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
def test_the_sharp_ratios_hold_for_random_scores_and_any_scale_of_psi(d, scale, rng):
    space = osp.make_space("simplex", d=d, psi=osp.NegativeEntropy(scale))
    decoder, loss = osp.RandomizedDecoder(space), osp.FenchelYoungLoss(space)
    for _ in range(500):
        theta = 10 ** rng.uniform(-3, 2) * rng.standard_normal(d)
        law = decoder.law(space.predict(theta))
        value, gradient = loss.at(theta, law.prediction, y := np.eye(d)[rng.integers(d)])
        assert law.expected_loss(osp.zero_one, y) <= space.decoding_ratio(osp.zero_one) * value + 1e-12
        assert gradient @ gradient <= space.gradient_ratio() * value + 1e-12


def test_the_check_values_of_the_multiclass_theorem():
    space = osp.make_space("simplex", d=7)
    printed = osp.surrogate_gap(space, constants="paper")
    assert printed.a == pytest.approx(0.306853, abs=1e-6)
    assert printed.b == pytest.approx(2.885390, abs=1e-6)
    assert printed.step_size == pytest.approx(0.2126942, abs=1e-7)
    assert printed.coefficient == pytest.approx(2.3507932, abs=1e-7)
    sharp = osp.surrogate_gap(space)
    assert sharp.a == pytest.approx(0.482407, abs=1e-6)
    assert sharp.b == pytest.approx(1.175117, abs=1e-6)
    assert sharp.coefficient == pytest.approx(0.60899, abs=1e-5)
    natural = osp.surrogate_gap(space, loss=osp.FenchelYoungLoss(space))
    assert natural.a == pytest.approx(0.253271, abs=1e-6)
    assert natural.coefficient == pytest.approx(0.80401, abs=1e-5)


def test_class_names_go_both_ways():
    space = osp.make_space("simplex", classes=["cat", "dog"])
    np.testing.assert_array_equal(space.from_label("dog"), [0, 1])
    assert space.to_label(np.array([1.0, 0.0])) == "cat"
    with pytest.raises(osp.NotAVertexError, match="'cat', 'dog'"):
        space.from_label("emu")


@pytest.mark.parametrize(
    "params", [{}, {"d": 3, "classes": ["a"]}, {"d": 0}, {"classes": ["a", "a"]}, {"d": "3"}]
)
def test_bad_parameters_are_refused(params):
    with pytest.raises(osp.InvalidInputError):
        osp.make_space("simplex", **params)


def test_points_outside_cannot_be_sampled(rng):
    space = osp.make_space("simplex", d=2)
    with pytest.raises(osp.InvalidInputError, match="outside the simplex"):
        space.sample_vertex([0.5, 0.6], rng)
