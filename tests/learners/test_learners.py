"""Every learner against a slow twin that stores all its iterates, on dense and sparse inputs."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import osp_core as osp
from osp_core.guarantees.formulas import CURVATURE
from osp_core.learners import weights as lazy_weights

SPACE = osp.make_space("simplex", d=4)
MAKERS = {
    "ogd": lambda: osp.OGD(),
    "ogd on a ball": lambda: osp.OGD(radius=0.7),
    "adaptive_ogd": lambda: osp.AdaptiveOGD(3.0),
    "parameter_free": lambda: osp.ParameterFree(),
    "polyak_ogd": lambda: osp.PolyakOGD(3.0),
}


def stream(rounds=300, n=6, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal((4, n))
    X = rng.standard_normal((rounds, n)) * (rng.random((rounds, n)) < density)
    X /= np.maximum(1e-12, np.linalg.norm(X, axis=1, keepdims=True))
    return X, [int(np.argmax(teacher @ x + 0.3 * rng.standard_normal(4))) for x in X]


def twin_iterates(name, gap, X, Y):
    """W₁, …, W_{T+1} by the textbook, on dense matrices."""
    W, iterates = np.zeros((4, X.shape[1])), []
    sum_of_squares, eta, direction = 0.0, math.inf, np.zeros_like(W)
    wealth, fraction, curvatures, scaled_squares = 1.0, 0.0, 1.0, 0.0
    for x, y in zip(X, Y, strict=True):
        iterates.append(W.copy())
        theta, truth = W @ x, SPACE.as_vertex(y)
        law = gap.decoder.law(SPACE.predict(theta))
        loss, residual = gap.loss.at(theta, law.prediction, truth)
        G = np.outer(residual, x)
        square = float((G * G).sum())
        sum_of_squares += square
        if name == "parameter_free":
            g = G / gap.lipschitz
            c = float((g * direction).sum())
            wealth *= 1 - c * fraction
            zeta = c / (1 - c * fraction)
            curvatures += zeta**2
            fraction = float(np.clip(fraction - zeta / (2 * CURVATURE * curvatures), -0.5, 0.5))
            scaled_squares += float((g * g).sum())
            if scaled_squares:
                direction = ball(direction - math.sqrt(2 / scaled_squares) * g, 1.0)
            W = fraction * wealth * direction
        elif name == "adaptive_ogd" and sum_of_squares:
            W = ball(W - 3.0 / math.sqrt(2 * sum_of_squares) * G, 1.5)
        elif name == "polyak_ogd" and square:
            eta = min(eta, 2 * (loss - law.expected_loss(gap.target, truth)) / square)
            W = ball(W - eta * G, 1.5)
        elif name.startswith("ogd"):
            W = W - gap.step_size * G
            W = ball(W, 0.7) if name != "ogd" else W
    return [*iterates, W]


def ball(W, radius):
    return W * min(1.0, radius / max(1e-300, np.linalg.norm(W)))


def play(name, X, Y, learner=None):
    predictor = osp.OnlinePredictor(SPACE, X.shape[1], learner=learner or MAKERS[name](), seed=1)
    osp.run(predictor, X, Y)
    return predictor


@pytest.mark.parametrize("name", MAKERS)
def test_iterates_and_average_are_those_of_the_textbook(name):
    X, Y = stream()
    predictor = play(name, X, Y)
    iterates = twin_iterates(name, predictor.certificate, X, Y)
    assert np.allclose(predictor.learner.weights, iterates[-1], rtol=1e-10, atol=1e-12)
    assert np.allclose(predictor.average_weights, np.mean(iterates[:-1], axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_sparse_rows_give_what_dense_rows_give(name):
    X, Y = stream()
    dense, sparse = play(name, X, Y), play(name, sp.csr_array(X), Y)
    assert np.allclose(dense.learner.weights, sparse.learner.weights, rtol=1e-10, atol=1e-13)
    assert np.allclose(dense.average_weights, sparse.average_weights, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", MAKERS)
def test_state_continues_bit_for_bit(name):
    X, Y = stream()
    whole, half = play(name, X, Y), play(name, X[:137], Y[:137])
    saved = half.learner.state()
    # A file may store arrays row by row, and numbers as arrays.
    saved = {
        k: np.ascontiguousarray(v) if isinstance(v, np.ndarray) else np.array(v) for k, v in saved.items()
    }
    resumed = osp.OnlinePredictor(SPACE, X.shape[1], learner=MAKERS[name]())
    resumed.learner.load_state(saved)
    osp.run(resumed, X[137:], Y[137:])
    assert np.array_equal(whole.learner.weights, resumed.learner.weights)
    assert np.array_equal(whole.average_weights, resumed.average_weights)
    assert whole.learner.rounds == resumed.learner.rounds == 300


@pytest.mark.parametrize("name", MAKERS)
def test_a_state_is_a_copy_and_a_foreign_one_is_refused(name):
    X, Y = stream(50)
    predictor = play(name, X, Y)
    state = predictor.learner.state()
    predictor.step(X[0], Y[0])
    assert not np.array_equal(state["core"], predictor.learner.state()["core"])
    other = osp.OnlinePredictor(osp.make_space("simplex", d=3), 6, learner=MAKERS[name]())
    with pytest.raises(osp.InvalidInputError, match="shape"):
        other.learner.load_state(state)


@pytest.mark.parametrize("name", MAKERS)
def test_learning_begins_at_zero_and_rounds_without_gradient_change_nothing(name):
    predictor = osp.OnlinePredictor(SPACE, 6, learner=MAKERS[name]())
    assert not predictor.learner.weights.any()
    assert not predictor.average_weights.any()
    for _ in range(5):
        predictor.step(np.zeros(6), 1)
    assert not predictor.learner.weights.any()


@pytest.mark.parametrize("name", MAKERS)
def test_weights_cannot_be_written_to(name):
    X, Y = stream(20)
    predictor = play(name, X, Y)
    with pytest.raises(ValueError, match="read-only"):
        predictor.learner.weights[0, 0] = 1.0


@pytest.mark.parametrize("name", ["ogd on a ball", "adaptive_ogd", "polyak_ogd"])
def test_ball_learners_stay_in_their_ball(name):
    X, Y = stream(400)
    learner = MAKERS[name]()
    radius = learner.radius if name == "ogd on a ball" else learner.diameter / 2
    predictor = osp.OnlinePredictor(SPACE, 6, learner=learner)
    norms = []
    osp.run(predictor, X, Y, callback=lambda *_: norms.append(np.linalg.norm(learner.weights)))
    assert max(norms) <= radius * (1 + 1e-12)
    assert max(norms) == pytest.approx(radius)


def test_flushing_the_factor_changes_nothing_but_rounding(monkeypatch):
    X, Y = stream(500)
    lazy = play("ogd on a ball", X, Y, osp.OGD(step_size=5.0, radius=0.1))
    monkeypatch.setattr(lazy_weights, "SMALLEST_FACTOR", 0.9)
    monkeypatch.setattr(lazy_weights, "NORM_REFRESH", 3)
    eager = play("ogd on a ball", X, Y, osp.OGD(step_size=5.0, radius=0.1))
    assert np.allclose(lazy.learner.weights, eager.learner.weights, rtol=1e-9, atol=1e-13)
    assert np.allclose(lazy.average_weights, eager.average_weights, rtol=1e-9, atol=1e-13)


def test_sparse_rounds_write_to_active_columns_only():
    width = 50_000
    predictor = osp.OnlinePredictor(SPACE, width, learner=osp.AdaptiveOGD(2.0))
    rng = np.random.default_rng(0)
    touched = set()
    for _ in range(60):
        columns = rng.choice(200, size=5, replace=False) * 250
        touched |= set(columns.tolist())
        row = sp.csr_array((np.full(5, 0.4), (np.zeros(5, int), columns)), shape=(1, width))
        predictor.step(row, int(rng.integers(4)))
    for array in (predictor.learner.weights, predictor.average_weights):
        assert set(np.flatnonzero(array.any(axis=0)).tolist()) <= touched


def test_polyak_steps_fall_and_stay_above_their_floor():
    X, Y = stream(400)
    learner = osp.PolyakOGD(6.0)
    predictor = osp.OnlinePredictor(SPACE, 6, learner=learner)
    steps = []
    osp.run(predictor, X, Y, callback=lambda *_: steps.append(learner.eta))
    steps = np.array(steps)
    assert (np.diff(steps) <= 0).all()
    assert steps[-1] >= 2 * predictor.certificate.a / predictor.certificate.b
    with pytest.raises(osp.InvalidInputError, match="expected"):
        learner.update(predictor.model.gradient(np.ones(4), (np.ones(6), None)))


def test_parameter_free_refuses_a_gradient_above_its_lipschitz_constant_and_stays_as_it_was():
    X, Y = stream(30)
    predictor = osp.OnlinePredictor(SPACE, 6, learner=osp.ParameterFree(lipschitz=0.5), seed=3)
    before, draws = predictor.learner.state(), predictor.rng.bit_generator.state
    with pytest.raises(osp.GuaranteeError, match=r"Round 1: .*lipschitz="):
        osp.run(predictor, X, Y)
    after = predictor.learner.state()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert predictor.rng.bit_generator.state == draws


def test_parameter_free_survives_a_long_easy_run():
    predictor = osp.OnlinePredictor(SPACE, 1, learner=osp.ParameterFree(wealth=1e-3))
    for _ in range(3000):
        record = predictor.step(np.ones(1), 2)
    assert record.surrogate_loss < 1e-2
    assert np.isfinite(predictor.learner.weights).all()


def test_learners_are_registered_by_name():
    names = {record.name for record in osp.list_learners()}
    assert {"ogd", "adaptive_ogd", "parameter_free", "polyak_ogd"} <= names
    assert isinstance(osp.make_learner("polyak_ogd", diameter=2.0), osp.PolyakOGD)
    for bad in ({"diameter": 0.0}, {"diameter": -1.0}, {"diameter": float("nan")}):
        with pytest.raises(osp.InvalidInputError):
            osp.make_learner("adaptive_ogd", **bad)
    with pytest.raises(osp.InvalidInputError):
        osp.make_learner("parameter_free", wealth=0.0)


def test_feature_models_with_sparse_features_learn_like_dense_ones():
    space = osp.make_space("hypercube", d=5)
    rng = np.random.default_rng(0)
    dense, sparse = (
        osp.OnlinePredictor(
            space, 7, model=osp.FeatureModel(7), learner=osp.AdaptiveOGD(4.0), feature_bound=9.0
        )
        for _ in range(2)
    )
    for _ in range(100):
        features = rng.standard_normal((5, 7)) * (rng.random((5, 7)) < 0.3)
        y = (features @ np.arange(7) > 0).astype(float)
        dense.step(features, y)
        sparse.step(sp.csr_array(features), y)
    assert np.allclose(dense.learner.weights, sparse.learner.weights, rtol=1e-10, atol=1e-13)
    assert np.allclose(dense.average_weights, sparse.average_weights, rtol=1e-9, atol=1e-13)
