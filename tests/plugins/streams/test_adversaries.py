"""The lower-bound stream and the adversary that looks at the predictor."""

import math

import numpy as np
import pytest

import osp_core as osp
from osp_core.guarantees import multiclass_regret_floor

SIMPLEX = osp.make_space("simplex", d=5)


def test_the_comparator_of_the_lower_bound_stream_is_as_good_as_claimed():
    stream = osp.make_stream("lower_bound", space=SIMPLEX, rounds=100, hard_rounds=20, seed=3)
    loss = osp.FenchelYoungLoss(SIMPLEX, 1 / math.log(2))
    losses = np.array([loss.value(stream.comparator @ x, y) for x, y in stream])
    right = 1 - 1 / 5
    assert np.allclose(losses[:20], math.log2(1 + right / 2))
    # After the hard rounds the whole loss of the comparator is below that of one guess.
    assert losses[20:].sum() <= right
    norm = np.linalg.norm(stream.comparator)
    assert norm**2 == pytest.approx(20 * math.log(10) ** 2 + math.log(2 * 5 * 100) ** 2)


@pytest.mark.parametrize("d", [2, 3, 10])
def test_the_floor_is_the_exact_regret_of_guessing(d):
    expected = {2: 0.178, 3: 0.2516, 10: 0.364}[d]
    assert multiclass_regret_floor(d, 1) == pytest.approx(expected, abs=5e-4)
    assert multiclass_regret_floor(d, 60) == pytest.approx(60 * multiclass_regret_floor(d, 1))


def test_every_learner_suffers_at_least_the_floor():
    for learner in (osp.OGD, lambda: osp.AdaptiveOGD(20.0), osp.ParameterFree, lambda: osp.PolyakOGD(20.0)):
        regrets = []
        for seed in range(8):
            stream = osp.make_stream("lower_bound", space=SIMPLEX, rounds=80, hard_rounds=40, seed=seed)
            predictor = osp.OnlinePredictor(SIMPLEX, stream.n_features, learner=learner())
            trace = osp.run(predictor, stream)
            loss = sum(predictor.loss.value(stream.comparator @ x, y) for x, y in stream)
            regrets.append(trace.expected_loss.sum() - loss)
        assert np.mean(regrets) >= multiclass_regret_floor(5, 40)


def test_the_lower_bound_stream_refuses_other_spaces_and_too_few_rounds():
    with pytest.raises(osp.InvalidInputError, match="no simplex"):
        osp.make_stream("lower_bound", space=osp.make_space("hypercube", d=3), rounds=50)
    with pytest.raises(osp.InvalidInputError, match="more rounds"):
        osp.make_stream("lower_bound", space=SIMPLEX, rounds=20, hard_rounds=20)


@pytest.mark.parametrize(
    "space",
    [SIMPLEX, osp.make_space("hypercube", d=4), osp.make_space("hypercube", d=30)],
    ids=repr,
)
def test_the_adversary_chooses_the_worst_output_for_the_coming_play(space):
    stream = osp.make_stream("adaptive_adversary", space=space, rounds=40, n_features=3)
    predictor = osp.OnlinePredictor(space, 3, seed=0)
    rng = np.random.default_rng(0)
    for x, y in stream.against(predictor):
        mean = predictor.law(x).mean
        worst = predictor.target.at(y)(mean)
        for rival in (space.lmo(rng.standard_normal(space.dim)) for _ in range(10)):
            assert worst >= predictor.target.at(rival)(mean) - 1e-12
        predictor.step(x, y)


def test_an_adversarial_stream_needs_an_opponent():
    stream = osp.make_stream("adaptive_adversary", space=SIMPLEX, rounds=5)
    with pytest.raises(osp.InvalidInputError, match="against"):
        list(stream)
    assert len(osp.run(osp.OnlinePredictor(SIMPLEX, 8), stream)) == 5
