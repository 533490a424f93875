"""Faults planted in learners: what they share with each other, and what they load; each is found."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import LEARNER_CHECKS, examine_learner, learner_factories
from osp_core.testing.learner_checks import default_spaces

CHECKS = {check.__name__.removeprefix("check_"): check for check in LEARNER_CHECKS}


def run(name, factory, rounds=24):
    for space in default_spaces():
        CHECKS[name](factory, space, np.random.default_rng(0), rounds)


def failure(name, factory):
    with pytest.raises(AssertionError) as error:
        run(name, factory)
    return str(error.value)


MODULE_BUFFER = np.zeros(1)


class SharedByClass(osp.OGD):
    """Counts the rounds of all learners together, and steps accordingly."""

    steps = [0]  # noqa: RUF012 — the fault

    def start(self, shape, *, certificate=None):
        super().start(shape, certificate=certificate)
        self.steps[0] = 0

    def update(self, gradient, *, loss=None, expected_loss=None):
        self.steps[0] += 1
        eta = self.eta
        self._numbers[0] = eta / (1.0 + 0.01 * self.steps[0])
        super().update(gradient, loss=loss, expected_loss=expected_loss)
        self._numbers[0] = eta

    def state(self):
        return {**super().state(), "steps": self.steps[0]}

    def load_state(self, state):
        super().load_state(state)
        self.steps[0] = int(state["steps"])


class SharedByModule(osp.OGD):
    """Keeps a running mean of losses in an array of its module."""

    def start(self, shape, *, certificate=None):
        super().start(shape, certificate=certificate)
        MODULE_BUFFER[:] = 0.0

    def update(self, gradient, *, loss=None, expected_loss=None):
        MODULE_BUFFER[0] += loss
        eta = self.eta
        self._numbers[0] = eta / (1.0 + 0.01 * MODULE_BUFFER[0])
        super().update(gradient, loss=loss, expected_loss=expected_loss)
        self._numbers[0] = eta


class SharedByDefault(osp.OGD):
    """A default argument that all learners append to."""

    def __init__(self, seen=[]):  # noqa: B006 — the fault
        super().__init__()
        self.seen = seen

    def start(self, shape, *, certificate=None):
        super().start(shape, certificate=certificate)
        self.seen.clear()

    def update(self, gradient, *, loss=None, expected_loss=None):
        self.seen.append(loss)
        eta = self.eta
        self._numbers[0] = eta / (1.0 + 0.01 * len(self.seen))
        super().update(gradient, loss=loss, expected_loss=expected_loss)
        self._numbers[0] = eta


@pytest.mark.parametrize("kind", [SharedByClass, SharedByModule, SharedByDefault])
def test_learners_that_share_something_are_caught(kind):
    message = failure("learner_shares_nothing", kind)
    assert "when another learner of the same kind plays in between: the two share something" in message


def test_a_factory_that_returns_the_same_learner_each_time_is_caught():
    learner = osp.OGD()
    report = examine_learner(lambda: learner, rounds=4)
    assert "one and the same learner twice" in report.named("learner_shares_nothing").message
    assert "already serves another predictor" in report.named("learner_is_deterministic").message


class Trusting(osp.OGD):
    """A factor that grows, saved and loaded without a look at it."""

    factor = 1.0

    def start(self, shape, *, certificate=None):
        super().start(shape, certificate=certificate)
        self.factor = 1.0

    def update(self, gradient, *, loss=None, expected_loss=None):
        self.factor *= 1.001
        super().update(gradient, loss=loss, expected_loss=expected_loss)

    def state(self):
        return {**super().state(), "factor": self.factor}

    def load_state(self, state):
        super().load_state(state)
        self.factor = float(state["factor"])


class TooLate(Trusting):
    """Looks at its factor, but after the weights are loaded."""

    def state(self):
        return {**super().state(), "again": self.factor}

    def load_state(self, state):
        self._array.core[...] = 7.0
        if not np.isfinite([state["factor"], state["again"]]).all():
            raise osp.InvalidInputError("The factor must be finite.")
        super().load_state(state)


class RawError(Trusting):
    def load_state(self, state):
        if not np.isfinite(state["factor"]):
            raise ZeroDivisionError("no such factor")
        super().load_state(state)


class NoLook(osp.OGD):
    """Takes weights as they come."""

    def load_state(self, state):
        array = self._array
        array.core[...], array.residue[...] = state["core"], state["residue"]
        array.numbers[:4] = state["numbers"]
        self.rounds = state["rounds"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Trusting, "load_state accepted a state whose 'factor' is nan"),
        (TooLate, "because load_state refused one whose"),
        (RawError, "load_state raised ZeroDivisionError: no such factor for a state whose 'factor' is nan"),
        (NoLook, "load_state accepted a state whose 'core' has the entry nan"),
    ],
)
def test_a_learner_that_loads_what_no_run_led_to_is_caught(kind, message):
    assert message in failure("learner_refuses_spoiled_states", kind)


@pytest.mark.parametrize("name", [record.name for record in osp.list_learners() if record.available])
def test_the_learners_of_the_library_share_nothing_and_look_at_states(name):
    for factory in learner_factories(name):
        for check in ("learner_shares_nothing", "learner_refuses_spoiled_states"):
            run(check, factory, rounds=12)
