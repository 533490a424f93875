"""The records of compiled rounds: whose memory they are, and the law they were drawn from."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from compiled_twins import SPACES, predictor, same_bits, stream

import osp_core as osp
from osp_core import kernels
from osp_core.surrogates.decoders import Decoder

every_space = pytest.mark.parametrize("space", SPACES)
either_path = pytest.mark.parametrize("kind", ["numba", "numpy"])


def records(subject, X, Y):
    """Rounds learned at once and later, in turn."""
    for number, (x, y) in enumerate(zip(X, Y, strict=True)):
        yield subject.step(x, y) if number % 2 else subject.learn(subject.play(x), y)


@either_path
@every_space
def test_what_a_record_holds_is_nobody_elses_and_may_be_written_to(space, kind):
    space = SPACES[space]()
    X, Y = stream(space, rounds=40)
    vertices = [space.as_vertex(y) for y in Y]
    with kernels.use(kind):
        subject, untouched = predictor(space), predictor(space)
        for record, expected in zip(
            records(subject, X, vertices), records(untouched, X, vertices), strict=True
        ):
            held = {name: getattr(record, name) for name in ("vertex", "nearest", "y")}
            held["mean"], held["law's nearest"] = record.law.mean, record.law.nearest
            for one, other in itertools.combinations(held, 2):
                assert not np.shares_memory(held[one], held[other]), (one, other)
            for name in ("vertex", "nearest", "y"):
                np.testing.assert_array_equal(held[name], getattr(expected, name), err_msg=name)
                assert held[name].dtype == np.float64
                assert held[name].flags.writeable, name
                held[name].fill(np.nan)  # what comes later must not see it
            np.testing.assert_array_equal(record.law.mean, expected.law.mean)
    same_bits(subject, untouched)
    np.testing.assert_array_equal(vertices, [space.as_vertex(y) for y in Y])


@either_path
def test_the_law_of_a_play_is_the_law_of_its_record(kind):
    space = SPACES["softmax"]()
    with kernels.use(kind):
        subject = predictor(space)
        for x, y in zip(*stream(space, rounds=5), strict=True):
            play = subject.play(x)
            assert subject.learn(play, y).law is play.law


class Constant:
    """A law of nobody's family: always the same output."""

    certified = False
    p = 0.0

    def __init__(self, prediction, nearest):
        self.prediction, self.nearest, self.mean = prediction, nearest, nearest

    def sample(self, rng):
        return self.nearest.copy()

    def expected_loss(self, target, y=None):
        return target(self.mean)


class Stubborn(Decoder):
    def law(self, prediction):
        return Constant(prediction, self.space.nearest_vertex(np.zeros(self.space.dim)))


class Callable(Constant):
    """A law that can be called, which does not make it a recipe for one."""

    def __call__(self):
        raise AssertionError("a law is no factory")


class Calling(Decoder):
    def law(self, prediction):
        return Callable(prediction, self.space.nearest_vertex(prediction.point))


@pytest.mark.parametrize("decoder", [Stubborn, Calling])
def test_a_record_gives_back_a_law_of_any_class(decoder):
    space = SPACES["softmax"]()
    subject = predictor(space, decoder=decoder(space))
    for x, y in zip(*stream(space, rounds=3), strict=True):
        play = subject.play(x)
        late, at_once = subject.learn(play, y), subject.step(x, y)
        assert late.law is play.law
        assert isinstance(at_once.law, Constant)
        assert at_once.law is at_once.law
        assert late.label == space.to_label(play.law.nearest)


@either_path
@every_space
def test_a_record_can_be_copied_and_pickled_before_its_law_was_asked_for(space, kind):
    space = SPACES[space]()
    X, Y = stream(space, rounds=3)
    with kernels.use(kind):
        subject = predictor(space)
        for x, y in zip(X, Y, strict=True):
            record = subject.step(x, y)
            for twin in (copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
                np.testing.assert_array_equal(twin.law.mean, record.law.mean)
                assert twin.label == record.label


def test_a_sampler_that_fails_leaves_no_round_half_learned():
    """The draw comes after learning; where the space's own sampler fails, its compiled form draws."""

    class Fragile(type(SPACES["softmax"]())):
        def compiled_parts(self):
            return super().compiled_parts()

        def sample_vertex(self, point, rng):
            raise ZeroDivisionError

    class TooShort(Fragile):
        def compiled_parts(self):
            return super().compiled_parts()

        def sample_vertex(self, point, rng):
            return np.ones(1)

    X, Y = stream(SPACES["softmax"](), rounds=60)
    for kind in (Fragile, TooShort):
        subject, whole = predictor(kind(4)), predictor(kind(4))
        losses = [subject.step(x, y).target_loss for x, y in zip(X, Y, strict=True)]
        trace = osp.run(whole, X, Y)
        assert (trace.p > 0).any()
        np.testing.assert_array_equal(losses, trace.target_loss)
        same_bits(subject, whole)
