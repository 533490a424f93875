"""Faults planted in learners and target losses, each found by the check that is for it."""

from dataclasses import replace

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import ConformanceError, check_learner, check_loss, examine_learner, examine_loss


def failures(factory):
    report = examine_learner(factory, rounds=24)
    return {result.name: result.message for result in report.failures}


def test_gradient_descent_passes():
    check_learner(osp.OGD, rounds=24)


def test_a_learner_can_be_checked_on_a_space_of_ones_own():
    check_learner(osp.OGD, rounds=24, space=osp.make_space("simplex", d=4))


class SmallBound(osp.OGD):
    def bound(self, gap, run, norm_U):
        exact = super().bound(gap, run, norm_U)
        return replace(exact, value=exact.value / 6)


def test_a_bound_that_is_too_small_is_caught():
    message = failures(SmallBound)["learner_regret_is_below_its_bound"]
    assert "is too small" in message
    assert "on the separable stream of" in message
    assert "‖U‖ =" in message


class ForgetsRounds(osp.OGD):
    """A step that shrinks with a counter, which the state lacks."""

    _count = 0

    def start(self, shape, *, certificate=None):
        super().start(shape, certificate=certificate)
        self._count = 0

    def update(self, gradient, *, loss=None, expected_loss=None):
        self._count += 1
        self._numbers[0] *= 1.0 - 0.01 / self._count
        super().update(gradient, loss=loss, expected_loss=expected_loss)


def test_a_state_that_lacks_something_is_caught():
    message = failures(ForgetsRounds)["learner_state_round_trip"]
    assert "state() misses something" in message


class SharedState(osp.OGD):
    """A state whose arrays are those the learner goes on changing."""

    def state(self):
        state = super().state()
        if "_kept" not in self.__dict__:
            self._kept = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
        for key, value in self._kept.items():
            value[...] = state[key]
        return {**state, **self._kept}

    def start(self, shape, *, certificate=None):
        super().start(shape, certificate=certificate)
        self.__dict__.pop("_kept", None)


def test_a_state_that_is_no_copy_is_caught():
    assert "must return copies" in failures(SharedState)["learner_state_round_trip"]


class PickledState(osp.OGD):
    def state(self):
        return {**super().state(), "generator": np.random.default_rng(0)}


def test_a_state_that_would_need_pickle_is_caught():
    assert "is a Generator" in failures(PickledState)["learner_state_round_trip"]


class NotZero(osp.OGD):
    def start(self, shape, *, certificate=None):
        kept = self.weights.copy() if self.rounds else None
        super().start(shape, certificate=certificate)
        if kept is not None:
            model = osp.LinearModel(shape[1])
            for column in range(shape[1]):
                x = model.read(np.eye(shape[1])[column], shape[0])
                self.update(model.gradient(-kept[:, column] / self.eta, x))
            self.rounds = 0


def test_a_learner_that_starts_where_it_ended_is_caught():
    found = failures(NotZero)
    assert "instead of 0" in found["learner_starts_at_zero"]
    assert "learner_is_deterministic" in found


class Noisy(osp.OGD):
    def update(self, gradient, *, loss=None, expected_loss=None):
        self._numbers[0] *= 1.0 + 1e-12 * np.random.default_rng().random()
        super().update(gradient, loss=loss, expected_loss=expected_loss)


def test_a_learner_that_is_not_deterministic_is_caught():
    assert "two runs on the same stream differ" in failures(Noisy)["learner_is_deterministic"]


class SparseOnly(osp.OGD):
    """Takes a longer step when the input is sparse."""

    def update(self, gradient, *, loss=None, expected_loss=None):
        eta = self.eta
        self._numbers[0] *= 1.1 if gradient.columns is not None else 1.0
        super().update(gradient, loss=loss, expected_loss=expected_loss)
        self._numbers[0] = eta


def test_a_learner_that_treats_sparse_inputs_differently_is_caught():
    assert "sparse and dense" in failures(SparseOnly)["learner_sparse_equals_dense"]


class WrongAverage(osp.OGD):
    @property
    def average_weights(self):
        return np.asarray(self.weights)


def test_an_average_that_is_the_last_iterate_is_caught():
    assert "average_weights is off" in failures(WrongAverage)["learner_keeps_finite_weights"]


class NoTheorem(osp.OGD):
    def bound(self, gap, run, norm_U):
        return None


def test_a_learner_without_a_bound_is_not_applicable_rather_than_passed():
    result = examine_learner(NoTheorem, rounds=10).named("learner_regret_is_below_its_bound")
    assert result.outcome == "not applicable"
    assert "states no bound" in result.message


SPACE = osp.Vertices([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])


class Squared(osp.AffineLoss):
    def __init__(self):
        super().__init__(lambda y: 1.0 - 2.0 * y, lambda y: float(y.sum()), name="squared")

    def reveal(self, space, feedback):
        y, _ = super().reveal(space, feedback)
        return y, SquaredRound(1.0 - 2.0 * y, float(y.sum()))


class SquaredRound(osp.targets.RoundLoss):
    def __call__(self, y_pred):
        return super().__call__(y_pred) ** 2


@pytest.mark.parametrize(
    ("target", "name", "words"),
    [
        (Squared(), "loss_is_affine", "is not affine"),
        (
            osp.AffineLoss(lambda y: -y, lambda y: float(y.sum()) - 0.5),
            "loss_is_nonnegative",
            "is negative",
        ),
        (osp.AffineLoss(lambda y: 1.0 - y, lambda y: 0.25), "loss_is_zero_at_the_truth", "instead of 0"),
        (
            osp.AffineLoss(osp.hamming.cost, osp.hamming.constant, gamma=0.3),
            "loss_gamma",
            "gamma = 0.3 is too small",
        ),
    ],
    ids=["squared", "negative", "offset", "flat"],
)
def test_a_target_that_breaks_the_assumptions_is_caught(target, name, words):
    report = examine_loss(target, SPACE)
    assert words in report.named(name).message
    with pytest.raises(ConformanceError, match=words):
        check_loss(target, SPACE)


@pytest.mark.parametrize(
    ("target", "space"),
    [
        (osp.hamming, SPACE),
        (osp.mismatch, SPACE),
        (osp.zero_one, osp.Vertices(np.eye(3))),
        (osp.table([[0, 1, 4], [1, 0, 1], [2, 1, 0]]), osp.Vertices(np.eye(3), norm=1)),
        (osp.decision_regret(SPACE, gamma=2.0), SPACE),
        (osp.ndcg, osp.Vertices([[1, 0, 0, 1], [0, 1, 1, 0]])),
        (osp.alignment, osp.Vertices([[1, 2, 3], [3, 2, 1], [2, 3, 1], [2, 1, 3], [1, 3, 2], [3, 1, 2]])),
    ],
    ids=lambda value: repr(value),
)
def test_the_targets_of_the_library_pass(target, space):
    check_loss(target, space)
    assert examine_loss(target, space).named("loss_gamma").outcome == "passed"


def test_a_target_without_a_gamma_is_not_applicable_there():
    report = examine_loss(osp.decision_regret(SPACE), SPACE)
    assert {result.outcome for result in report.results} == {"not applicable"}
