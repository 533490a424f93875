"""Faults that only show at run time, planted in a space: the guard finds each, and blames no sound space."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import osp_core as osp
from osp_core.registry.watch import Drift
from osp_core.spaces import Block

PAIRS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 0, 1, 0]], dtype=float)


class Sound(osp.Vertices):
    """Five pairs of four elements, with nothing wrong."""

    def __init__(self, **options):
        super().__init__(PAIRS, **options)

    def target_loss(self):
        return osp.mismatch


def play(space, rounds, seed=0):
    predictor = osp.OnlinePredictor(space, 2, target=osp.mismatch, seed=seed)
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(rounds):
        x, y = rng.standard_normal(2), PAIRS[rng.integers(5)]
        losses.append(predictor.step(x / np.linalg.norm(x), y).surrogate_loss)
    return losses


def refused_in_a_round(space, message, rounds=60):
    """Play until the guard refuses a round; nothing may have changed by it."""
    predictor = osp.OnlinePredictor(osp.guarded(space), 2, target=osp.mismatch, seed=0)
    for t in range(rounds):
        before = str(predictor.state())
        try:
            predictor.step([0.6, 0.8 * (-1) ** t], PAIRS[t % 5])
        except osp.PluginError as error:
            found = str(error)
            break
    else:
        pytest.fail(f"{rounds} rounds went by")
    assert message in found
    assert str(predictor.state()) == before
    return t


def repeat(times, act, *args):
    for _ in range(times):
        act(*args)


# --- constants --------------------------------------------------------------------------------------------


class GrowingNu(Sound):
    """ν is found by looking at what was asked so far."""

    def __init__(self):
        super().__init__()
        self.asked = 0

    def project(self, point):
        self.asked += 1
        return super().project(point)

    @property
    def nu(self):
        return 1.0 if self.asked < 4 else 2.0


class OtherPsi(Sound):
    """Changes its own Ψ after a while."""

    def project(self, point):
        self.asked = getattr(self, "asked", 0) + 1
        if self.asked == 5:
            self.__dict__["psi"] = osp.SquaredNorm(0.5)  # an assignment would be refused
        return super().project(point)


class Flipping(Sound):
    asked = 0

    def project(self, point):
        type(self).asked += 1
        return super().project(point)

    @property
    def zero_one(self):
        return self.asked < 6

    @zero_one.setter
    def zero_one(self, value):
        pass


@pytest.mark.parametrize(
    ("kind", "message"),
    [(GrowingNu, "nu of"), (OtherPsi, "psi of"), (Flipping, "zero_one of")],
    ids=["nu", "psi", "zero_one"],
)
def test_a_constant_that_changes_is_found_in_the_round_in_which_it_does(kind, message):
    assert refused_in_a_round(kind(), message) >= 2


# --- oracles ----------------------------------------------------------------------------------------------


class Undecided(Sound):
    """Breaks ties by chance."""

    def __init__(self):
        super().__init__()
        self.coin = np.random.default_rng(0)

    def lmo(self, cost):
        order = self.coin.permutation(5)
        return PAIRS[order[np.argmin((PAIRS @ cost)[order])]].copy()


def test_an_oracle_that_breaks_ties_by_chance_is_found():
    space = osp.guarded(Undecided())
    with pytest.raises(osp.PluginError, match=r"lmo of .* answered .* and then .* to the same cost"):
        repeat(50, space.lmo, np.zeros(4))


class Restless(Sound):
    """Answers an equal cost differently the second time it is asked."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def lmo(self, cost):
        if cost.tobytes() in self.seen:
            return PAIRS[3].copy()
        self.seen.add(cost.tobytes())
        return super().lmo(cost)


def test_an_oracle_that_forgets_its_answer_is_found_at_once():
    with pytest.raises(osp.PluginError, match="to the same cost"):
        osp.guarded(Restless()).lmo(np.array([3.0, 1.0, 1.0, 2.0]))


class Mutating(Sound):
    def lmo(self, cost):
        answer = super().lmo(cost.copy())
        cost[...] = 0.0
        return answer


def test_an_oracle_that_writes_to_its_argument_is_told_of_and_does_no_harm():
    with pytest.warns(osp.PluginWarning, match="changed its argument"):
        found = play(osp.guarded(Mutating()), 10)
    assert found == play(plain(Sound()), 10)


# --- buffers ----------------------------------------------------------------------------------------------


class OneBuffer(Sound):
    """Every prediction is in the same array."""

    def project(self, point):
        found = super().project(point)
        self.__dict__.setdefault("buffer", np.empty(4))[:] = found.point
        return osp.Prediction(self.buffer, found.combination, found.gap)


class OneCombination(Sound):
    """Every combination is in the same arrays."""

    def project(self, point):
        found = super().project(point)
        if "kept" not in self.__dict__:
            self.kept = osp.ConvexCombination(PAIRS.copy(), np.full(5, 0.2))
        weights = np.zeros(5)
        for vertex, weight in zip(found.combination.vertices, found.combination.weights, strict=True):
            weights[np.flatnonzero((vertex == PAIRS).all(axis=1))[0]] += weight
        self.kept.weights[:] = weights
        self.kept.__dict__.pop("mean", None)
        self.kept.__dict__.pop("_thresholds", None)
        return osp.Prediction(found.point, self.kept, found.gap)


class OneAnswer(Sound):
    """Every vertex is in the same array."""

    def lmo(self, cost):
        self.__dict__.setdefault("buffer", np.empty(4))[:] = super().lmo(cost)
        return self.buffer


def plain(space):
    """The space in plain rounds, as a guarded one is."""
    space.compiled_parts = lambda: None
    return space


@pytest.mark.parametrize("kind", [OneBuffer, OneCombination, OneAnswer])
def test_arrays_that_are_rewritten_are_told_of_once_and_copied(kind):
    space, thetas = osp.guarded(kind()), np.random.default_rng(0).standard_normal((6, 4))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kept = [(space.predict(theta), space.lmo(theta)) for theta in thetas]
    messages = {str(one.message) for one in told}
    assert any("rewrote an array that it had returned before" in message for message in messages)
    assert len(messages) == len(told)
    for theta, (prediction, vertex) in zip(thetas, kept, strict=True):
        right = Sound().predict(theta)
        np.testing.assert_allclose(prediction.point, right.point, atol=1e-9)
        assert vertex.tobytes() == Sound().lmo(theta).tobytes()
        if prediction.combination is not None:
            np.testing.assert_allclose(prediction.combination.mean, right.point, atol=1e-9)


# --- predictions ------------------------------------------------------------------------------------------


class Lazy(Sound):
    """Stops at the middle, and says that it is done."""

    def project(self, point):
        middle = PAIRS.mean(axis=0)
        return osp.Prediction(middle, osp.ConvexCombination(PAIRS, np.full(5, 0.2)), 0.0)


class SmallGap(Sound):
    """Halves the gap it knows."""

    def project(self, point):
        middle = PAIRS.mean(axis=0)
        best = self.lmo(middle - point)
        return osp.Prediction(middle, gap=0.5 * float((middle - point) @ (middle - best)))


class NotProjected(Sound):
    """Returns the point itself, where Ψ − ⟨θ, ·⟩ is least, but which is not in the hull."""

    def project(self, point):
        return osp.Prediction(point.copy())


class BeyondTheHull(Sound):
    def project(self, point):
        found = super().project(point).point
        return osp.Prediction(found + 0.5 * (found - PAIRS.mean(axis=0)))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Lazy, "states the gap 0 for"),
        (SmallGap, "states the gap"),
        (NotProjected, "outside conv(Y)"),
        (BeyondTheHull, "predict of"),
    ],
)
def test_a_prediction_that_is_not_what_it_says_is_refused_before_anything_changes(kind, message):
    refused_in_a_round(kind(), message)


class HonestGap(SmallGap):
    def project(self, point):
        found = super().project(point)
        return osp.Prediction(found.point, gap=2.0 * found.gap)


def test_a_large_gap_that_is_true_is_no_fault():
    assert len(play(osp.guarded(HonestGap()), 10)) == 10


class NoVertices(Sound):
    """A combination with the right mean, of points that are no outputs."""

    def project(self, point):
        found = super().project(point)
        return osp.Prediction(
            found.point, osp.ConvexCombination(found.point[np.newaxis], np.ones(1)), found.gap
        )


def test_a_combination_of_what_is_no_output_is_refused():
    refused_in_a_round(NoVertices(), "is no output of the space")


class Stubborn(osp.ConvexCombination):
    """Draws its first vertex always."""

    def sample(self, rng):
        return self.vertex(0)


class StubbornDraws(Sound):
    def project(self, point):
        found = super().project(point)
        kept = Stubborn(found.combination.atoms, found.combination.weights)
        return osp.Prediction(found.point, kept, found.gap)


def test_a_combination_draws_as_its_weights_say_whatever_its_class():
    drawn = osp.guarded(StubbornDraws()).predict(np.array([0.1, 0.2, 0.15, 0.1])).combination
    rng = np.random.default_rng(0)
    assert len({drawn.sample(rng).tobytes() for _ in range(50)}) > 1


# --- Ψ ----------------------------------------------------------------------------------------------------


class SamePsi(Sound):
    def with_psi(self, psi):
        return self


class PsiInside(Sound):
    """Has the new Ψ, but goes on predicting with the old one."""

    def __init__(self, **options):
        super().__init__(**options)
        self.scale = self.psi.scale

    def predict(self, theta):
        return self.project(theta / self.scale)


class PsiInBlocks(Sound):
    """Its block keeps the Ψ it was made with."""

    def blocks(self):
        self.__dict__.setdefault("block", Sound(psi=self.psi))
        return [Block(self.block, np.arange(4)[np.newaxis])]


class NoSpace(Sound):
    def with_psi(self, psi):
        return None


@pytest.mark.parametrize(
    ("kind", "message"),
    [(SamePsi, "instead of"), (PsiInBlocks, "instead of"), (NoSpace, "None instead of a space")],
)
def test_a_space_that_keeps_its_old_psi_is_found_when_it_is_given_another(kind, message):
    inner = kind()
    inner.blocks()
    with pytest.raises(osp.PluginError, match=rf"with_psi of .* {message}"):
        osp.guarded(inner).with_psi(osp.SquaredNorm(3.0))


def test_a_space_that_predicts_with_its_old_psi_is_found_by_its_gap():
    space = osp.guarded(PsiInside()).with_psi(osp.SquaredNorm(3.0))
    assert space.psi == osp.SquaredNorm(3.0)
    assert osp.guarded(space) is space
    with pytest.raises(osp.PluginError, match="states the gap"):
        space.predict(np.array([1.0, 0.5, 0.2, 0.1]))


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_and_coarser_twins_keep_the_guard(clone):
    space = osp.guarded(Lazy())
    for twin in (clone(space), space.accurate_to(1e-3), space.with_psi(osp.SquaredNorm(2.0))):
        with pytest.raises(osp.PluginError):
            twin.predict(np.array([1.0, 0.5, 0.2, 0.1]))


# --- draws ------------------------------------------------------------------------------------------------


class Biased(Sound):
    """Draws the first vertex of a decomposition more often than it should."""

    def sample_vertex(self, point, rng):
        combination = self.decompose(point)
        return combination.vertex(0) if rng.random() < 0.3 else combination.sample(rng)


class BiasedBatches(Sound):
    def sample_many(self, points, rng):
        rng.random(len(points))
        return np.array([PAIRS[0] for _ in points])


class Fixed(Sound):
    def sample_vertex(self, point, rng):
        return super().nearest_vertex(point)


class NoDraw(Sound):
    def sample_vertex(self, point, rng):
        rng.random(7)
        return point.copy()


POINT = PAIRS.mean(axis=0)


def test_draws_that_are_off_their_mean_are_found():
    space, rng = osp.guarded(Biased()), np.random.default_rng(0)
    with pytest.raises(osp.PluginError, match=r"sample_vertex of .* is biased: over \d+ draws"):
        repeat(6000, space.sample_vertex, POINT, rng)


def test_batches_of_draws_that_are_off_their_mean_are_found():
    space, rng = osp.guarded(BiasedBatches()), np.random.default_rng(0)
    with pytest.raises(osp.PluginError, match=r"sample_many of .* is biased"):
        repeat(10, space.sample_many, np.tile(POINT, (200, 1)), rng)


def test_draws_that_are_no_draws_are_found_at_once():
    with pytest.raises(osp.PluginError, match=r"sample_vertex of .* without a number of the generator"):
        osp.guarded(Fixed()).sample_vertex(POINT, np.random.default_rng(0))
    assert osp.guarded(Fixed()).sample_vertex(PAIRS[2], np.random.default_rng(0)).tolist() == [0, 0, 1, 1]


def test_sound_draws_are_not_blamed_nor_are_those_that_are_repeated():
    space, rng = osp.guarded(Sound()), np.random.default_rng(0)
    for _ in range(1000):
        space.sample_vertex(POINT, rng)
    for _ in range(500):
        space.sample_vertex(POINT, np.random.default_rng(1))
    assert space._watch.drift.draws == 1001


@pytest.mark.parametrize("bias", [0.0, 0.3])
def test_the_limit_of_chance_is_never_passed_without_a_bias_and_soon_with_one(bias):
    rng, alarms = np.random.default_rng(5), 0
    for _ in range(200):
        drift = Drift()
        steps = rng.choice([-1.0, 1.0], size=(2000, 3), p=[(1 - bias) / 2, (1 + bias) / 2]) / np.sqrt(3)
        alarms += any(drift.exceeds_chance(chunk) for chunk in np.split(steps, 50))
    assert alarms == (0 if bias == 0.0 else 200)


def test_what_cannot_be_drawn_takes_no_random_numbers_from_the_predictor():
    space = osp.guarded(NoDraw())
    decoder = osp.SamplingDecoder(space)
    predictor = osp.OnlinePredictor(space, 2, target=osp.mismatch, decoder=decoder, seed=0)
    space.predict = lambda theta: osp.Prediction(POINT)  # without the combination that would be drawn from
    before = str(predictor.state())
    for act in (lambda: predictor.step([0.6, 0.8], PAIRS[0]), lambda: predictor.play([0.6, 0.8])):
        with pytest.raises(osp.PluginError, match="no output"):
            act()
        assert str(predictor.state()) == before
