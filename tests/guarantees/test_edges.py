"""The edges of the bounds: the longest step, a gap of 1, enormous numbers, parts of another space."""

import dataclasses
import math

import numpy as np
import pytest

import osp_core as osp
from osp_core.guarantees.formulas import deviation_rate

SIMPLEX = osp.make_space("simplex", d=5)
CUBE = osp.make_space("hypercube", d=20)


def with_a(a):
    """A gap of this size, by the scale of the loss."""
    return osp.surrogate_gap(CUBE, loss=osp.FenchelYoungLoss(CUBE, osp.scale_for_gap(CUBE, a=a)))


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("a", [1e-9, 0.1, 1 / 3, 0.5, 0.7, 1 - 1e-9])
@pytest.mark.parametrize("part", [1 - 1e-16, 1 - 1e-14, 1 - 1e-10, 1.0, 1 + 1e-14, 1 + 1e-10, 2.0])
def test_a_step_that_uses_up_the_gap_leaves_nothing_for_deviations(a, part, delay):
    gap = with_a(a)
    longest = 2 * gap.a / ((1 + 2 * delay) * gap.b)
    shorter = f"step_size={longest / 2:.6g}"
    with pytest.raises(osp.GuaranteeError, match="shorter") as refused:
        gap.high_probability_bound(1.0, 0.1, step_size=part * longest, delay=delay)
    assert shorter in str(refused.value)
    assert gap.high_probability_bound(1.0, 0.1, step_size=longest / 2, delay=delay) > 0


@pytest.mark.parametrize("a", [1e-12, 1e-6, 0.3, 0.9, 1 - 1e-12])
def test_the_price_of_deviations_is_that_of_its_definition(a):
    """(1 − a)(e^τ − 1)/τ ≤ 1 − kept, by a series where the difference of exponentials cancels."""
    gap = with_a(a)
    reserve = gap.with_reserve(0.1)
    tau = gap.largest_loss * math.log(10) / reserve.cost
    excess = sum(tau**k / math.factorial(k + 1) for k in range(1, 170))
    allowed = (gap.a - reserve.gap.a) / (gap.ratio / gap.loss.scale)
    assert excess <= allowed * (1 + 1e-9)
    assert excess >= allowed * (1 - 1e-4)


def test_the_rate_solves_its_equation_for_every_factor():
    for factor in (1 + 1e-15, 1 + 1e-8, 1.5, 10.0, 1e50, 1e200, 1e300):
        tau = deviation_rate(factor)
        assert 0 < tau < 1000
        if factor > 1.1:
            assert math.log(math.expm1(tau) / tau) == pytest.approx(math.log(factor), rel=1e-12)


def test_the_bound_in_expectation_holds_up_to_the_longest_step():
    for a in (0.3, 0.7, 1 - 1e-9):
        gap = with_a(a)
        bound = gap.expected_bound(1.0, step_size=2 * gap.a / gap.b)
        assert bound.coefficient == pytest.approx(gap.b / (4 * gap.a), rel=1e-6)
        assert bound.surrogate_factor == pytest.approx(1.0)
        assert bound.surrogate_factor <= 1.0
        with pytest.raises(osp.GuaranteeError, match="too long"):
            gap.expected_bound(1.0, step_size=2.001 * gap.a / gap.b)


def test_a_gap_that_rounds_to_one_keeps_its_bound():
    """(1 − a)·b is the same for every scale of the loss; 1 − a cancels for large ones."""
    usual = with_a(0.75)
    for scale in (1e6, 1e17, 1e40):
        gap = osp.surrogate_gap(CUBE, loss=osp.FenchelYoungLoss(CUBE, scale))
        assert gap.coefficient == pytest.approx((1 - usual.a) * usual.b, rel=1e-12)
        assert gap.high_probability_bound(1.0, 0.1) > 0
        assert gap.adaptive_bound(1.0) > 0


@pytest.mark.parametrize("step_size", [0.0, -1.0, math.nan, math.inf])
def test_a_step_that_is_none_is_refused(step_size):
    gap = osp.surrogate_gap(SIMPLEX)
    for ask in (gap.expected_bound, lambda U, **how: gap.high_probability_bound(U, 0.1, **how)):
        with pytest.raises(osp.InvalidInputError, match="step_size"):
            ask(1.0, step_size=step_size)


@pytest.mark.parametrize("delay", [-1, 0.5, "two"])
def test_a_delay_that_is_none_is_refused(delay):
    gap = osp.surrogate_gap(SIMPLEX)
    for ask in (gap.expected_bound, lambda U, **how: gap.high_probability_bound(U, 0.1, **how)):
        with pytest.raises(osp.InvalidInputError, match="delay"):
            ask(1.0, delay=delay)


GAP = osp.surrogate_gap(SIMPLEX)
WITH_A_NORM = {
    "expected": GAP.expected_bound,
    "anytime": lambda U: GAP.high_probability_bound(U, 0.1),
    "corrected": lambda U: GAP.high_probability_bound(U, 0.1, form="corrected"),
    "batch": lambda U: GAP.online_to_batch_bound(U, 10),
    "parameter free": GAP.parameter_free_bound,
    "adaptive": GAP.adaptive_bound,
    "nonstationary": GAP.nonstationary_bound,
    "path": lambda length: GAP.nonstationary_bound(1.0, length),
    "lipschitz": lambda size: GAP.parameter_free_bound(1.0, lipschitz=size),
    "wealth": lambda size: GAP.parameter_free_bound(1.0, wealth=size),
}


@pytest.mark.parametrize("name", WITH_A_NORM)
@pytest.mark.parametrize("norm", [1e200, 1.7e308, math.inf, math.nan, -1.0, "long"])
def test_a_norm_that_would_overflow_is_refused_with_the_limit(name, norm):
    with pytest.raises(
        osp.InvalidInputError, match=r"1e\+100" if norm in (1e200, 1.7e308) else "number|positive"
    ):
        WITH_A_NORM[name](norm)


@pytest.mark.parametrize("name", WITH_A_NORM)
@pytest.mark.parametrize("norm", [1e-100, 1e-9, 1.0, 1e9, 1e100])
def test_norms_within_the_limit_give_finite_bounds(name, norm):
    assert 0 <= WITH_A_NORM[name](norm) < math.inf


@pytest.mark.parametrize(
    "make", [lambda: osp.OGD(radius=1.0), lambda: osp.AdaptiveOGD(2.0), lambda: osp.PolyakOGD(2.0)]
)
@pytest.mark.parametrize("norm", [math.nan, -1.0])
def test_learners_on_a_ball_refuse_norms_that_are_none(make, norm):
    predictor = osp.OnlinePredictor(SIMPLEX, 2, learner=make())
    with pytest.raises(osp.InvalidInputError, match="norm_U must be a non-negative number"):
        predictor.guarantee(norm_U=norm)


def test_a_loss_or_a_decoder_of_another_space_has_no_place_in_a_gap():
    twin = osp.make_space("simplex", d=5, psi=osp.SquaredNorm(1.0))
    with pytest.raises(osp.InvalidInputError, match="loss belongs to another space"):
        osp.surrogate_gap(SIMPLEX, loss=osp.FenchelYoungLoss(twin))
    with pytest.raises(osp.InvalidInputError, match="decoder belongs to another space"):
        osp.surrogate_gap(SIMPLEX, decoder=osp.RandomizedDecoder(twin))
    for wrong in ({"loss": 1.0}, {"decoder": "randomized"}, {"target": "zero_one"}):
        with pytest.raises(osp.InvalidInputError, match=next(iter(wrong))):
            osp.surrogate_gap(SIMPLEX, **wrong)
    for wrong in (SIMPLEX.dim, "simplex"):
        with pytest.raises(osp.InvalidInputError, match="space"):
            osp.surrogate_gap(wrong)
        with pytest.raises(osp.InvalidInputError, match="space"):
            osp.scale_for_gap(wrong)


def test_a_reserve_is_a_smaller_gap():
    gap = with_a(0.5)
    kept = gap.with_reserve(0.1, keep=0.4).gap
    assert (kept.a, kept.b) == (0.4, gap.b)
    assert kept.coefficient == pytest.approx(0.6 * gap.b / (4 * 0.6 * 0.4))
    assert dataclasses.replace(gap, a=0.4).coefficient == kept.coefficient
    assert np.isfinite(gap.with_reserve(0.1).cost)
