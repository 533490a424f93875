"""Resuming equals never having stopped, bit for bit: every learner, space, back end, kernel and decoder."""

import contextlib
import functools
import importlib.util

import numpy as np
import pytest

import osp_core as osp
from osp_core import kernels
from osp_core.testing import learner_factories, space_examples

DECODERS = (
    osp.RandomizedDecoder,
    osp.BlockwiseDecoder,
    osp.NearestDecoder,
    osp.SamplingDecoder,
    osp.UniformExploration,
)
KERNELS = ("numpy", "numba") if importlib.util.find_spec("numba") else ("numpy",)
ROUNDS, STOP = 12, 5


def examples():
    """Every example of every space on every back end that is installed."""
    names = [record.name for record in osp.list_spaces() if record.available]
    return [pytest.param(example, id=str(example)) for name in names for example in space_examples(name)]


def representatives():
    """One example a space: the first with at least three outputs."""
    found = []
    for record in osp.list_spaces():
        if record.available:
            sizes = [(example, example.make()) for example in space_examples(record.name)]
            large = [example for example, space in sizes if space.dim >= 2 and space.diameter2 > 0]
            found.append(pytest.param(large[0], id=record.name))
    return found


def learners():
    names = [record.name for record in osp.list_learners() if record.available]
    return [
        pytest.param(factory, id=f"{name}-{number}")
        for name in names
        for number, factory in enumerate(learner_factories(name))
    ]


def target_of(space):
    """A target for spaces without one: how far entries that could not be less, or more, move away."""
    low, high = (np.array([space.lmo(sign * e) @ e for e in np.eye(space.dim)]) for sign in (1, -1))

    def cost(y):
        return np.isclose(y, low).astype(float) - np.isclose(y, high)

    name = "for spaces without one"
    return osp.AffineLoss(cost, lambda y: -float(cost(y) @ y), gamma=float(space.dim), name=name)


@functools.cache
def twins(example):
    """Two spaces of equal parameters, and a stream for them; made once, because some are slow to make."""
    space = example.make()
    stream = osp.make_stream("linear_teacher", space=space, rounds=ROUNDS, n_features=3, seed=1)
    return space, example.make(), list(stream)


def assert_resumes(path, example, learner=osp.OGD, decoder=None, **settings):
    """Stop after a few rounds, go on with the same and with a loaded predictor, compare everything."""
    space, again, rounds = twins(example)
    try:
        target, given = space.target_loss(), {}
    except osp.OspError:
        target = target_of(space)
        given = {"target": target}
    chosen = None if decoder is None else decoder(space)
    straight = osp.OnlinePredictor(
        space, 3, learner=learner(), target=target, decoder=chosen, seed=5, feature_bound=10.0, **settings
    )
    osp.run(straight, rounds[:STOP])
    straight.save(path)
    resumed = osp.OnlinePredictor.load(path, space=again, **given)
    traces = [osp.run(predictor, rounds[STOP:]) for predictor in (straight, resumed)]
    for column in ("target_loss", "expected_loss", "surrogate_loss", "p", "gap"):
        one, other = (getattr(trace, column) for trace in traces)
        assert one.tobytes() == other.tobytes(), column
    assert straight.learner.weights.tobytes() == resumed.learner.weights.tobytes()
    assert straight.average_weights.tobytes() == resumed.average_weights.tobytes()
    assert str(straight.state()) == str(resumed.state())


@pytest.mark.parametrize("example", examples())
def test_every_example_of_every_space_and_back_end_resumes(tmp_path, example):
    assert_resumes(tmp_path / "half.ckpt", example)


@pytest.mark.parametrize("learner", learners())
@pytest.mark.parametrize("example", representatives())
def test_every_learner_resumes_on_every_space(tmp_path, example, learner):
    assert_resumes(tmp_path / "half.ckpt", example, learner)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("example", representatives())
def test_every_decoder_resumes_on_every_space(tmp_path, example, decoder):
    with contextlib.suppress(osp.UnsupportedError):  # UniformExploration lists the outputs
        space = twins(example)[0]
        if decoder is osp.BlockwiseDecoder and not space.blocks():
            with pytest.raises(osp.InvalidInputError, match="blocks"):
                decoder(space)
            return
        assert_resumes(tmp_path / "half.ckpt", example, decoder=decoder)


@pytest.mark.parametrize("choice", KERNELS)
@pytest.mark.parametrize("example", representatives())
def test_every_kind_of_kernels_resumes(tmp_path, example, choice):
    with kernels.use(choice):
        assert_resumes(tmp_path / "half.ckpt", example)


@pytest.mark.parametrize("example", representatives())
def test_inexact_predictions_resume(tmp_path, example):
    assert_resumes(tmp_path / "half.ckpt", example, inexactness=0.5)


def test_features_of_edges_resume(tmp_path, rng):
    space = osp.make_space("k_subsets", d=5, k=2)
    rounds = [(rng.standard_normal((5, 3)) / 4, space.lmo(rng.standard_normal(5))) for _ in range(ROUNDS)]
    straight = osp.OnlinePredictor(space, 3, model=osp.FeatureModel(3), feature_bound=4.0, seed=2)
    osp.run(straight, rounds[:STOP])
    straight.save(tmp_path / "half.ckpt")
    resumed = osp.OnlinePredictor.load(tmp_path / "half.ckpt")
    traces = [osp.run(predictor, rounds[STOP:]) for predictor in (straight, resumed)]
    assert traces[0].surrogate_loss.tobytes() == traces[1].surrogate_loss.tobytes()
    assert np.array_equal(straight.learner.weights, resumed.learner.weights)


def test_a_space_inside_another_resumes_with_what_it_remembers(tmp_path):
    class Remembering(osp.Vertices):
        """Answers ties by how often it was asked: a cache that changes results."""

        asked = 0

        def memory(self):
            return {"asked": np.array([self.asked])}

        def recall(self, memory):
            self.asked = int(memory["asked"][0])

    inner = Remembering(np.eye(3))
    for space in (inner, osp.masked(inner, [1]), osp.product([osp.vertices(np.eye(2)), inner])):
        inner.asked = 7
        kept = space.memory()
        inner.asked = 0
        space.recall(kept)
        assert inner.asked == 7
    with pytest.raises(osp.InvalidInputError, match="remembers nothing"):
        osp.vertices(np.eye(2)).recall(kept)
