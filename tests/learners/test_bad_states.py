"""States that no run could have led to are refused, and leave all as it was."""

import copy
import json
import math
from unittest import mock

import numpy as np
import pytest

import osp_core as osp
from osp_core.persistence.archive import CheckpointError, read_checkpoint, write_checkpoint

SPACE = osp.make_space("simplex", d=3)
MAKERS = {
    "ogd": osp.OGD,
    "ogd on a ball": lambda: osp.OGD(radius=1.0),
    "adaptive_ogd": lambda: osp.AdaptiveOGD(4.0),
    "parameter_free": osp.ParameterFree,
    "polyak_ogd": lambda: osp.PolyakOGD(4.0),
}
LEAST = {  # entries that cannot be below this
    "rounds": 0,
    "squared_gradients": 0.0,
    "curvatures": 1.0,
    "fraction": -0.5,
    "floor": 0.0,
    "eta": 0.0,
    "lipschitz": 0.0,
}


def taught(name, rounds=7):
    predictor = osp.OnlinePredictor(SPACE, 2, learner=MAKERS[name](), seed=0)
    for t in range(rounds):
        predictor.step([0.6, 0.8 * (-1) ** t], t % 3)
    return predictor


def with_one_entry(array, value, index=0):
    changed = np.array(array, dtype=np.float64)
    changed.flat[index] = value
    return changed


def spoiled(state):
    """Every way to spoil one entry of a learner's state, with its name."""
    for key, value in state.items():
        yield f"{key} is missing", {name: other for name, other in state.items() if name != key}
        yield f"{key} is text", {**state, key: "much"}
        if isinstance(value, np.ndarray):
            for bad in (np.nan, np.inf, -np.inf):
                for index in range(value.size):
                    yield f"{key}[{index}] is {bad}", {**state, key: with_one_entry(value, bad, index)}
            yield f"{key} is too long", {**state, key: np.append(value, 0.0)}
            yield f"{key} has another shape", {**state, key: value[..., np.newaxis]}
        else:
            for bad in (np.nan, np.inf, -np.inf, None):
                yield f"{key} is {bad}", {**state, key: bad}
            if key in LEAST:
                yield f"{key} is too small", {**state, key: LEAST[key] - 1}
    for index, what in enumerate(("factor", "mass", "squared norm", "updates")):
        if what != "mass":  # which a bettor may have a negative one of
            changed = with_one_entry(state["numbers"], -1.0, index)
            yield f"{what} is negative", {**state, "numbers": changed}
    huge = np.full_like(state["core"], 1e200)
    overflows = {**state, "core": huge, "numbers": with_one_entry(state["numbers"], 1e200, 1)}
    yield "the average overflows", overflows


@pytest.mark.parametrize("name", MAKERS)
def test_a_spoiled_state_of_a_learner_is_refused_and_changes_nothing(name):
    predictor, twin = taught(name), taught(name)
    kept = copy.deepcopy(predictor.learner.state())
    taken = []
    for what, state in spoiled(taught(name, 4).learner.state()):
        try:
            predictor.learner.load_state(state)
            taken.append(what)
            predictor.learner.load_state(kept)
        except osp.OspError:
            assert str(predictor.learner.state()) == str(kept), what
    assert taken == []
    assert predictor.step([0.8, 0.6], 1).surrogate_loss == twin.step([0.8, 0.6], 1).surrogate_loss


def test_numbers_that_a_bettor_never_has_are_refused():
    learner = taught("parameter_free").learner
    state = learner.state()
    for key, value in (("fraction", 0.51), ("curvatures", 0.5), ("lipschitz", 0.0)):
        with pytest.raises(osp.InvalidInputError, match=key):
            learner.load_state({**state, key: value})


def test_a_polyak_step_below_its_floor_is_refused():
    learner = taught("polyak_ogd").learner
    state = learner.state()
    with pytest.raises(osp.InvalidInputError, match="floor"):
        learner.load_state({**state, "eta": state["floor"] / 2})


GENERATOR = np.random.default_rng(0).bit_generator.state
SPOILED = {
    "no rng": {"rng": None},
    "text for an rng": {"rng": "PCG64"},
    "another generator": {"rng": np.random.MT19937(0).state},
    "an rng that is too large": {"rng": {**GENERATOR, "state": {"state": 2**200, "inc": 1}}},
    "a negative rng": {"rng": {**GENERATOR, "state": {"state": -1, "inc": 1}}},
    "an rng that repeats itself": {"rng": {**GENERATOR, "state": {"state": 1, "inc": 2}}},
    "an rng without numbers": {"rng": {"bit_generator": "PCG64"}},
    "a negative number of plays": {"plays": -1},
    "half a play": {"plays": 7.5},
    "plays that are yes": {"plays": True},
    "fewer plays than rounds": {"plays": 3},
    "a negative delay": {"delay": -1},
    "a delay that is no number": {"delay": math.nan},
    "a gap that is no number": {"total_gap": math.nan},
    "an infinite gap": {"total_gap": math.inf},
    "a negative gap": {"total_gap": -1e-9},
    "a gap that is text": {"total_gap": "none"},
    "certified by a number": {"certified": 1},
    "certified by nobody": {"certified": None},
    "no learner": {"learner": None},
    "an empty learner": {"learner": {}},
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_spoiled_state_of_a_predictor_is_refused_and_changes_nothing(what):
    predictor = taught("adaptive_ogd")
    play = predictor.play([0.6, 0.8])
    before = str(predictor.state())
    with pytest.raises(osp.OspError):
        predictor.load_state({**taught("adaptive_ogd", 5).state(), **SPOILED[what]})
    assert str(predictor.state()) == before
    predictor.learn(play, 1)  # it still waits


@pytest.mark.parametrize("key", list(taught("ogd", 0).state()))
def test_a_state_that_lacks_an_entry_is_refused(key):
    predictor = taught("ogd")
    state = predictor.state()
    del state[key]
    with pytest.raises(osp.InvalidInputError, match=f"says nothing of '{key}'"):
        predictor.load_state(state)


class Gullible(osp.OGD):
    """A learner that takes any state, and has it before it looks."""

    def load_state(self, state):
        self._array.core[...] = state["core"]
        self.rounds = state["rounds"]


def test_a_learner_that_changes_before_it_refuses_is_set_back_by_its_predictor():
    predictor = osp.OnlinePredictor(SPACE, 2, learner=Gullible(), seed=0)
    predictor.step([0.6, 0.8], 1)
    before, state = str(predictor.state()), predictor.state()
    for core, rounds in ((np.full((3, 2), np.nan), 1), (np.ones((3, 2)), 99)):
        state["learner"] = {**state["learner"], "core": core, "rounds": rounds}
        with pytest.raises(osp.InvalidInputError, match="not that of any run"):
            predictor.load_state(state)
        assert str(predictor.state()) == before


def resealed(path, change):
    """The same checkpoint with something else in it, and checksums that fit."""
    header, arrays = read_checkpoint(path)
    header = {key: value for key, value in header.items() if key not in ("schema", "arrays", "sha256")}
    header = json.loads(json.dumps(header))
    change(header, arrays)
    with mock.patch("osp_core.persistence.archive._refuse_wild"):  # which would not write it either
        write_checkpoint(path, header, arrays)


def not_a_number_at(name, index):
    def change(header, arrays):
        arrays[f"learner.{name}"].flat[index] = np.nan

    return change


def of_the_learner(name, value):
    return lambda header, arrays: header["learner_state"].update({name: value})


RESEALED = {
    "ogd": [not_a_number_at("core", 0), not_a_number_at("residue", 1), of_the_learner("rounds", -1)],
    "ogd on a ball": [not_a_number_at("numbers", 2), not_a_number_at("numbers", 3)],
    "adaptive_ogd": [of_the_learner("squared_gradients", {"float": "nan"}), not_a_number_at("numbers", 0)],
    "parameter_free": [
        of_the_learner("log_wealth", {"float": "nan"}),
        of_the_learner("curvatures", {"float": "inf"}),
        of_the_learner("squared_gradients", -1.0),
    ],
    "polyak_ogd": [of_the_learner("floor", {"float": "nan"}), of_the_learner("eta", -1.0)],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, i) for name in RESEALED for i in range(len(RESEALED[name]))]
)
def test_a_resealed_checkpoint_with_a_spoiled_state_is_refused(tmp_path, name, number):
    path, learner = tmp_path / "x.ckpt", MAKERS[name]()
    taught(name).save(path)
    resealed(path, lambda header, arrays: None)
    assert osp.OnlinePredictor.load(path).learner.rounds == 7  # resealing alone spoils nothing
    resealed(path, RESEALED[name][number])
    with pytest.raises(CheckpointError, match=r"state|has the entry nan"):
        osp.OnlinePredictor.load(path, learner=learner)
    osp.OnlinePredictor(SPACE, 2, learner=learner)  # what came to nothing does not keep it


def test_falling_back_to_an_older_checkpoint_may_use_the_learner_that_was_given(tmp_path):
    older, newer = tmp_path / "round-00000005.ckpt", tmp_path / "round-00000007.ckpt"
    taught("adaptive_ogd", 5).save(older)
    taught("adaptive_ogd", 7).save(newer)
    resealed(newer, not_a_number_at("core", 0))
    learner = osp.AdaptiveOGD(4.0)
    with pytest.warns(RuntimeWarning):
        loaded = osp.OnlinePredictor.load(tmp_path, learner=learner, fall_back=True)
    assert loaded.learner is learner
    assert learner.rounds == 5
