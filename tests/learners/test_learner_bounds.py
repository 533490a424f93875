"""Bounds a learner states for what really ran."""

import numpy as np
import pytest

import osp_core as osp

SPACE = osp.make_space("simplex", d=3)


def predictor(learner=None, **options):
    return osp.OnlinePredictor(SPACE, 2, learner=learner, seed=0, **options)


def after(count, learner=None, **options):
    subject = predictor(learner, **options)
    rng = np.random.default_rng(0)
    for _ in range(count):
        x = rng.standard_normal(2)
        subject.step(x / np.linalg.norm(x), int(rng.integers(3)))
    return subject


def test_the_default_learner_states_thm_7():
    subject = after(3)
    bound = subject.guarantee("expected", norm_U=2.0)
    assert bound.value == pytest.approx(subject.certificate.expected_bound(2.0).value)
    assert bound.value == pytest.approx(4 * 0.60899, abs=1e-4)


def test_a_step_that_is_too_long_has_no_bound():
    subject = after(3, osp.OGD(step_size=5.0))
    with pytest.raises(osp.GuaranteeError, match="too long"):
        subject.guarantee()


def test_a_shorter_step_has_a_larger_bound():
    eta = predictor().learner.eta
    assert after(3, osp.OGD(step_size=eta / 10)).guarantee().value > after(3).guarantee().value


def test_high_probability_is_refused_for_the_step_of_thm_7_and_given_for_its_own():
    with pytest.raises(osp.GuaranteeError, match="shorter"):
        after(3).guarantee("high_probability", delta=0.1)
    gap = predictor().gap
    subject = after(3, osp.OGD(step_size=gap.a / gap.b))
    expected = gap.high_probability_bound(1.5, 0.1, form="anytime")
    assert subject.guarantee("high_probability", norm_U=1.5, delta=0.1).value == pytest.approx(expected.value)


@pytest.mark.parametrize("learner", [osp.AdaptiveOGD(4.0), osp.ParameterFree()], ids=repr)
def test_other_learners_have_high_probability_and_batch_bounds_above_and_below_the_expected(learner):
    subject = after(10, learner)
    expected = subject.guarantee("expected", norm_U=1.0).value
    assert subject.guarantee("high_probability", norm_U=1.0, delta=0.05).value > expected
    assert subject.guarantee("online_to_batch", norm_U=1.0).value == pytest.approx(expected / 10)


def test_polyak_states_the_bound_of_its_last_step_and_of_moving_comparators():
    subject = after(20, osp.PolyakOGD(4.0))
    eta = subject.learner.eta
    assert subject.guarantee("expected", norm_U=2.0).value == pytest.approx(4 / eta * 2)
    assert subject.guarantee("nonstationary", norm_U=2.0, path_length=3.0).value == pytest.approx(4 / eta * 5)
    for kind in ("high_probability", "online_to_batch"):
        with pytest.raises(osp.GuaranteeError, match="No theorem"):
            subject.guarantee(kind)
    with pytest.raises(osp.GuaranteeError, match="No theorem"):
        after(3).guarantee("nonstationary")


@pytest.mark.parametrize("learner", [osp.OGD(radius=1.0), osp.AdaptiveOGD(2.0), osp.PolyakOGD(2.0)], ids=repr)
def test_comparators_outside_the_domain_are_refused(learner):
    subject = after(3, learner)
    assert subject.guarantee("expected", norm_U=1.0).value > 0
    with pytest.raises(osp.GuaranteeError, match="exceeds the radius"):
        subject.guarantee("expected", norm_U=1.01)


@pytest.mark.parametrize(
    "learner",
    [osp.OGD(radius=1.0), osp.AdaptiveOGD(2.0), osp.PolyakOGD(2.0), osp.ParameterFree()],
    ids=repr,
)
def test_late_feedback_has_a_bound_for_plain_ogd_only(learner):
    def late(subject):
        first = subject.play(np.ones(2) / 2)
        subject.step(np.ones(2) / 2, 1)
        subject.learn(first, 0)
        return subject

    with pytest.raises(osp.GuaranteeError, match="delayed"):
        late(predictor(learner)).guarantee()
    with pytest.raises(osp.GuaranteeError, match="too long"):
        late(predictor()).guarantee()  # its default step assumes prompt feedback
    gap = predictor().gap
    patient = late(predictor(osp.OGD(step_size=gap.step_size / 3)))
    assert patient.guarantee().value == pytest.approx(3 * gap.coefficient)
    with pytest.raises(osp.GuaranteeError, match="prompt"):
        patient.guarantee("online_to_batch")


def test_online_to_batch_needs_a_round():
    with pytest.raises(osp.GuaranteeError, match="first round"):
        predictor().guarantee("online_to_batch")


def test_an_unknown_kind_lists_the_known_ones():
    with pytest.raises(osp.InvalidInputError, match="expected, high_probability, online_to_batch"):
        predictor().guarantee("certain")


def test_inexact_predictions_enlarge_every_bound():
    space = osp.space_from_lmo(lambda cost: (cost < 0).astype(float), 4)
    exact = osp.OnlinePredictor(space, 2)
    sloppy = osp.OnlinePredictor(space, 2, inexactness=50.0)
    rng = np.random.default_rng(1)
    for _ in range(30):
        x, y = rng.standard_normal(2) / 4, (rng.random(4) < 0.5).astype(float)
        exact.step(x, y)
        sloppy.step(x, y)
    assert sloppy.summary().total_gap > exact.summary().total_gap
    difference = sloppy.guarantee().value - exact.guarantee().value
    assert difference == pytest.approx(sloppy.summary().total_gap - exact.summary().total_gap)


class Boasting(osp.Vertices):
    """Says to decode better than it does."""

    def decoding_ratio(self, target):
        return 0.85 * super().decoding_ratio(target)


def test_verification_catches_a_wrong_constant_and_leaves_the_predictor_alone():
    """On {0, 1} Lemma 4 is tight, so a ratio that is too small by 15 % must be noticed."""

    def predictor(kind):
        line, learner = kind([[0.0], [1.0]]), osp.OGD(step_size=0.02)
        return osp.OnlinePredictor(
            line, 1, loss=osp.FenchelYoungLoss(line, 8.0), verify=True, learner=learner
        )

    honest, fooled = predictor(osp.Vertices), predictor(Boasting)
    labels = [1, 1, 0, 0] * 5
    for label in labels:
        honest.step(np.ones(1), np.array([float(label)]))
    untouched = False
    for label in labels:
        before = fooled.learner.state(), fooled.rng.bit_generator.state
        try:
            fooled.step(np.ones(1), np.array([float(label)]))
        except osp.GuaranteeError as error:
            assert "Lemma 4 fails" in str(error)  # noqa: PT017 — any of the rounds may be the one
            untouched = np.array_equal(before[0]["core"], fooled.learner.state()["core"])
            untouched &= before[1] == fooled.rng.bit_generator.state
            break
    assert untouched
