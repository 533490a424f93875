"""Threads: copies are independent, and those who share a predictor take turns."""

import contextlib
import copy
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import osp_core as osp
from osp_core.testing import learner_factories, space_examples

OTHERWISE = osp.AffineLoss(lambda y: -y, lambda y: float(y @ y), gamma=4.0)


@pytest.fixture(autouse=True)
def _threads_change_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def names():
    return [record.name for record in osp.list_spaces() if record.available]


def representative(name):
    return next(space for space in (one.make() for one in space_examples(name)) if space.diameter2 > 0)


def predictor_of(space, learner=osp.OGD, seed=0):
    try:
        target = space.target_loss()
    except osp.OspError:
        target = OTHERWISE
    return osp.OnlinePredictor(space, 3, learner=learner(), target=target, feature_bound=10.0, seed=seed)


def play(predictor, rounds):
    """Step, play and learn late; return everything that can be seen."""
    seen = []
    for x, y in rounds:
        seen.append(predictor.step(x, y).surrogate_loss)
        late = predictor.play(x)
        seen.append(late.vertex.tobytes())
        predictor.learn(late, y)
    return seen, predictor.learner.weights.tobytes(), str(predictor.state())


@pytest.mark.parametrize("name", names())
def test_copies_in_threads_do_what_they_do_alone(name):
    space = representative(name)
    rounds = list(osp.make_stream("linear_teacher", space=space, rounds=8, n_features=3, seed=1))
    first = predictor_of(space)
    first.step(*rounds[0])
    alone = play(copy.deepcopy(first), rounds)
    copies = [copy.deepcopy(first) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda one: play(one, rounds), copies))
    assert together == [alone] * 4
    assert first.learner.rounds == 1


@pytest.mark.parametrize("learner", [record.name for record in osp.list_learners()])
@pytest.mark.parametrize("name", ["simplex", "permutahedron"])
def test_threads_that_share_a_predictor_take_turns(name, learner):
    factory, space = learner_factories(learner)[0], representative(name)
    x, y = np.array([0.5, -0.5, 0.1]), space.lmo(np.arange(float(space.dim)))
    alone = predictor_of(space, factory)
    for _ in range(4 * 50):
        alone.step(x, y)
    shared = predictor_of(space, factory)
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(lambda: [shared.step(x, y) for _ in range(50)]) for _ in range(4)]:
            done.result()
    # All rounds are the same, so the order of the threads does not matter: nothing may be lost or mixed.
    assert shared.learner.rounds == 200
    assert shared.learner.weights.tobytes() == alone.learner.weights.tobytes()
    assert str(shared.state()) == str(alone.state())


class Careful(osp.OGD):
    """Notices when somebody else learns while it does."""

    busy = False

    def update(self, gradient, **numbers):
        assert not self.busy, "two at once"
        self.busy = True
        threading.Event().wait(0.0005)
        super().update(gradient, **numbers)
        self.busy = False


def learn_in_threads(predictor):
    with ThreadPoolExecutor(4) as threads:
        rounds = [threads.submit(predictor.step, [0.1, 0.2, 0.3], 1) for _ in range(24)]
        for one in rounds:
            one.result()


def test_nobody_learns_while_another_does():
    predictor = predictor_of(osp.make_space("simplex", d=3), Careful)
    learn_in_threads(predictor)
    assert predictor.learner.rounds == 24


def test_it_would_be_noticed_if_they_did_not_take_turns():
    predictor = predictor_of(osp.make_space("simplex", d=3), Careful)
    predictor._lock = contextlib.nullcontext()
    with pytest.raises(AssertionError, match="two at once"):
        learn_in_threads(predictor)


def test_a_predictor_is_saved_between_two_rounds_of_other_threads(tmp_path):
    predictor = predictor_of(osp.make_space("simplex", d=3))
    with ThreadPoolExecutor(2) as threads:
        stepping = threads.submit(lambda: [predictor.step([0.1, 0.2, 0.3], 1) for _ in range(300)])
        for number in range(5):
            predictor.save(tmp_path / f"{number}.ckpt")
            loaded = osp.OnlinePredictor.load(tmp_path / f"{number}.ckpt")
            assert loaded.state()["plays"] == loaded.learner.rounds
        stepping.result()
