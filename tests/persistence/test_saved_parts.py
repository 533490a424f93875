"""A checkpoint says how decoders, targets and learners are made again, whoever registered them."""

import copy
import pickle

import numpy as np
import pytest

import osp_core as osp
from osp_core.persistence.archive import CheckpointError, read_checkpoint


class Lukewarm(osp.SamplingDecoder):
    """A decoder with a parameter of its own."""

    def __init__(self, space, warmth=1.0):
        super().__init__(space)
        self.warmth = warmth


class Weighted(osp.AffineLoss):
    """The 0–1 loss, times a factor that is known as something else afterwards."""

    def __init__(self, factor):
        super().__init__(lambda y: factor * (1.0 - y), lambda y: 0.0, gamma=2.0 * factor, name="weighted")


def slow_ogd(slowness):
    """A learner by a function: its class says nothing about the parameter."""
    return Slow(1.0 / slowness)


class Slow(osp.OGD):
    """Only ever made by `slow_ogd`."""


class Plugin:
    @osp.hookimpl
    def osp_decoders(self):
        return [osp.Registration("lukewarm", Lukewarm, parameters=("space", "warmth"))]

    @osp.hookimpl
    def osp_targets(self):
        return [osp.Registration("weighted", Weighted, parameters=("factor",))]

    @osp.hookimpl
    def osp_learners(self):
        return [osp.Registration("slow_ogd", slow_ogd, parameters=("slowness",))]


@pytest.fixture
def plugin():
    name = osp.register(Plugin(), "parts")
    yield name
    osp.unregister(name)


@pytest.fixture
def space():
    return osp.make_space("simplex", d=3)


def learned(predictor, rounds=12):
    stream = osp.make_stream("linear_teacher", space=predictor.space, rounds=rounds, n_features=3, seed=1)
    osp.run(predictor, stream)
    return predictor


def test_parts_of_a_stranger_are_made_again_with_their_parameters(plugin, space, tmp_path):
    predictor = osp.OnlinePredictor(
        space,
        3,
        learner=osp.make_learner("slow_ogd", slowness=4.0),
        decoder=osp.make_decoder("lukewarm", space=space, warmth=0.25),
        target=osp.make_target("weighted", factor=3.0),
        seed=2,
    )
    learned(predictor).save(tmp_path / "x.ckpt")
    loaded = osp.OnlinePredictor.load(tmp_path / "x.ckpt")
    assert (type(loaded.decoder), loaded.decoder.warmth) == (Lukewarm, 0.25)
    assert loaded.decoder.space is loaded.space
    assert loaded.learner.step_size == 0.25
    assert loaded.target.loss(np.eye(3)[0], np.eye(3)[1]) == 3.0
    straight, resumed = learned(predictor), learned(loaded)
    assert straight.learner.weights.tobytes() == resumed.learner.weights.tobytes()
    assert read_checkpoint(tmp_path / "x.ckpt")[0]["plugins"]["parts"] == "registered at run time"


def test_a_registered_class_needs_no_make(plugin, space, tmp_path):
    predictor = osp.OnlinePredictor(space, 3, decoder=Lukewarm(space, warmth=0.5), seed=0)
    learned(predictor).save(tmp_path / "x.ckpt")
    assert osp.OnlinePredictor.load(tmp_path / "x.ckpt").decoder.warmth == 0.5


def test_what_is_not_registered_must_be_given(space, tmp_path):
    predictor = osp.OnlinePredictor(space, 3, decoder=Lukewarm(space), target=Weighted(2.0), seed=0)
    learned(predictor).save(tmp_path / "x.ckpt")
    with pytest.raises(CheckpointError, match=r"how to make its target.*target=…"):
        osp.OnlinePredictor.load(tmp_path / "x.ckpt")
    with pytest.raises(CheckpointError, match=r"how to make its decoder.*decoder=…"):
        osp.OnlinePredictor.load(tmp_path / "x.ckpt", target=predictor.target)
    parts = {"space": space, "decoder": predictor.decoder, "target": predictor.target}
    loaded = osp.OnlinePredictor.load(tmp_path / "x.ckpt", **parts)
    assert loaded.learner.weights.tobytes() == predictor.learner.weights.tobytes()


def test_a_part_that_was_unregistered_since_can_still_be_saved_and_given(space, tmp_path):
    osp.register(Plugin(), "parts")
    try:
        decoder = osp.make_decoder("lukewarm", space=space, warmth=2.0)
    finally:
        osp.unregister("parts")
    osp.OnlinePredictor(space, 3, decoder=decoder, seed=0).save(tmp_path / "x.ckpt")
    with pytest.raises(CheckpointError, match="no decoder called 'lukewarm'"):
        osp.OnlinePredictor.load(tmp_path / "x.ckpt")
    assert osp.OnlinePredictor.load(tmp_path / "x.ckpt", space=space, decoder=decoder).decoder is decoder


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("table", {"matrix": [[0, 1, 5], [1, 0, 1], [5, 1, 0]]}),
        ("table", {"matrix": np.ones((3, 3)) - np.eye(3), "gamma": 2.0}),
        ("zero_one", {}),
        ("hamming", {}),
    ],
)
def test_our_own_targets_are_restored_with_their_parameters(space, tmp_path, name, params):
    predictor = osp.OnlinePredictor(space, 3, target=osp.make_target(name, **params), seed=0)
    learned(predictor).save(tmp_path / "x.ckpt")
    loaded = osp.OnlinePredictor.load(tmp_path / "x.ckpt")
    outputs = np.eye(3)
    for y_pred in outputs:
        for y_true in outputs:
            assert loaded.target.loss(y_pred, y_true) == predictor.target.loss(y_pred, y_true)
    assert loaded.guarantee() == predictor.guarantee()


def test_ndcg_and_decision_regret_are_restored_with_their_parameters(tmp_path):
    birkhoff = osp.make_space("birkhoff", n=3)
    gains = osp.OnlinePredictor(birkhoff, 3, target=osp.make_target("ndcg", gains=[3.0, 1.0, 0.0]))
    gains.save(tmp_path / "gains.ckpt")
    assert osp.OnlinePredictor.load(tmp_path / "gains.ckpt").target.gains.tolist() == [3.0, 1.0, 0.0]
    costs = osp.OnlinePredictor(
        birkhoff, 3, target=osp.make_target("decision_regret", space=birkhoff, gamma=2.5)
    )
    costs.save(tmp_path / "costs.ckpt")
    target = osp.OnlinePredictor.load(tmp_path / "costs.ckpt").target
    assert target.gamma(birkhoff) == 2.5


def test_a_target_that_only_has_the_name_of_ours_is_not_taken_for_it(tmp_path):
    space = osp.make_space("hypercube", d=3)
    mine = osp.AffineLoss(
        lambda y: 2.0 * (1.0 - 2.0 * y) / 3.0, lambda y: 2.0 * y.sum() / 3.0, gamma=4.0, name="hamming"
    )
    osp.OnlinePredictor(space, 3, target=mine, seed=0).save(tmp_path / "x.ckpt")
    with pytest.raises(CheckpointError, match=r"target=…"):
        osp.OnlinePredictor.load(tmp_path / "x.ckpt")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
@pytest.mark.parametrize("target", [osp.zero_one, osp.hamming, osp.absolute, osp.mismatch, osp.alignment])
def test_a_named_target_stays_itself_when_it_is_copied(again, target):
    assert again(target) is target


def test_a_copied_predictor_is_saved_as_well_as_the_first(space, tmp_path):
    predictor = osp.OnlinePredictor(space, 3, decoder=osp.UniformExploration(space), seed=0)
    copied = pickle.loads(pickle.dumps(predictor))
    assert copied.decoder.ratio(copied.target) == predictor.decoder.ratio(predictor.target)
    copied.save(tmp_path / "x.ckpt")
    assert osp.OnlinePredictor.load(tmp_path / "x.ckpt").target is osp.zero_one


def test_a_decoder_keeps_its_parameters_on_the_space_of_a_round():
    first, second = osp.make_space("simplex", d=3), osp.make_space("simplex", d=3)
    assert Lukewarm(first, warmth=0.125).at(second).warmth == 0.125
    assert Lukewarm(first, warmth=0.125).at(second).space is second


def test_a_decoder_that_hides_its_parameter_is_told_what_to_do():
    class Secretive(osp.SamplingDecoder):
        def __init__(self, space, warmth=1.0):
            super().__init__(space)
            self._warmth = warmth

    first, second = osp.make_space("simplex", d=3), osp.make_space("simplex", d=3)
    with pytest.raises(osp.UnsupportedError, match=r"Secretive.*'warmth'"):
        Secretive(first).at(second)
