"""Σ E L ≤ ΣS(U) + bound, for every learner, against streams that do and do not look at the predictor."""

from itertools import pairwise

import numpy as np
import pytest

import osp_core as osp
from osp_core.experiments.paper_spaces import example_spaces

SPACES = example_spaces()
LEARNERS = {
    "ogd": lambda norm: osp.OGD(),
    "short steps": lambda norm: osp.OGD(step_size=0.01),
    "ball": lambda norm: osp.OGD(radius=norm),
    "adaptive": lambda norm: osp.AdaptiveOGD(2 * norm),
    "parameter free": lambda norm: osp.ParameterFree(),
    "polyak": lambda norm: osp.PolyakOGD(2 * norm),
}


def recorded(pairs, seen):
    for pair in pairs:
        seen.append(pair)
        yield pair


def assert_regret_below_bound(predictor, trace, seen):
    X, Y = np.array([x for x, _ in seen]), [y for _, y in seen]
    comparator = osp.best_comparator(predictor.space, X, Y, predictor.certificate, max_iter=12)
    norms = [np.linalg.norm(comparator.weights)]
    for factor in (0.0, 0.5, 1.0):
        U = factor * comparator.weights
        losses, _ = predictor.loss.values_and_gradients(X @ U.T, np.array(Y))
        bound = predictor.guarantee(norm_U=float(factor * norms[0]))
        assert trace.expected_loss.sum() <= losses.sum() * bound.surrogate_factor + bound.value + 1e-9


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("title", SPACES)
@pytest.mark.parametrize("stream", ["linear_teacher", "adaptive_adversary"])
def test_expected_regret_is_below_the_bound(title, learner, stream):
    space, seen = SPACES[title], []
    predictor = osp.OnlinePredictor(space, 4, learner=LEARNERS[learner](50.0), seed=0, verify=True)
    made = osp.make_stream(stream, space=space, rounds=60, n_features=4, seed=2)
    trace = osp.run(predictor, recorded(made.against(predictor), seen))
    assert_regret_below_bound(predictor, trace, seen)


@pytest.mark.parametrize("delay", [1, 5])
def test_late_feedback_keeps_the_bound_of_the_shorter_step(delay):
    space = SPACES["multiclass"]
    eta = osp.surrogate_gap(space).step_size / (1 + 2 * delay)
    predictor = osp.OnlinePredictor(space, 4, learner=osp.OGD(step_size=eta), seed=0)
    pairs = list(osp.make_stream("linear_teacher", space=space, rounds=200, n_features=4))
    trace, waiting = osp.Trace(), []
    for x, y in pairs:
        waiting.append((predictor.play(x), y))
        if len(waiting) > delay:
            trace.append(predictor.learn(*waiting.pop(0)))
    for play, y in waiting:
        trace.append(predictor.learn(play, y))
    assert predictor.summary().delay == delay
    assert_regret_below_bound(predictor, trace, pairs)


def test_the_blockwise_decoder_keeps_its_better_bound():
    space, seen = osp.make_space("hypercube", d=14), []
    predictor = osp.OnlinePredictor(space, 4, loss=osp.FenchelYoungLoss(space, 1.0), seed=0, verify=True)
    assert predictor.certificate.a == pytest.approx(1 - 4 / 14)
    stream = osp.make_stream("adaptive_adversary", space=space, rounds=300, n_features=4)
    trace = osp.run(predictor, recorded(stream.against(predictor), seen))
    assert_regret_below_bound(predictor, trace, seen)


def test_moving_comparators_stay_below_the_nonstationary_bound():
    space = SPACES["multiclass"]
    stream = osp.make_stream("drifting_teacher", space=space, rounds=400, n_features=4, segments=4, noise=0.0)
    X, Y = stream.arrays()
    gap = osp.surrogate_gap(space)
    parts = [
        osp.best_comparator(space, X[low : low + 100], Y[low : low + 100], gap) for low in range(0, 400, 100)
    ]
    norm = max(np.linalg.norm(part.weights) for part in parts)
    path = sum(np.linalg.norm(b.weights - a.weights) for a, b in pairwise(parts))
    predictor = osp.OnlinePredictor(space, 4, learner=osp.PolyakOGD(2 * norm), seed=0)
    trace = osp.run(predictor, X, Y)
    bound = predictor.guarantee("nonstationary", norm_U=norm, path_length=path)
    assert trace.expected_loss.sum() <= sum(part.surrogate_loss for part in parts) + bound.value


def test_the_parameter_free_learner_keeps_its_own_regret_bound():
    """Σ(S(W) − S(U)) itself, not only the surrogate regret, with the gradients that were seen."""
    from osp_core.guarantees import parameter_free_regret

    space = SPACES["multiclass"]
    X, Y = osp.make_stream("linear_teacher", space=space, rounds=500, n_features=4).arrays()
    for wealth in (0.01, 1.0, 100.0):
        predictor = osp.OnlinePredictor(space, 4, learner=osp.ParameterFree(wealth=wealth))
        squares = 0.0

        def count(_number, record):
            nonlocal squares
            residual = predictor.loss.scale * (record.law.prediction.point - record.y)  # noqa: B023
            squares += float(residual @ residual)  # ‖x‖ = 1

        trace = osp.run(predictor, X, Y, callback=count)
        for length in (0.0, 1.0, 10.0):
            U = length * np.ones((5, 4)) / np.sqrt(20)
            U[0] *= -1
            losses, _ = predictor.loss.values_and_gradients(X @ U.T, np.array(Y))
            allowed = parameter_free_regret(length, squares, predictor.certificate.lipschitz, wealth)
            assert trace.surrogate_loss.sum() - losses.sum() <= allowed


@pytest.mark.parametrize("kind", ["too long", "not a number", "no label"])
def test_a_bad_round_stops_with_its_number_and_changes_nothing(kind):
    space = SPACES["multiclass"]
    X, Y = osp.make_stream("linear_teacher", space=space, rounds=30, n_features=4).arrays()
    X, Y = X.copy(), list(Y)
    if kind == "too long":
        X[16] *= 1.5
    elif kind == "not a number":
        X[16, 2] = np.nan
    else:
        Y[16] = np.array([0.5, 0.5, 0, 0, 0])
    for learner in LEARNERS.values():
        broken, sound = (osp.OnlinePredictor(space, 4, learner=learner(9.0), seed=5) for _ in range(2))
        with pytest.raises(osp.OspError, match="Round 17"):
            osp.run(broken, X, Y)
        osp.run(sound, X[:16], Y[:16])
        assert np.array_equal(broken.learner.weights, sound.learner.weights)
        assert np.array_equal(broken.average_weights, sound.average_weights)
        assert broken.rng.bit_generator.state == sound.rng.bit_generator.state
        assert broken.summary() == sound.summary()
