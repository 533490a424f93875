"""The kit as its users meet it: ten-line spaces, reports, expected failures, what it imports."""

import subprocess
import sys

import numpy as np
import pytest

import osp_core as osp
from osp_core.errors import InvalidInputError
from osp_core.testing import (
    SPACE_CHECKS,
    ConformanceError,
    check_space,
    examine_space,
    learner_factories,
    space_examples,
)


def best_pair(cost):
    """Two neighbours on a ring of five."""
    pairs = np.eye(5) + np.roll(np.eye(5), 1, axis=1)
    return pairs[np.argmin(pairs @ cost)]


class Ring(osp.ZeroOneSpace):
    dim = 5

    def lmo(self, cost):
        return best_pair(cost)


class Corners(osp.OutputSpace):
    dim = 3

    def lmo(self, cost):
        return np.where(cost < 0, 2.0, -1.0)


@pytest.mark.parametrize(
    "space", [osp.space_from_lmo(best_pair, 5), Ring(), Corners()], ids=["function", "zero_one", "class"]
)
def test_a_space_of_ten_lines_passes(space):
    check_space(space)


def test_the_same_space_with_twice_its_nu_fails_and_the_pair_is_named():
    nu = osp.space_from_lmo(best_pair, 5).nu
    with pytest.raises(ConformanceError) as caught:
        check_space(osp.space_from_lmo(best_pair, 5, nu=2 * nu))
    result = caught.value.report.named("nu")
    assert f"nu = {2 * nu:.10g} is too large" in result.message
    first, second = (np.array(part.split(), dtype=float) for part in bracketed(result.message)[:2])
    assert np.linalg.norm(first - second) == pytest.approx(nu)
    assert result.message in str(caught.value)


def bracketed(message):
    return [part.split("]")[0] for part in message.split("[")[1:]]


def test_all_failures_are_reported_at_once():
    space = osp.space_from_lmo(best_pair, 5, nu=9.0, diameter=0.1)
    with pytest.raises(AssertionError) as caught:
        check_space(space)
    for name in ("FAILED nu", "FAILED diameter"):
        assert name in str(caught.value)


def test_a_report_tells_name_outcome_message_and_seconds_of_every_check():
    report = examine_space(Ring())
    assert [result.name for result in report.results] == [
        c.__name__.removeprefix("check_") for c in SPACE_CHECKS
    ]
    assert report.ok
    assert not report.failures
    assert report.seconds == pytest.approx(sum(result.seconds for result in report.results))
    for result in report.results:
        assert bool(result.message) == (result.outcome != "passed")
    assert str(report).startswith("Ring(dim=5) with SquaredNorm(scale=1.0), norm 2: ")


def test_an_expected_failure_is_no_failure():
    space = osp.space_from_lmo(best_pair, 5, diameter=0.1)
    report = examine_space(space, expected_failures={"diameter": "planted"})
    assert report.ok
    assert report.named("diameter").outcome == "expected failure"
    assert "planted" in report.named("diameter").message
    check_space(space, expected_failures=["check_diameter"])


def test_an_expected_failure_that_passes_is_reported():
    with pytest.raises(ConformanceError, match="UNEXPECTED PASS diameter"):
        check_space(Ring(), expected_failures={"diameter": "was wrong once"})


def test_an_expected_failure_must_be_a_check():
    with pytest.raises(ValueError, match="no check called 'diametre'"):
        check_space(Ring(), expected_failures=["diametre"])


def test_a_check_that_crashes_is_reported_with_the_place():
    class Crashing(Ring):
        def nearest_vertex(self, point):
            raise ZeroDivisionError("planted")

    message = examine_space(Crashing()).named("vertex_is_its_own_nearest").message
    assert "ZeroDivisionError: planted" in message
    assert "test_kit.py" in message


def test_equal_seeds_give_equal_reports():
    space = osp.space_from_lmo(best_pair, 5, nu=9.0)
    first, second = (examine_space(space, seed=3).named("nu").message for _ in range(2))
    assert first == second


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_sound_space_passes_with_any_seed(seed):
    check_space(Ring(), seed=seed)
    check_space(osp.make_space("hypercube", d=3), seed=seed)
    check_space(osp.make_space("simplex", d=3), seed=seed)


def test_the_kit_needs_no_test_framework():
    blocked = "import sys; sys.modules.update(dict.fromkeys(['pytest', 'hypothesis', '_pytest']))"
    code = f"{blocked}; import osp_core as osp; from osp_core.testing import check_space; "
    code += "check_space(osp.Vertices([[0.0], [1.0]]))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_examples_of_a_space_are_made_anew_each_time():
    examples = space_examples("simplex")
    assert [str(example) for example in examples][:2] == ["simplex-0", "simplex-1"]
    assert examples[0].make() is not examples[0].make()


class TwoBackends:
    """A plugin whose space has two back ends."""

    class Space(Ring):
        def __init__(self, backend="slow"):
            super().__init__()
            self.backend = backend

        @classmethod
        def examples(cls):
            return (cls(), cls())

    class Choosy(Space):
        @classmethod
        def examples(cls, backend="slow"):
            return (cls(backend),) * (2 if backend == "fast" else 1)

    class Stubborn(Ring):
        @classmethod
        def examples(cls):
            return (cls(),)

    class Empty(Ring):
        pass

    @osp.hookimpl
    def osp_spaces(self):
        backends = {"slow": {}, "fast": {}, "absent": {"no_such_module": "no-such"}}
        return [
            osp.Registration("ring", self.Space, backends=backends),
            osp.Registration("choosy", self.Choosy, backends=backends),
            osp.Registration("stubborn", self.Stubborn, backends=backends),
            osp.Registration("empty", self.Empty),
        ]

    @osp.hookimpl
    def osp_learners(self):
        return [osp.Registration("needy", lambda temperature: None)]


@pytest.fixture
def two_backends():
    name = osp.register(TwoBackends(), "two_backends")
    yield
    osp.unregister(name)


@pytest.mark.usefixtures("two_backends")
def test_examples_are_made_for_every_back_end_that_is_installed():
    examples = space_examples("ring")
    assert [str(one) for one in examples] == ["ring[slow]-0", "ring[slow]-1", "ring[fast]-0", "ring[fast]-1"]
    assert examples[2].make().backend == "fast"
    assert isinstance(examples[2].make(), TwoBackends.Space)
    assert [str(one) for one in space_examples("choosy")] == [
        "choosy[slow]-0",
        "choosy[fast]-0",
        "choosy[fast]-1",
    ]


@pytest.mark.usefixtures("two_backends")
def test_a_space_that_cannot_be_checked_says_what_it_lacks():
    with pytest.raises(InvalidInputError, match="class takes backend="):
        space_examples("stubborn")
    with pytest.raises(InvalidInputError, match="is empty"):
        space_examples("empty")
    with pytest.raises(InvalidInputError, match="cannot be made without 'temperature'"):
        learner_factories("needy")
    with pytest.raises(osp.UnknownNameError):
        space_examples("nowhere")
    with pytest.raises(InvalidInputError, match="no learner"):
        learner_factories("nobody")
