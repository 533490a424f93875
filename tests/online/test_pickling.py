"""Predictors, plays and records pickle, and what comes back goes on bit for bit."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import osp_core as osp
from osp_core.online.trace import FIELDS
from osp_core.testing import learner_factories, space_examples

N_FEATURES = 3
ROUNDS = 4


def square(y):
    return float(y @ y)


def nothing(y):
    return 0.0


def usual_target(space):
    try:
        return space.target_loss()
    except osp.OspError:
        return osp.AffineLoss(np.zeros_like, nothing, gamma=4.0)  # 0 is a loss on any outputs


def examples():
    names = [record.name for record in osp.list_spaces() if record.available]
    return [pytest.param(example, id=str(example)) for name in names for example in space_examples(name)]


def learners():
    names = [record.name for record in osp.list_learners() if record.available]
    return [
        pytest.param(make, id=f"{name}-{i}")
        for name in names
        for i, make in enumerate(learner_factories(name))
    ]


def make_predictor(space, **options):
    target = usual_target(space)
    return osp.OnlinePredictor(space, N_FEATURES, target=target, feature_bound=10.0, seed=2, **options)


def rounds_of(predictor, first, count=ROUNDS):
    """Steps, and one play whose feedback comes after the next step; a record of all that happened."""
    space, found = predictor.space, []
    for t in range(first, first + count):
        rng = np.random.default_rng(t)
        x, y = rng.standard_normal(N_FEATURES), space.lmo(rng.standard_normal(space.dim))
        if isinstance(predictor.model, osp.FeatureModel):
            x = 0.1 * rng.standard_normal((space.dim, N_FEATURES))
        late = predictor.play(x)
        found += [predictor.step(x, y), predictor.learn(late, y), predictor.step(-x, y)]
    return [(*(getattr(one, name) for name in FIELDS), one.vertex.tobytes()) for one in found]


def assert_the_copy_goes_on(predictor, clone):
    rounds_of(predictor, 0)
    twin = clone(predictor)
    assert str(twin.state()) == str(predictor.state())
    assert rounds_of(twin, ROUNDS) == rounds_of(predictor, ROUNDS)
    assert str(twin.state()) == str(predictor.state())
    assert twin.summary() == predictor.summary()


def through_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("example", examples())
def test_a_pickled_predictor_goes_on_bit_for_bit_on_every_space(example):
    assert_the_copy_goes_on(make_predictor(example.make()), through_pickle)


@pytest.mark.parametrize("make_learner", learners())
@pytest.mark.parametrize("d", [3, 5])
def test_a_pickled_predictor_goes_on_bit_for_bit_with_every_learner(make_learner, d):
    for kind, clone in itertools.product(("simplex", "hypercube"), (through_pickle, copy.deepcopy)):
        assert_the_copy_goes_on(make_predictor(osp.make_space(kind, d=d), learner=make_learner()), clone)


@pytest.mark.parametrize(
    "options",
    [{"model": osp.FeatureModel(N_FEATURES)}, {"verify": True}, {"inexactness": 0.5}],
    ids=lambda options: next(iter(options)),
)
def test_a_pickled_predictor_goes_on_bit_for_bit_with_every_option(options):
    assert_the_copy_goes_on(make_predictor(osp.make_space("simplex", d=4), **options), through_pickle)


def test_a_guarded_space_pickles_with_its_guard():
    predictor = make_predictor(osp.guarded(osp.make_space("simplex", d=3), slow=7.0))
    assert_the_copy_goes_on(predictor, through_pickle)
    twin = through_pickle(predictor)
    assert osp.guarded(twin.space) is twin.space
    assert twin.space._watch.slow == 7.0


NAMED = {
    "zero_one": np.eye(3),
    "hamming": np.eye(3),
    "absolute": np.tril(np.ones((3, 3))),
    "mismatch": np.eye(3),
    "alignment": np.array([[1.0, 2, 3], [3, 2, 1], [2, 3, 1]]),
    "ndcg": np.array([[1.0, 0, 0, 1], [0, 1, 1, 0]]),
}
MADE = {
    "table": lambda space: osp.table([[0, 1, 4], [1, 0, 1], [2, 1, 0]]),
    "bilinear": lambda space: osp.AffineLoss.bilinear(-np.eye(3), c=square),
    "decision regret": lambda space: osp.decision_regret(space, gamma=4.0),
    "a part of one": lambda space: osp.hamming.on_block(space, None),
    "gains of one's own": lambda space: osp.targets.NormalizedGain([2.0, 1.0]),
}


@pytest.mark.parametrize("name", [*NAMED, *MADE])
@pytest.mark.parametrize("clone", [through_pickle, copy.deepcopy])
def test_targets_survive_pickle_with_all_they_say(name, clone):
    outputs = NAMED.get(name, NAMED["ndcg"] if "gains" in name else np.eye(3))
    space = osp.Vertices(outputs)
    target = getattr(osp, name) if name in NAMED else MADE[name](space)
    twin = clone(target)
    assert twin.name == target.name
    assert twin.gamma(space) == target.gamma(space)
    for y, other in itertools.product(outputs, outputs):
        assert twin.loss(other, y) == target.loss(other, y)


@pytest.mark.parametrize("verify", [False, True], ids=["compiled", "plain"])
def test_plays_and_records_pickle_with_their_laws(verify):
    predictor = make_predictor(osp.make_space("hypercube", labels=["a", "b"]), verify=verify)
    x = np.array([0.3, 0.1, 0.2])
    play = predictor.play(x)
    record, again = predictor.learn(play, {"a"}), through_pickle(play)
    for found, kept in ((through_pickle(record), record), (copy.deepcopy(record), record), (again, play)):
        assert found.label == kept.label
        assert found.vertex.tobytes() == kept.vertex.tobytes()
        assert found.law.mean.tobytes() == kept.law.mean.tobytes()
    assert [getattr(through_pickle(record), name) for name in FIELDS] == [
        getattr(record, name) for name in FIELDS
    ]


def test_what_cannot_be_pickled_says_so_itself():
    target = osp.AffineLoss(lambda y: -y, square, gamma=4.0)
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=3), 2, target=target)
    with pytest.raises((pickle.PicklingError, AttributeError), match="pickle"):
        pickle.dumps(predictor)
    predictor.step([0.1, 0.2], 1)
