"""A predictor used in any order: late feedback, bad input, saving and loading, against a plain twin."""

import copy
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

import osp_core as osp
from osp_core.persistence.archive import CheckpointError

SPACES = {
    "simplex": {"d": 3},
    "hypercube": {"d": 3},
    "ordinal": {"d": 3},
    "permutahedron": {"d": 3},
    "k_subsets": {"d": 4, "k": 2},
    "birkhoff": {"n": 2},
    "graphic_matroid": {"edges": [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")]},
}
LEARNERS = {
    "ogd": {},
    "adaptive_ogd": {"diameter": 4.0},
    "parameter_free": {},
    "polyak_ogd": {"diameter": 4.0},
}
INPUTS = st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)).map(list)
BAD_INPUTS = st.sampled_from(
    [
        [np.nan, 0.0],
        [np.inf, 0.0],
        [1.0],
        [0.1, 0.2, 0.3],
        [2.0, 2.0],
        "ab",
        None,
        [[0.1, 0.2]],
        1.0,
        [1e200, 0],
    ]
)
BAD_OUTPUTS = st.sampled_from([np.full(4, 0.25), np.zeros(9), "nothing", None, object(), -1.5, [np.nan] * 3])


class AnyOrder(RuleBasedStateMachine):
    """The predictor and its twin get the same rounds; only the predictor is saved, loaded and mistreated."""

    plays = Bundle("plays")

    @initialize(
        space=st.sampled_from(sorted(SPACES)),
        learner=st.sampled_from(sorted(LEARNERS)),
        seed=st.integers(0, 2**32),
        inexactness=st.sampled_from([None, 0.5]),
    )
    def begin(self, space, learner, seed, inexactness):
        def make():
            return osp.OnlinePredictor(
                osp.make_space(space, **SPACES[space]),
                2,
                learner=osp.make_learner(learner, **LEARNERS[learner]),
                inexactness=inexactness,
                seed=seed,
            )

        self.predictor, self.twin = make(), make()
        self.space = self.predictor.space
        self.folder = tempfile.TemporaryDirectory()
        self.generation = self.rounds = 0
        self.open = {}

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()

    @rule(target=plays, x=INPUTS)
    def play(self, x):
        mine, other = self.predictor.play(x), self.twin.play(x)
        assert mine.vertex.tobytes() == other.vertex.tobytes()
        assert self.space.is_vertex(mine.vertex)
        self.open[mine.number] = (mine, other)
        return self.generation, mine, other

    @rule(play=consumes(plays), which=st.integers(0, 10**6))
    def learn_late(self, play, which):
        generation, mine, _ = play
        if generation == self.generation and mine.number in self.open:
            self.learn(mine.number, which)
        self.refused(lambda: self.predictor.learn(mine, self.output(which)))  # not twice, not after loading

    @rule(
        xs=st.lists(INPUTS, min_size=2, max_size=4),
        draw=st.randoms(use_true_random=False),
        left=st.integers(0, 1),
    )
    def disorder(self, xs, draw, left):
        """Several plays, whose feedback comes in any order, or not yet."""
        for x in xs:
            self.play(x)
        numbers = sorted(self.open)
        draw.shuffle(numbers)
        for number in numbers[left:]:
            self.learn(number, draw.randrange(10**6))

    @rule(xs=st.lists(INPUTS, min_size=1, max_size=4), which=st.integers(0, 10**6), as_label=st.booleans())
    def steps(self, xs, which, as_label):
        for number, x in enumerate(xs):
            y = self.output(which + number)
            given = self.space.to_label(y) if as_label else y
            self.same(self.predictor.step(x, given), self.twin.step(x, y))

    @rule(x=INPUTS)
    def look(self, x):
        before = str(self.predictor.state())
        assert np.array_equal(self.space.as_vertex(self.predictor.predict(x)), self.twin.predict_vertex(x))
        assert self.predictor.law(x).mean.tobytes() == self.twin.law(x).mean.tobytes()
        assert str(self.predictor.state()) == before

    @rule(x=INPUTS, bad_x=BAD_INPUTS, bad_y=BAD_OUTPUTS, which=st.integers(0, 10**6))
    def mistreat(self, x, bad_x, bad_y, which):
        for act in (self.predictor.play, self.predictor.predict, self.predictor.law):
            self.refused(lambda act=act: act(bad_x))
        self.refused(lambda: self.predictor.step(bad_x, self.output(which)))
        self.refused(lambda: self.predictor.step(x, bad_y))
        for mine, _ in self.open.values():
            self.refused(lambda mine=mine: self.predictor.learn(mine, bad_y))

    @rule()
    def save_and_load(self):
        path = Path(self.folder.name) / "run.ckpt"
        if self.open:
            self.refused(lambda: self.predictor.save(path))
            for number in sorted(self.open, reverse=True):
                self.learn(number, number)
        self.predictor.save(path)
        self.go_on_with(osp.OnlinePredictor.load(path))

    @rule()
    def forget(self):
        """Whoever saves in spite of waiting plays loses them, and nothing else."""
        path = Path(self.folder.name) / "run.ckpt"
        self.predictor.save(path, forget_waiting=True)
        self.go_on_with(osp.OnlinePredictor.load(path))
        self.twin._waiting.clear()

    @rule(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
    def damage(self, at, bit):
        """A damaged file is refused, or says what it said."""
        path = Path(self.folder.name) / "run.ckpt"
        if not path.exists():
            return
        sound = path.read_bytes()
        data = bytearray(sound)
        data[int(at * len(data))] ^= 1 << bit
        path.write_bytes(data)
        try:
            loaded = osp.OnlinePredictor.load(path)
        except CheckpointError:
            loaded = None
        path.write_bytes(sound)
        if loaded is not None:
            assert str(loaded.state()) == str(osp.OnlinePredictor.load(path).state())

    @rule()
    def go_on_as_a_copy(self):
        # Copied together: a play keeps the space of its predictor.
        self.predictor, mine = copy.deepcopy(
            (self.predictor, {number: one for number, (one, _) in self.open.items()})
        )
        self.space = self.predictor.space
        self.open = {number: (one, self.open[number][1]) for number, one in mine.items()}

    @invariant()
    def both_are_the_same(self):
        if not hasattr(self, "twin"):
            return
        assert str(self.predictor.state()) == str(self.twin.state())
        assert self.predictor.summary() == self.twin.summary()
        assert self.predictor.average_weights.tobytes() == self.twin.average_weights.tobytes()
        assert self.predictor.learner.rounds == self.rounds

    def learn(self, number, which):
        mine, other = self.open.pop(number)
        y = self.output(which)
        self.same(self.predictor.learn(mine, y), self.twin.learn(other, y))

    def go_on_with(self, predictor):
        self.predictor, self.space, self.open = predictor, predictor.space, {}
        self.generation += 1

    def output(self, which):
        return self.space.lmo(np.random.default_rng(which).standard_normal(self.space.dim))

    def same(self, mine, other):
        self.rounds += 1
        for name in ("target_loss", "expected_loss", "surrogate_loss", "p", "gap"):
            assert getattr(mine, name) == getattr(other, name), name
        assert mine.vertex.tobytes() == other.vertex.tobytes()

    def refused(self, act):
        before = str(self.predictor.state())
        with pytest.raises(osp.OspError):
            act()
        assert str(self.predictor.state()) == before


QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]
TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(
    max_examples=60, stateful_step_count=30, derandomize=True, deadline=None, suppress_health_check=QUIET
)


@pytest.mark.soak
class TestAnyOrderForLong(AnyOrder.TestCase):
    settings = settings(
        max_examples=3000, stateful_step_count=60, deadline=None, suppress_health_check=QUIET, database=None
    )
