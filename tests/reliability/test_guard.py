"""The guard: sound spaces behave as before, faults are repaired or refused by name, nothing is half done."""

import time
import warnings

import numpy as np
import pytest

import osp_core as osp
from osp_core.online.trace import FIELDS
from osp_core.testing import check_space, space_examples

PAIRS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 0, 1, 0]], dtype=float)


class Sound(osp.Vertices):
    """Five pairs of four elements, with nothing wrong."""

    def __init__(self):
        super().__init__(PAIRS)

    def target_loss(self):
        return osp.mismatch


def examples():
    names = [record.name for record in osp.list_spaces() if record.available]
    return [pytest.param(example, id=str(example)) for name in names for example in space_examples(name)[:4]]


def not_compiled(space):
    """The space in plain rounds: compiled ones, which no guard could watch, may differ in the last digit."""
    space.compiled_parts = lambda: None
    return space


@pytest.mark.filterwarnings("error::osp_core.registry.guarded.PluginWarning")
@pytest.mark.parametrize("example", examples())
def test_a_guarded_space_plays_as_the_space_itself(example):
    traces, weights = [], []
    for wrap in (not_compiled, osp.guarded):
        space = example.make()
        stream = list(osp.make_stream("linear_teacher", space=space, rounds=8, n_features=3, seed=1))
        try:
            target = space.target_loss()
        except osp.OspError:
            target = osp.AffineLoss(lambda y: -y, lambda y: float(y @ y), gamma=4.0)
        predictor = osp.OnlinePredictor(wrap(space), 3, target=target, feature_bound=10.0, seed=3)
        rounds = [predictor.step(x, y) for x, y in stream]
        traces.append([getattr(one, name) for one in rounds for name in FIELDS])
        weights.append(predictor.learner.weights.tobytes())
    assert weights[0] == weights[1]
    assert traces[0] == traces[1]


def test_a_guarded_space_conforms_and_says_what_it_is():
    space = osp.guarded(Sound(), slow=600.0)
    check_space(space)
    assert repr(space) == repr(Sound())
    assert isinstance(space, osp.Vertices)
    assert osp.guarded(space) is space
    assert repr(space.with_psi(osp.SquaredNorm(2.0)).psi) == "SquaredNorm(scale=2.0)"
    cube = osp.guarded(osp.make_space("hypercube", d=3))
    assert cube.blocks()[0].space.lmo([1.0]).tolist() == [0.0]


def test_a_guarded_space_is_saved_as_the_space_itself(tmp_path):
    space = osp.make_space("simplex", d=3)
    predictor = osp.OnlinePredictor(osp.guarded(space), 2, seed=0)
    predictor.step([0.1, 0.2], 1)
    predictor.save(tmp_path / "x.ckpt")
    for given in ({}, {"space": osp.guarded(osp.make_space("simplex", d=3))}):
        loaded = osp.OnlinePredictor.load(tmp_path / "x.ckpt", **given)
        assert loaded.learner.weights.tobytes() == predictor.learner.weights.tobytes()


class Raising(Sound):
    def lmo(self, cost):
        raise ZeroDivisionError("by what?")


class NotANumber(Sound):
    def lmo(self, cost):
        return np.full(4, np.nan)


class NoVertex(Sound):
    def lmo(self, cost):
        return np.full(4, 0.5)


class Short(Sound):
    def lmo(self, cost):
        return np.ones(3)


class Text(Sound):
    def lmo(self, cost):
        return "a vertex"


class NoVertexDrawn(Sound):
    def sample_vertex(self, point, rng):
        return point.copy()


class NoPrediction(Sound):
    def predict(self, theta):
        return theta


class NegativeGap(Sound):
    def project(self, point):
        return osp.Prediction(PAIRS[0].copy(), gap=-1.0)


class WrongMean(Sound):
    def project(self, point):
        return osp.Prediction(PAIRS[0].copy(), osp.ConvexCombination(PAIRS[1:2], np.ones(1)))


REFUSED = {
    Raising: "lmo of .* raised ZeroDivisionError: by what",
    NotANumber: r"lmo of .* returned \[nan nan nan nan\]",
    NoVertex: "no output of the space",
    Short: r"shape \(3,\) instead of \(4,\)",
    Text: "no array of numbers",
    NoPrediction: "instead of a Prediction",
    NegativeGap: "gap -1.0",
    WrongMean: "combination of mean",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_fault_is_refused_by_name_before_anything_changes(kind, monkeypatch):
    predictor = osp.OnlinePredictor(osp.guarded(Sound()), 2, target=osp.hamming, seed=0)
    osp.run(predictor, [([0.3, 0.1], PAIRS[0])] * 3)
    before = str(predictor.state())
    for name in {"lmo", "predict", "project"} & set(vars(kind)):  # it goes wrong in the middle of a run
        monkeypatch.setattr(Sound, name, vars(kind)[name], raising=False)
    with pytest.raises(osp.PluginError, match=REFUSED[kind]):
        act(predictor, kind)
    assert str(predictor.state()) == before


def act(predictor, kind):
    if kind in (NoPrediction, NegativeGap, WrongMean):
        predictor.step([0.3, 0.1], PAIRS[1])
    else:
        predictor.space.lmo(np.array([3.0, 1.0, 2.0, 5.0]))


def test_an_output_that_is_none_is_not_played():
    with pytest.raises(osp.PluginError, match=r"sample_vertex .* no output"):
        osp.guarded(NoVertexDrawn()).sample_vertex(PAIRS[:2].mean(axis=0), np.random.default_rng(0))


class Mutating(Sound):
    def lmo(self, cost):
        answer = super().lmo(cost.copy())
        cost -= cost.min()
        return answer


class SameBuffer(Sound):
    def lmo(self, cost):
        if "_buffer" not in self.__dict__:
            self._buffer = np.empty(4)
        self._buffer[:] = super().lmo(cost)
        return self._buffer


class SignedZeros(Sound):
    def lmo(self, cost):
        return np.where(super().lmo(cost) == 0, -0.0, super().lmo(cost))


class Integers(Sound):
    def lmo(self, cost):
        return super().lmo(cost).astype(np.int32)


class Lists(Sound):
    def lmo(self, cost):
        return super().lmo(cost).tolist()


REPAIRED = {
    Mutating: "changed its argument",
    SameBuffer: "rewrote an array",
    SignedZeros: "−0.0",
    Integers: "int32 instead of float64",
    Lists: "list instead of float64",
}


@pytest.mark.parametrize("kind", REPAIRED)
def test_a_fault_that_can_be_repaired_is_repaired_and_told_once(kind, rng):
    space, sound = osp.guarded(kind()), Sound()
    costs = rng.standard_normal((20, 4))
    kept = costs.copy()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        answers = [space.lmo(cost) for cost in costs]
    assert np.array_equal(costs, kept)
    assert [answer.tobytes() for answer in answers] == [sound.lmo(cost).tobytes() for cost in kept]
    messages = [str(one.message) for one in told]
    assert len(messages) == 1
    assert all(REPAIRED[kind] in message and "lmo of" in message for message in messages)


def test_a_slow_call_is_named_and_a_far_too_slow_one_refused():
    class Slow(Sound):
        def lmo(self, cost):
            time.sleep(0.02)
            return super().lmo(cost)

    with pytest.warns(osp.PluginWarning, match=r"lmo of .* took 0\.0\d+ s"):
        osp.guarded(Slow(), slow=0.01).lmo(np.ones(4))
    with pytest.raises(osp.PluginError, match=r"more than the 0\.01 s it may take"):
        osp.guarded(Slow(), time_limit=0.01).lmo(np.ones(4))


def test_the_plugin_is_named_where_it_is_known():
    space = osp.guarded(osp.make_space("simplex", d=3))
    space._watch.inner.is_vertex = lambda y: False
    with pytest.raises(osp.PluginError, match="the space 'simplex' of plugin 'simplex' returned"):
        space.lmo(np.ones(3))


def test_a_guard_does_not_make_a_candidate_the_nearest_vertex():
    """The oracle alone finds a candidate here, and the law of a far prediction has no certificate."""
    triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])

    def lmo(cost):
        return triangle[np.argmin(triangle @ cost)]

    def space():
        return osp.space_from_lmo(lmo, 2, zero_one=False, nu=1.0)

    point = np.array([1e-4, 2e-4])
    for one in (space(), osp.guarded(space())):
        law = osp.RandomizedDecoder(one).law(one.predict(point))
        assert not one.nearest_is_exact
        assert law.nearest.any()  # (0, 0) is nearer
        assert not law.certified
