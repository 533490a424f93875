"""A learner serves one predictor: nothing that two of them share is silently begun anew."""

import copy
import gc
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import osp_core as osp

SPACE = osp.make_space("simplex", d=3)
MAKERS = {
    "ogd": osp.OGD,
    "adaptive_ogd": lambda: osp.AdaptiveOGD(4.0),
    "parameter_free": osp.ParameterFree,
    "polyak_ogd": lambda: osp.PolyakOGD(4.0),
    "a learner of one's own": lambda: Sluggish(),
    "a dataclass": lambda: Constant(0.5),
}


class Sluggish(osp.OnlineLearner):
    """A learner that overrides `start` and calls nothing of the base class but what it needs."""

    def start(self, shape, *, certificate=None):
        super().start(shape, certificate=certificate)
        self.step = 1.0

    def update(self, gradient, *, loss=None, expected_loss=None):
        self._begin_round()
        self._array.add(gradient, -self.step / self.rounds)


@dataclass
class Constant(osp.OnlineLearner):
    """A learner that compares by value and so cannot be hashed."""

    step: float

    def update(self, gradient, *, loss=None, expected_loss=None):
        self._begin_round()
        self._array.add(gradient, -self.step)


def taught(learner, rounds=5, **options):
    predictor = osp.OnlinePredictor(SPACE, 2, learner=learner, seed=0, **options)
    for t in range(rounds):
        predictor.step([0.6, 0.8 * (-1) ** t], t % 3)
    return predictor


def go_on(predictor):
    return [predictor.step([0.8, 0.6], t % 3).surrogate_loss for t in range(6)]


@pytest.mark.parametrize("name", MAKERS)
def test_a_learner_that_serves_a_predictor_is_refused_by_a_second_one(name):
    predictor, twin = taught(MAKERS[name]()), taught(MAKERS[name]())
    before = str(predictor.state())
    with pytest.raises(osp.InvalidInputError, match=r"already serves another predictor.*copy\.deepcopy"):
        osp.OnlinePredictor(SPACE, 2, learner=predictor.learner)
    with pytest.raises(osp.InvalidInputError, match="already serves"):
        osp.OnlinePredictor(osp.make_space("hypercube", d=5), 7, learner=predictor.learner)
    assert str(predictor.state()) == before
    assert go_on(predictor) == go_on(twin)


def test_it_is_refused_whether_or_not_the_first_predictor_is_still_about():
    learner = taught(osp.OGD()).learner
    gc.collect()
    with pytest.raises(osp.InvalidInputError, match="already serves"):
        osp.OnlinePredictor(SPACE, 2, learner=learner)
    assert learner.rounds == 5


@pytest.mark.parametrize(
    "mistake", [{"seed": -1}, {"inexactness": -1.0}, {"feature_bound": -1.0}, {"target": osp.ndcg}], ids=str
)
def test_a_predictor_that_cannot_be_made_leaves_the_learner_free_and_as_it_was(mistake):
    learner = osp.OGD()
    learner.start((3, 2), certificate=osp.surrogate_gap(SPACE))
    gradient = osp.LinearModel(2).gradient(np.ones(3), (np.ones(2), None))
    learner.update(gradient)
    before = str(learner.state())
    with pytest.raises(osp.OspError):
        osp.OnlinePredictor(SPACE, 2, learner=learner, **mistake)
    assert str(learner.state()) == before
    assert taught(learner).learner is learner


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_a_copy_of_a_predictor_owns_its_copy_of_the_learner(name, clone):
    predictor, twin = taught(MAKERS[name]()), taught(MAKERS[name]())
    copied = clone(predictor)
    assert copied.learner is not predictor.learner
    with pytest.raises(osp.InvalidInputError, match="already serves"):
        osp.OnlinePredictor(SPACE, 2, learner=copied.learner)
    assert go_on(copied) == go_on(predictor) == go_on(twin)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_a_copy_of_a_learner_is_free_and_begins_anew(name, clone):
    predictor = taught(MAKERS[name]())
    before = str(predictor.state())
    other = osp.OnlinePredictor(SPACE, 2, learner=clone(predictor.learner), seed=0)
    assert other.learner.rounds == 0
    other.step([0.6, 0.8], 1)
    assert str(predictor.state()) == before


def test_a_shallow_copy_of_a_predictor_is_refused_because_it_would_share_its_learner():
    predictor = taught(osp.OGD())
    before = str(predictor.state())
    with pytest.raises(osp.InvalidInputError, match=r"copy\.deepcopy"):
        copy.copy(predictor)
    assert str(predictor.state()) == before


def test_a_loaded_predictor_owns_the_learner_it_was_given(tmp_path):
    predictor, learner = taught(osp.OGD(0.5)), osp.OGD(0.5)
    predictor.save(tmp_path / "x.ckpt")
    loaded = osp.OnlinePredictor.load(tmp_path / "x.ckpt", learner=learner)
    assert loaded.learner is learner
    with pytest.raises(osp.InvalidInputError, match="already serves"):
        osp.OnlinePredictor.load(tmp_path / "x.ckpt", learner=learner)
    assert learner.rounds == 5


def test_a_learner_may_be_started_again_on_purpose():
    predictor = taught(osp.OGD())
    predictor.learner.start((3, 2), certificate=predictor.certificate)
    assert predictor.learner.rounds == 0
    assert not predictor.learner.weights.any()


def test_every_learner_made_by_name_is_an_object_of_its_own():
    first, second = (taught(osp.make_learner("adaptive_ogd", diameter=4.0), rounds) for rounds in (5, 0))
    assert first.learner is not second.learner
    assert (first.learner.rounds, second.learner.rounds) == (5, 0)
    assert not second.learner.weights.any()
