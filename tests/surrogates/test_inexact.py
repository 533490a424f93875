"""What an inexact prediction costs: the corrected inequalities, on spaces solved by the engine."""

import numpy as np
import pytest

import osp_core as osp


def k_subsets(d, k, **params):
    def cheapest(cost):
        chosen = np.zeros(d)
        chosen[np.argsort(cost, kind="stable")[:k]] = 1.0
        return chosen

    return osp.space_from_lmo(cheapest, d, target=osp.mismatch, **params)


@pytest.fixture(params=[1.0, 0.3, 4.0])
def space(request):
    return k_subsets(10, 4, psi=osp.SquaredNorm(request.param))


@pytest.mark.parametrize("gap", [1.0, 1e-1, 1e-3, 1e-6])
def test_predictions_meet_the_gap_that_was_asked_for(space, gap, rng):
    coarse = space.accurate_to(gap)
    for _ in range(20):
        theta = rng.standard_normal(10)
        prediction = coarse.predict(theta)
        gradient = space.psi.gradient(prediction.point) - theta
        true_gap = gradient @ (prediction.point - space.lmo(gradient))
        assert true_gap == pytest.approx(prediction.gap, abs=1e-9)
        assert prediction.gap <= gap * (1 + 1e-9)


def test_a_coarse_gap_saves_oracle_calls(rng):
    space = k_subsets(60, 20)
    theta = 0.3 * rng.standard_normal(60)
    assert space.accurate_to(0.5).predict(theta).lmo_calls < space.predict(theta).lmo_calls / 2


@pytest.mark.parametrize("gap", [3.0, 1.0, 1e-1, 1e-2])
def test_the_corrected_inequalities_hold(space, gap, rng):
    coarse, loss = space.accurate_to(gap), osp.FenchelYoungLoss(space)
    decoder, target = osp.RandomizedDecoder(coarse), osp.mismatch
    ratio, lam = space.decoding_ratio(target), space.lam2
    inexact = 0
    for _ in range(60):
        theta = 10 ** rng.uniform(-1, 1) * rng.standard_normal(10)
        law = decoder.law(coarse.predict(theta))
        g, y_tilde = law.prediction.gap, law.prediction.point
        inexact += g > 1e-9
        y = space.lmo(rng.standard_normal(10))
        exact = loss.value(theta, y)
        lower = theta @ (y_tilde - y) + float(space.psi.value(y) - space.psi.value(y_tilde))
        slack = 1e-9 * (1 + np.abs(theta).max())
        assert lower <= exact + slack  # S̃ = S − δ with
        assert exact <= lower + g + slack  # 0 ≤ δ ≤ g
        assert law.expected_loss(target, y) <= ratio * (lower + g) + slack  # (ii)
        assert np.linalg.norm(y_tilde - space.predict(theta).point) <= np.sqrt(g / lam) + 1e-6
        assert np.square(y_tilde - y).sum() <= 2 / lam * (lower + g) + slack  # (iii), the gradient
        other = theta + rng.standard_normal(10)
        assert loss.value(other, y) >= lower + (y_tilde - y) @ (other - theta) - slack  # (iii), the minorant
    assert inexact > 10 or gap < 0.1


def test_the_decoder_works_on_the_feasible_point(rng):
    coarse = k_subsets(10, 4).accurate_to(0.5)
    prediction = coarse.predict(0.2 * rng.standard_normal(10))
    assert prediction.gap > 0
    np.testing.assert_allclose(prediction.combination.mean, prediction.point, atol=1e-12)
    law = osp.SamplingDecoder(coarse).law(prediction)
    draws = np.array([law.sample(rng) for _ in range(6000)])
    assert np.abs(draws.mean(axis=0) - prediction.point).max() < 4 * np.sqrt(0.25 / 6000)


def test_a_product_shares_the_gap_among_its_factors(rng):
    space = osp.product([k_subsets(8, 3), k_subsets(6, 2)]).accurate_to(0.1)
    for _ in range(20):
        assert space.predict(rng.standard_normal(14)).gap <= 0.1
