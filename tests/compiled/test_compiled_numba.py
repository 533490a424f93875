"""Compiled rounds against their plain-Python text, the general code, and themselves in one piece or many."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from compiled_twins import (
    LEARNERS,
    SPACES,
    nearly,
    plain_rounds,
    predictor,
    run_with,
    same_bits,
    stream,
    uncompiled,
)

import osp_core as osp
from osp_core import kernels
from osp_core.errors import OspError

# Every space with the usual learner, and every learner on one space decoded as a whole and one by coordinate.
PAIRS = [(space, "ogd") for space in SPACES]
PAIRS += [(space, name) for space in ("softmax", "clip") for name in LEARNERS if name != "ogd"]
every_pair = pytest.mark.parametrize(("space", "learner"), PAIRS, ids=[", ".join(pair) for pair in PAIRS])
every_space = pytest.mark.parametrize("space", SPACES)
every_learner = pytest.mark.parametrize("learner", LEARNERS)


@every_pair
def test_compiled_rounds_are_those_of_the_general_code(space, learner):
    space = SPACES[space]()
    X, Y = stream(space)
    compiled, trace = run_with("numba", space, X, Y, LEARNERS[learner]())
    general, expected = run_with("numpy", space, X, Y, LEARNERS[learner]())
    nearly(trace, expected)
    np.testing.assert_allclose(compiled.learner.weights, general.learner.weights, atol=1e-9)
    np.testing.assert_allclose(compiled.average_weights, general.average_weights, atol=1e-9)
    assert compiled.rng.bit_generator.state == general.rng.bit_generator.state
    assert compiled.guarantee(norm_U=0.3).value == pytest.approx(general.guarantee(norm_U=0.3).value)


@every_pair
def test_the_compiled_text_does_what_it_says_as_plain_python(space, learner):
    space = SPACES[space]()
    X, Y = stream(space, rounds=60)
    compiled = predictor(space, learner=LEARNERS[learner]())
    plain = uncompiled(predictor(space, learner=LEARNERS[learner]()))
    trace, expected = osp.run(compiled, X, Y), osp.run(plain, X, Y)
    nearly(trace, expected, 1e-12)
    np.testing.assert_allclose(compiled.learner.weights, plain.learner.weights, atol=1e-12)
    assert compiled.rng.bit_generator.state == plain.rng.bit_generator.state


@every_pair
def test_a_run_in_one_piece_steps_and_late_feedback_agree_to_the_last_bit(space, learner):
    space = SPACES[space]()
    X, Y = stream(space, rounds=120)
    whole, pieces, steps, late = (predictor(space, learner=LEARNERS[learner]()) for _ in range(4))
    trace = osp.run(whole, X, Y)
    osp.run(pieces, X[:37], Y[:37])
    osp.run(pieces, X[37:], Y[37:])
    rounds = [steps.step(x, y) for x, y in zip(X, Y, strict=True)]
    played = [late.learn(late.play(x), y) for x, y in zip(X, Y, strict=True)]
    for other in (pieces, steps, late):
        same_bits(whole, other)
    np.testing.assert_array_equal(trace.target_loss, [record.target_loss for record in rounds])
    np.testing.assert_array_equal(trace.expected_loss, [record.expected_loss for record in played])
    assert [record.label for record in rounds] == [record.label for record in played]


@every_space
def test_a_round_gives_the_law_it_was_drawn_from(space):
    space = SPACES[space]()
    subject = predictor(space)
    for x, y in zip(*stream(space, rounds=40), strict=True):
        before = copy.deepcopy(subject)
        law, record = before.law(x), subject.step(x, y)
        np.testing.assert_allclose(record.law.mean, law.mean, atol=1e-12)
        np.testing.assert_allclose(record.p, np.mean(law.p), atol=1e-12)
        assert space.is_vertex(record.vertex)
        assert record.predicted == before.predict(x)
        np.testing.assert_array_equal(record.nearest, law.nearest)
        assert record.target_loss == pytest.approx(subject.target.loss(record.vertex, record.y))
        assert record.expected_loss == pytest.approx(law.expected_loss(subject.target, record.y), abs=1e-12)


@every_learner
def test_sparse_rows_cost_and_teach_the_same_as_dense_ones(learner):
    space = SPACES["softmax"]()
    X, Y = stream(space, density=0.3)
    X[7] = 0.0
    dense, sparse, steps = (predictor(space, learner=LEARNERS[learner]()) for _ in range(3))
    trace, of_sparse = osp.run(dense, X, Y), osp.run(sparse, sp.csr_array(X), Y)
    for row, y in zip(sp.csr_matrix(X), Y, strict=True):
        steps.step(row, y)
    nearly(trace, of_sparse, 1e-12)
    for other in (sparse, steps):
        for name in ("weights", "average_weights"):
            one, two = getattr(dense.learner, name), getattr(other.learner, name)
            np.testing.assert_allclose(one, two, atol=1e-12)


BAD = {
    "x too long": (lambda X, Y: X.__setitem__((20, 0), 3.0), "Round 21: .*feature bound"),
    "x with NaN": (lambda X, Y: X.__setitem__((20, 0), np.nan), "Round 21: .*finite"),
    "x infinite": (lambda X, Y: X.__setitem__((20, 0), np.inf), "Round 21: .*finite"),
    "an unknown label": (lambda X, Y: Y.__setitem__(20, 99), "Round 21: .*99"),
    "an unhashable label": (lambda X, Y: Y.__setitem__(20, [1]), "Round 21"),
    "Y too short": (lambda X, Y: Y.pop(), "Y ends before X"),
    "X too short": (lambda X, Y: Y.append(0), "X ends before Y"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_round_is_named_and_the_rounds_before_it_are_kept(case):
    space = SPACES["softmax"]()
    X, Y = stream(space, rounds=40)
    good = predictor(space)
    spoil, message = BAD[case]
    osp.run(good, X[:20] if "short" not in case else X[:39], Y[:20] if "short" not in case else Y[:39])
    spoil(X, Y)
    subject = predictor(space)
    X = X if case != "X too short" else X[:39]
    Y = Y if case != "X too short" else Y[:40]
    with pytest.raises(OspError, match=message):
        osp.run(subject, X, Y)
    same_bits(subject, good)


def test_a_gradient_beyond_the_lipschitz_constant_is_refused_with_nothing_changed():
    space = SPACES["softmax"]()
    subject = predictor(space, learner=osp.ParameterFree(lipschitz=0.1))
    before = copy.deepcopy(subject)
    with pytest.raises(OspError, match="Lipschitz"):
        osp.run(subject, *stream(space, rounds=3))
    same_bits(subject, before)


def test_checkpoints_fall_on_the_rounds_asked_for(tmp_path, monkeypatch):
    space = SPACES["softmax"]()
    saved = []
    monkeypatch.setattr(osp.OnlinePredictor, "save", lambda self, path: saved.append(self.learner.rounds))
    osp.run(predictor(space), *stream(space, rounds=100), checkpoint=tmp_path / "c", checkpoint_every=30)
    assert saved == [30, 60, 90, 100]


def test_costs_instead_of_outputs_are_learned_from_in_compiled_rounds():
    space = SPACES["softmax"]()
    X, _ = stream(space, rounds=20)
    costs = np.abs(np.random.default_rng(1).standard_normal((20, 4)))
    subject = predictor(space, target=osp.decision_regret(space, gamma=10.0))
    with plain_rounds(subject) as taken:
        trace = osp.run(subject, X, costs)
    assert subject.compiled is not None
    assert not taken
    with kernels.use("numpy"):
        general = osp.run(predictor(space, target=osp.decision_regret(space, gamma=10.0)), X, costs)
    nearly(trace, general)


def test_columns_that_stayed_behind_catch_up_with_the_factors_they_missed():
    rng, n = np.random.default_rng(3), 300
    dense = np.zeros((2000, n))
    for row in dense:
        row[rng.choice(n, 4, replace=False)] = 0.5
    X, Y = sp.csr_array(dense), rng.integers(0, 3, 2000)
    space = osp.make_space("simplex", d=3)
    results = {}
    for kind in ("numba", "numpy"):
        results[kind] = run_with(kind, space, X, Y, osp.OGD(step_size=5.0, radius=0.5))
    (lazy, trace), (eager, expected) = results["numba"], results["numpy"]
    array = copy.deepcopy(lazy.learner._array)
    assert 1000 > array.numbers[4] > 3  # epochs that some columns have not seen
    assert array.behind.min() < array.numbers[4]
    looked_at = predictor(space, n, osp.OGD(step_size=5.0, radius=0.5))
    osp.run(looked_at, X[:900], Y[:900])
    looked_at.average_weights  # noqa: B018 — brings all columns up to date
    osp.run(looked_at, X[900:], Y[900:])
    same_bits(looked_at, lazy)
    nearly(trace, expected)
    for name in ("weights", "average_weights"):
        one, other = (getattr(subject.learner, name) for subject in (lazy, eager))
        np.testing.assert_allclose(one, other, atol=1e-10, err_msg=name)
    with kernels.use("numpy"):
        array.settle()
    np.testing.assert_array_equal(array.memory, lazy.learner._array.memory)
