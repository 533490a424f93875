"""Compiled rounds against their plain-Python text, the general code, and themselves in one piece or many."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import osp_core as osp
from osp_core import kernels
from osp_core.errors import OspError
from osp_core.fused.predictor import FusedRounds

SPACES = {
    "softmax": lambda: osp.make_space("simplex", d=4),
    "Gibbs": lambda: osp.make_space("simplex", d=3, psi=osp.GibbsEntropy(0.5)),
    "sparsemax": lambda: osp.make_space("simplex", d=5, psi=osp.SquaredNorm(2.0), norm=2),
    "one class": lambda: osp.make_space("simplex", d=1),
    "odd norm": lambda: osp.make_space("simplex", d=3, norm=1.5),
    "clip": lambda: osp.make_space("hypercube", d=4),
    "sigmoid": lambda: osp.make_space("hypercube", d=3, psi=osp.BinaryEntropy(0.7)),
    "one label": lambda: osp.make_space("hypercube", d=1),
    "largest entry": lambda: osp.make_space("hypercube", d=2, psi=osp.SquaredNorm(3.0), norm=np.inf),
}
LEARNERS = {
    "ogd": lambda: osp.OGD(),
    "ogd on a ball": lambda: osp.OGD(radius=0.4),
    "adaptive_ogd": lambda: osp.AdaptiveOGD(3.0),
    "parameter_free": lambda: osp.ParameterFree(),
    "polyak_ogd": lambda: osp.PolyakOGD(3.0),
}
# Every space with the usual learner, and every learner on one space decoded as a whole and one by coordinate.
PAIRS = [(space, "ogd") for space in SPACES]
PAIRS += [(space, name) for space in ("softmax", "clip") for name in LEARNERS if name != "ogd"]
every_pair = pytest.mark.parametrize(("space", "learner"), PAIRS, ids=[", ".join(pair) for pair in PAIRS])
every_space = pytest.mark.parametrize("space", SPACES)
every_learner = pytest.mark.parametrize("learner", LEARNERS)


def predictor(space, n=6, learner=None, **options):
    return osp.OnlinePredictor(space, n, learner=learner, seed=5, **options)


def stream(space, rounds=400, n=6, density=0.6, seed=0):
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal((space.dim, n))
    X = rng.standard_normal((rounds, n)) * (rng.random((rounds, n)) < density)
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    noise = rng.standard_normal((rounds, space.dim))
    return X, [space.to_label(space.lmo(-(teacher @ x) + 0.2 * e)) for x, e in zip(X, noise, strict=True)]


def same_bits(one, other):
    a, b = one.state(), other.state()
    assert a["rng"] == b["rng"]
    assert a["plays"] == b["plays"]
    assert a["learner"].keys() == b["learner"].keys()
    for name, value in a["learner"].items():
        np.testing.assert_array_equal(value, b["learner"][name], err_msg=name)


def nearly(trace, other, tol=1e-9):
    for name in ("expected_loss", "surrogate_loss", "p", "gap", "target_loss"):
        np.testing.assert_allclose(getattr(trace, name), getattr(other, name), atol=tol, err_msg=name)


def run_with(kind, space, X, Y, learner=None):
    with kernels.use(kind):
        subject = predictor(space, X.shape[1], learner)
        trace = osp.run(subject, X, Y)
    assert (subject.compiled is None) == (kind == "numpy")
    return subject, trace


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
    compiled, plain = (
        predictor(space, learner=LEARNERS[learner]()),
        predictor(space, learner=LEARNERS[learner]()),
    )
    plain._compiled = FusedRounds(plain, plain.learner, space.round_parts(), compiled=False)
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


@pytest.mark.parametrize("Y", ["list", "integers", "vertices", "tuple of vertices"])
def test_outputs_may_come_in_every_form(Y):
    space = SPACES["softmax"]()
    X, labels = stream(space, rounds=50)
    vertices = np.array([space.from_label(label) for label in labels])
    forms = {
        "list": labels,
        "integers": np.array(labels),
        "vertices": vertices,
        "tuple of vertices": tuple(vertices),
    }
    one, other = predictor(space), predictor(space)
    osp.run(one, X, labels)
    osp.run(other, X, forms[Y])
    same_bits(one, other)


@pytest.mark.parametrize("form", [np.float32, np.int64, "strided", "read-only", "list", "Fortran"])
def test_inputs_may_come_in_every_form(form):
    space = SPACES["clip"]()
    X, Y = stream(space, rounds=30)
    X = np.round(0.8 * X, 1)
    given = {
        "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2],
        "read-only": lambda: np.frombuffer(X.tobytes()).reshape(X.shape),
        "list": lambda: X.tolist(),
        "Fortran": lambda: np.asfortranarray(X),
    }
    other = given[form]() if isinstance(form, str) else X.astype(form)
    one, two, three = predictor(space), predictor(space), predictor(space)
    osp.run(one, np.array(other, dtype=np.float64), Y)
    osp.run(two, other, Y)
    for x, y in zip(other, Y, strict=True):
        three.step(x, y)
    same_bits(one, two)
    same_bits(one, three)


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


def test_whoever_overrides_a_method_gets_it_called():
    class Stubborn(type(SPACES["softmax"]())):
        def nearest_vertex(self, point):
            return self.unit(0)

    class Slow(osp.OGD):
        def update(self, gradient, **seen):
            super().update(gradient, **seen)
            self._numbers[0] *= 0.9

    assert predictor(SPACES["softmax"]()).compiled is not None
    assert predictor(Stubborn(4)).compiled is None
    assert predictor(SPACES["softmax"](), learner=Slow()).compiled is None
    space = SPACES["softmax"]()
    assert predictor(space, decoder=osp.SamplingDecoder(space)).compiled is None
    assert predictor(space, verify=True).compiled is None
    with kernels.use("numpy"):
        assert predictor(space).compiled is None


def test_a_target_that_is_not_affine_in_a_round_is_left_to_the_general_code():
    space = SPACES["softmax"]()
    X, _ = stream(space, rounds=20)
    costs = np.abs(np.random.default_rng(1).standard_normal((20, 4)))
    subject = predictor(space, target=osp.decision_regret(space, gamma=10.0))
    trace = osp.run(subject, X, costs)
    assert len(trace) == 20
    with kernels.use("numpy"):
        general = osp.run(predictor(space, target=osp.decision_regret(space, gamma=10.0)), X, costs)
    nearly(trace, general)


def test_scores_of_every_size_are_learned_from_or_refused():
    space = SPACES["softmax"]()
    for exponent in (-300, -8, 0, 8):
        X, Y = stream(space, rounds=50)
        subject = predictor(space, feature_bound=10.0 ** max(0, exponent))
        trace = osp.run(subject, X * 10.0**exponent, Y)
        assert np.isfinite(trace.surrogate_loss).all()
        assert np.isfinite(subject.learner.weights).all()


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
