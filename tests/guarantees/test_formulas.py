"""The longer formulas, against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import osp_core as osp
from osp_core.guarantees import (
    deviation_rate,
    parameter_free_regret,
    parameter_free_supremum,
    sqrt_log_supremum,
)
from osp_core.guarantees.formulas import CURVATURE

positive = st.floats(1e-4, 1e4)


@given(st.floats(-9, 3))
@settings(derandomize=True, max_examples=200)
def test_the_deviation_rate_solves_its_equation(log_excess):
    factor = 1.0 + 10.0**log_excess
    tau = deviation_rate(factor)
    assert tau > 0
    assert math.expm1(tau) / tau == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize("factor", [1.0, 0.5, math.inf, math.nan])
def test_no_deviation_is_allowed_for_a_factor_that_is_not_above_one(factor):
    with pytest.raises(osp.InvalidInputError):
        deviation_rate(factor)


def test_the_deviation_inequality_covers_what_it_promises():
    """ΣL ≤ c·ΣE L + (K/τ)ln(1/δ) for all T at once, with Bernoulli losses of adaptive means."""
    rng, factor, delta, runs = np.random.default_rng(0), 1.3, 0.2, 2000
    tau = deviation_rate(factor)
    losses = means = np.zeros(runs)
    failed = np.zeros(runs, dtype=bool)
    for _ in range(300):
        # An adversary that raises the stakes while the learner is unlucky.
        mean = np.where(losses > means, 0.5, 0.02)
        losses = losses + (rng.random(runs) < mean)
        means = means + mean
        failed |= losses > factor * means + math.log(1 / delta) / tau
    assert failed.mean() <= delta


@given(positive, positive, positive)
@settings(derandomize=True, max_examples=200)
def test_the_sqrt_log_lemma_holds(a, b, c):
    x = np.geomspace(1e-12, 1e14, 2000)
    values = -a * x + np.sqrt(b * x * np.log1p(c * x))
    assert values.max() <= sqrt_log_supremum(a, b, c) * (1 + 1e-12)


def test_the_curvature_of_the_logarithm_is_right_on_the_whole_interval():
    x = np.linspace(-2, 2 / 3, 100_001)
    slack = -np.log1p(-x) - x - CURVATURE * x**2
    assert slack.min() >= -1e-15
    assert slack[0] == pytest.approx(0.0, abs=1e-15)


@given(st.floats(-3, 3), st.floats(-2, 2), st.floats(-2, 1), st.floats(0.02, 0.98))
@settings(derandomize=True, max_examples=60)
def test_the_parameter_free_supremum_is_never_beaten(log_norm, log_b, log_wealth, a):
    norm_U, b, wealth, lipschitz = 10.0**log_norm, 10.0**log_b, 10.0**log_wealth, 1.7
    bound = parameter_free_supremum(a, b, norm_U, lipschitz, wealth)
    reached = [
        -a * x + parameter_free_regret(norm_U, b * x, lipschitz, wealth)
        for x in np.geomspace(1e-6, 1e14, 500)
    ]
    assert max(reached) <= bound <= 1.02 * max(*reached, wealth * lipschitz) + 1e-9


def test_the_parameter_free_supremum_is_below_the_lemma():
    a, b, u, lip, eps = 0.4, 1.2, 3.0, 2.0, 1.0
    q, k = 2 / (4 * CURVATURE), 2 * (u / eps) ** 2 * math.exp(CURVATURE / 2)
    alpha = a * lip**2 / b  # of V, after which each of two terms gets one half
    # ln(1 + kV(1 + 4V)^q) ≤ (1 + q)ln(1 + max(k, 4)V)
    betting = sqrt_log_supremum(alpha / 2, 2 * (1 + q) * (u * lip) ** 2, max(k, 4.0))
    direction = (2 * math.sqrt(2) * u * lip) ** 2 / (4 * alpha / 2)
    assert parameter_free_supremum(a, b, u, lip, eps) <= lip * eps + betting + direction


def test_at_the_zero_comparator_the_initial_wealth_remains():
    """The printed theorem gives 0 at U = 0; the wealth that was bet may be lost."""
    assert parameter_free_supremum(0.3, 1.0, 0.0, 2.0, 1.5) == pytest.approx(3.0)
    assert osp.surrogate_gap(osp.make_space("simplex", d=3)).parameter_free_bound(0.0).value > 0


def test_the_parameter_free_bound_is_finite_at_extreme_norms():
    gap = osp.surrogate_gap(osp.make_space("simplex", d=3))
    values = [gap.parameter_free_bound(10.0**k).value for k in range(-8, 9, 4)]
    assert np.isfinite(values).all()
    assert values == sorted(values)
