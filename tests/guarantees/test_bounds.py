"""The bounds: check values, premises, and the order in which sharper ones must stand."""

import math

import numpy as np
import pytest

import osp_core as osp

SIMPLEX = osp.make_space("simplex", d=5)
CUBE = osp.make_space("hypercube", d=20)


def gap(space=SIMPLEX, constants="sharp", **options):
    return osp.surrogate_gap(space, constants=constants, **options)


def test_the_multiclass_theorem_has_its_printed_constants():
    paper = gap(constants="paper", feature_bound=3.0)
    assert paper.a == pytest.approx(0.306853, abs=5e-7)
    assert paper.b == pytest.approx(2.885390 * 9, rel=1e-6)
    assert paper.step_size == pytest.approx(0.2126942 / 9, rel=1e-6)
    assert paper.expected_bound(2.0).value == pytest.approx(2.3507932 * 9 * 4, rel=1e-7)


def test_the_sharp_multiclass_constants_are_those_of_the_extremal_softmax():
    sharp = gap()
    assert sharp.a == pytest.approx(0.482407, abs=1e-6)
    assert sharp.b == pytest.approx(1.175117, abs=1e-6)
    assert sharp.step_size == pytest.approx(0.8210, abs=1e-4)
    assert sharp.coefficient == pytest.approx(0.60899, abs=1e-5)


def test_the_natural_logarithm_also_has_a_gap_with_sharp_constants_only():
    natural = osp.FenchelYoungLoss(SIMPLEX, 1.0)
    sharp = gap(loss=natural)
    assert (sharp.a, sharp.b) == (pytest.approx(0.253271, abs=1e-6), pytest.approx(0.814529, abs=1e-6))
    assert sharp.coefficient == pytest.approx(0.80401, abs=1e-5)
    paper = gap(loss=natural, constants="paper")
    assert paper.a == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(osp.GuaranteeError, match="scale"):
        paper.expected_bound(1.0)


@pytest.mark.parametrize(("scale", "expected"), [(1.2, 0.45), (1.5, 0.9), (3.0, 1.5)])
def test_thm_7_simplifies_on_both_sides_of_one_half(scale, expected):
    small = gap(CUBE, loss=osp.FenchelYoungLoss(CUBE, scale * gap(CUBE).ratio))
    a, b = small.a, small.b
    assert small.coefficient == pytest.approx(b / (4 * a) if a <= 0.5 else (1 - a) * b)
    assert small.expected_bound(1.0).surrogate_factor == pytest.approx(1.0 if a <= 0.5 else 2 * (1 - a))


def test_the_bound_vanishes_like_the_inverse_square_of_the_strong_convexity():
    """[SBTO24, Remark 10]: 1 − a and b both fall like 1/λ."""
    psi = [osp.SquaredNorm(scale) for scale in (1e3, 1e4)]
    first, second = (
        gap(osp.make_space("hypercube", d=20, psi=p), loss=None, constants="paper").coefficient for p in psi
    )
    assert second / first == pytest.approx(1e-2, rel=1e-2)


def test_thm_8_is_printed_with_the_factor_its_proof_loses():
    paper, norm_U, delta = gap(constants="paper"), 3.0, 0.05
    a, b = paper.a, paper.b
    zeta = 0.5 * 2.0 * math.log(1 / delta)  # γ·D·ln(1/δ)
    printed = paper.high_probability_bound(norm_U, delta)
    corrected = paper.high_probability_bound(norm_U, delta, form="corrected")
    # 8γC²κ²/(λ²ν) in the unscaled constants of the paper is (1 − a)b here.
    assert printed.value == pytest.approx(((1 - a) * b * norm_U**2 + zeta) / a)
    assert corrected.value == pytest.approx(((1 - a) * b * norm_U**2 / (1 - a / 2) + zeta) / a)
    assert printed.step_size == corrected.step_size == pytest.approx(a / b)
    assert "errata" in str(printed)


def test_the_corrected_form_covers_every_term_of_its_proof():
    """The four terms before simplification: A + √(2ζA) + (√2/3)ζ + ((1 − a)/a)ζ."""
    for a in np.linspace(0.01, 0.99, 99):
        for ratio in (1e-3, 1.0, 1e3):
            b_norm, zeta = ratio, 1.0
            A = (1 - a) / (1 - a / 2) * b_norm / (2 * a)
            proof = A + math.sqrt(2 * zeta * A) + math.sqrt(2) / 3 * zeta + (1 - a) / a * zeta
            assert proof <= (1 - a) * b_norm / (a * (1 - a / 2)) + zeta / a + 1e-12


def test_the_printed_form_does_not_cover_its_proof():
    a, b_norm, zeta = 0.5, 1.0, 0.2
    A = (1 - a) / (1 - a / 2) * b_norm / (2 * a)
    proof = A + math.sqrt(2 * zeta * A) + math.sqrt(2) / 3 * zeta + (1 - a) / a * zeta
    assert proof > ((1 - a) * b_norm + zeta) / a


def test_the_anytime_form_holds_for_its_step_and_improves_the_coefficient():
    sharp = gap()
    bound = sharp.high_probability_bound(2.0, 0.1)
    corrected = sharp.high_probability_bound(2.0, 0.1, form="corrected")
    assert bound.step_size == pytest.approx(sharp.a / sharp.b)
    assert bound.coefficient < corrected.coefficient
    assert bound.value < corrected.value


def test_high_probability_with_the_step_of_thm_7_is_refused_with_the_right_step():
    sharp = gap()
    with pytest.raises(osp.GuaranteeError, match=f"step_size={sharp.a / sharp.b:.6g}"):
        sharp.high_probability_bound(1.0, 0.1, step_size=sharp.step_size)
    # With a > 1/2 that step leaves something of the gap.
    wide = gap(CUBE)
    assert wide.a > 0.5
    assert wide.high_probability_bound(1.0, 0.1, step_size=wide.step_size).value > 0


def test_delays_multiply_b_in_every_constant_step_bound():
    sharp = gap()
    prompt, late = sharp.expected_bound(1.0), sharp.expected_bound(1.0, delay=3)
    assert late.value == pytest.approx(7 * prompt.value)
    assert late.step_size == pytest.approx(prompt.step_size / 7)
    assert sharp.high_probability_bound(1.0, 0.1, delay=3).coefficient == pytest.approx(
        7 * sharp.high_probability_bound(1.0, 0.1).coefficient
    )
    with pytest.raises(osp.GuaranteeError, match="no delay"):
        sharp.high_probability_bound(1.0, 0.1, form="corrected", delay=1)


def test_online_to_batch_divides_by_the_rounds():
    sharp = gap()
    bound = sharp.online_to_batch_bound(2.0, 50)
    assert bound.value == pytest.approx(sharp.expected_bound(2.0).value / 50)
    assert any("independent" in premise for premise in bound.premises)
    with pytest.raises(osp.InvalidInputError):
        sharp.online_to_batch_bound(2.0, 0)


@pytest.mark.parametrize("scale", [1.05, 1.5, 2.0, 3.0, 20.0])
def test_the_adaptive_bound_is_below_the_printed_one_and_below_the_l_star_route(scale):
    loss = osp.FenchelYoungLoss(CUBE, scale * gap(CUBE, constants="paper").ratio)
    paper, sharp = gap(CUBE, constants="paper", loss=loss), None
    a, b, B = paper.a, paper.b, 3.0
    sharp = osp.surrogate_gap(CUBE, loss=loss, decoder=osp.RandomizedDecoder(CUBE))
    assert (sharp.a, sharp.b) == (pytest.approx(a), pytest.approx(b))
    assert paper.adaptive_bound(B).value == pytest.approx(2 * (1 - a) * b * B**2 / a)
    l_star = (1 - a) * b * B**2 * (1 + 3 * a) / (2 * a)
    assert sharp.adaptive_bound(B).value <= l_star * (1 + 1e-12) < paper.adaptive_bound(B).value


@pytest.mark.parametrize("scale", [1.05, 1.5, 2.0, 3.0, 20.0])
def test_the_adaptive_bound_is_the_supremum_over_the_cumulative_loss(scale):
    sharp = gap(CUBE, loss=osp.FenchelYoungLoss(CUBE, scale * gap(CUBE).ratio))
    a, c = sharp.a, 2 * sharp.b * 9.0
    x = np.geomspace(1e-6 * c, 1e6 * c, 200_001)
    regret = (1 - a) * x - np.maximum(0.0, x - np.sqrt(c * x))  # ΣS(U) ≥ max(0, x − √(cx))
    assert sharp.adaptive_bound(3.0).value == pytest.approx(regret.max(), rel=1e-4)
    assert sharp.adaptive_bound(3.0).value >= regret.max() * (1 - 1e-12)


def test_the_nonstationary_bound_recovers_thm_7_up_to_the_diameter():
    sharp = gap()
    a, b = sharp.a, sharp.b
    assert sharp.nonstationary_bound(4.0).value == pytest.approx(b * 16 / (4 * a))
    assert sharp.nonstationary_bound(4.0, 5.0).value == pytest.approx(b * 4 / (2 * a) * (2 + 5))
    assert sharp.nonstationary_bound(4.0, 5.0, step_size=2.0).value == pytest.approx(4 / 2 * 7)
    with pytest.raises(osp.InvalidInputError):
        sharp.nonstationary_bound(4.0, -1.0)


def test_premises_are_listed_and_printed():
    text = str(gap(feature_bound=2.5).expected_bound(1.0))
    for premise in ("‖x_t‖ ≤ 2.5", "a = 0.48", "zero_one", "RandomizedDecoder", "OGD with step", "W₁ = 0"):
        assert premise in text


def test_a_gap_that_is_not_positive_refuses_every_bound_with_the_remedy():
    cube = osp.make_space("hypercube", d=14)
    refused = osp.surrogate_gap(cube, loss=osp.FenchelYoungLoss(cube, 1.0), constants="paper")
    assert refused.a < 0
    for ask in (
        lambda: refused.expected_bound(1.0),
        lambda: refused.high_probability_bound(1.0, 0.1),
        lambda: refused.adaptive_bound(1.0),
        lambda: refused.parameter_free_bound(1.0),
        lambda: refused.nonstationary_bound(1.0),
        lambda: refused.step_size,
    ):
        with pytest.raises(osp.GuaranteeError, match=r"scale=2\.13809"):
            ask()


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, float("nan")])
def test_a_failure_probability_outside_the_unit_interval_is_refused(delta):
    with pytest.raises(osp.InvalidInputError, match="delta"):
        gap().high_probability_bound(1.0, delta)


def test_inexact_predictions_enter_with_the_factor_of_the_comparator():
    wide = gap(CUBE, loss=osp.FenchelYoungLoss(CUBE, 4 * gap(CUBE).ratio))
    bound = wide.expected_bound(1.0)
    inexact = bound.for_inexact_predictions(0.4)
    assert bound.surrogate_factor == pytest.approx(0.5)
    assert inexact.value == pytest.approx(bound.value + 0.2)
    assert "total gap" in inexact.premises[-1]
    assert bound.for_inexact_predictions(0.0) is bound
