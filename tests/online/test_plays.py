"""Plays belong to the predictor that made them, and to its copies."""

import copy
import pickle

import numpy as np
import pytest

import osp_core as osp

X = np.array([0.6, 0.8])


def predictor(seed=0, kind="simplex", **options):
    return osp.OnlinePredictor(osp.make_space(kind, d=3), 2, seed=seed, **options)


def plain(seed=0):
    """A predictor whose rounds are not compiled."""
    return predictor(seed, verify=True)


MAKERS = {"compiled": predictor, "plain": plain, "of features": lambda seed=0: feature_predictor(seed)}


def feature_predictor(seed=0):
    return predictor(seed, model=osp.FeatureModel(2))


def an_input(maker):
    return np.outer([0.5, 0.5, 0.5], X) if maker is MAKERS["of features"] else X


@pytest.mark.parametrize("name", MAKERS)
def test_a_play_of_another_predictor_is_refused_and_nothing_changes(name):
    make = MAKERS[name]
    x = an_input(make)
    mine, other = make(), make()  # the same seed, the same input, the same number
    my_play, other_play = mine.play(x), other.play(x)
    before = str(mine.state())
    with pytest.raises(osp.InvalidInputError, match="another predictor"):
        mine.learn(other_play, 1)
    assert str(mine.state()) == before
    assert mine.learn(my_play, 1).surrogate_loss == other.learn(other_play, 1).surrogate_loss


def test_a_play_on_another_space_is_refused():
    mine, other = predictor(), predictor(kind="hypercube")
    mine.play(X)
    with pytest.raises(osp.InvalidInputError, match="another predictor"):
        mine.learn(other.play(X), [0])


@pytest.mark.parametrize("thing", [None, 1, "1", np.zeros(3)], ids=repr)
def test_what_is_no_play_is_refused(thing):
    mine = predictor()
    mine.play(X)
    with pytest.raises(osp.InvalidInputError, match="play must be what `play` returned"):
        mine.learn(thing, 1)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
@pytest.mark.parametrize("name", MAKERS)
def test_plays_belong_to_a_copy_whether_copied_with_it_or_apart(name, clone):
    make = MAKERS[name]
    x = an_input(make)
    original = make()
    plays = [original.play(x) for _ in range(3)]
    together, its_plays = clone((original, plays))
    apart = clone(original)
    records = [
        [subject.learn(play, 2).surrogate_loss for play in given]
        for subject, given in ((original, plays), (together, its_plays), (apart, clone(plays)))
    ]
    assert records[0] == records[1] == records[2]
    assert str(original.state()) == str(together.state()) == str(apart.state())


def test_a_copy_does_not_take_what_the_original_played_later():
    original = predictor()
    twin = copy.deepcopy(original)
    late, its_own = original.play(X), twin.play(X)
    with pytest.raises(osp.InvalidInputError, match="another predictor"):
        twin.learn(late, 0)
    twin.learn(its_own, 0)


def test_a_play_from_before_a_state_was_loaded_is_refused():
    subject = predictor()
    state = subject.state()
    forgotten = subject.play(X)
    subject.load_state(state)
    again = subject.play(X)
    assert again.number == forgotten.number
    with pytest.raises(osp.InvalidInputError, match="waits for no feedback"):
        subject.learn(forgotten, 0)
    subject.learn(again, 0)


def test_marking_plays_takes_nothing_from_the_generator():
    one, other = predictor(3), predictor(3)
    vertices = [one.play(X).vertex.tolist() for _ in range(20)]
    assert vertices == [other.play(X).vertex.tolist() for _ in range(20)]
    assert one.rng.bit_generator.state == other.rng.bit_generator.state
