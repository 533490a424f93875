"""Inputs and outputs of every form: a run, its steps and its plain text agree to the last bit."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from compiled_twins import (
    LEARNERS,
    SPACES,
    nearly,
    outcome,
    plain_rounds,
    predictor,
    run_with,
    same_bits,
    stream,
    uncompiled,
)

import osp_core as osp

every_learner = pytest.mark.parametrize("learner", LEARNERS)
N = 9


def sparse_stream(case, rounds=150, seed=0):
    """Rows of at most N entries, most of them empty, in the form that the case names."""
    rng = np.random.default_rng(seed)
    dense = 0.3 * rng.standard_normal((rounds, N)) * (rng.random((rounds, N)) < 0.3)
    dense /= np.maximum(1.0, 1.01 * np.linalg.norm(dense, axis=1, keepdims=True))
    dense[rng.random(rounds) < 0.6] = 0.0
    if case == "nothing but empty rows":
        dense[:] = 0.0
    if case == "empty at both ends":
        dense[:20], dense[-20:], dense[70] = 0.0, 0.0, 0.2
    X = sp.csr_array(dense)
    if case == "explicit zeros":
        X.data[rng.random(len(X.data)) < 0.3] = 0.0
    if case == "wide indices":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    if case == "integers":
        X = sp.csr_array(
            np.eye(N, dtype=np.int32)[np.argmax(dense, axis=1)] * dense.any(axis=1)[:, np.newaxis]
        )
    if case in ("unsorted", "duplicates"):
        X = _shuffled(X, rng, twice=case == "duplicates")
    if case == "float32":
        X = X.astype(np.float32)
    if case == "csr_matrix":
        X = sp.csr_matrix(X)
    return X, rng.integers(0, 4, rounds)


def _shuffled(X, rng, twice):
    rows = [(X.indices[a:b], X.data[a:b]) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    columns, values = [], []
    for at, entries in rows:
        order = rng.permutation(np.tile(np.arange(len(at)), 3 if twice else 1))
        columns.append(at[order])
        values.append(entries[order] * (rng.random(len(order)) / 3.0 if twice else 1.0))
    starts = np.concatenate([[0], np.cumsum([len(at) for at in columns])])
    return sp.csr_array((np.concatenate(values), np.concatenate(columns), starts), shape=X.shape)


SPARSE = [
    "plain",
    "nothing but empty rows",
    "empty at both ends",
    "explicit zeros",
    "unsorted",
    "duplicates",
    "wide indices",
    "integers",
    "float32",
    "csr_matrix",
]


@pytest.mark.parametrize("case", SPARSE)
@every_learner
def test_a_run_over_sparse_rows_is_its_steps_to_the_last_bit(learner, case, monkeypatch):
    monkeypatch.setattr("osp_core.compiled.round_kernel.NORM_REFRESH", 16)  # where a difference would show
    X, Y = sparse_stream(case)
    space, kept = SPACES["softmax"](), X.copy()
    whole, steps = (uncompiled(predictor(space, N, LEARNERS[learner]())) for _ in range(2))
    trace = osp.run(whole, X, Y)
    records = [steps.step(X[i : i + 1], Y[i]) for i in range(len(Y))]
    same_bits(whole, steps)
    np.testing.assert_array_equal(trace.surrogate_loss, [record.surrogate_loss for record in records])
    np.testing.assert_array_equal(trace.target_loss, [record.target_loss for record in records])
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, name), getattr(kept, name), err_msg=name)


@every_learner
def test_a_compiled_run_over_sparse_rows_is_its_steps_to_the_last_bit(learner):
    X, Y = sparse_stream("empty at both ends", rounds=1300)  # the norm is computed afresh after 1024 updates
    whole, steps = (predictor(SPACES["softmax"](), N, LEARNERS[learner]()) for _ in range(2))
    with plain_rounds(whole) as taken:
        osp.run(whole, X, Y)
    assert not taken
    for i in range(len(Y)):
        steps.step(X[i : i + 1], Y[i])
    same_bits(whole, steps)


@pytest.mark.parametrize("case", SPARSE)
def test_a_compiled_run_over_sparse_rows_costs_what_the_general_code_says(case):
    X, Y = sparse_stream(case)
    results = {}
    for kind in ("numba", "numpy"):
        subject, trace = results[kind] = run_with(kind, SPACES["softmax"](), X, Y, osp.AdaptiveOGD(3.0))
    nearly(results["numba"][1], trace)
    np.testing.assert_allclose(results["numba"][0].average_weights, subject.average_weights, atol=1e-9)


def test_sparse_rows_in_any_order_are_learned_in_one_piece():
    X, Y = sparse_stream("duplicates")
    subject = predictor(SPACES["softmax"](), N)
    assert len(subject.learn_many(X, Y)) == len(Y)


def test_a_sparse_matrix_with_impossible_row_starts_never_reaches_compiled_code():
    subject = predictor(SPACES["softmax"](), N)
    X, Y = sparse_stream("plain", rounds=5)
    X.indptr = np.array([0, 10**6, 1, 1, 1, X.nnz])
    assert len(subject.learn_many(X, Y)) == 0


DENSE = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "big-endian": lambda X: X.astype(">f8"),
    "integers": lambda X: np.eye(X.shape[1], dtype=np.int8)[X.argmax(axis=1)],
    "booleans": lambda X: np.eye(X.shape[1], dtype=bool)[X.argmax(axis=1)],
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[:, ::-1].copy()[:, ::-1],
    "upside down": lambda X: X[::-1].copy()[::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "Fortran": np.asfortranarray,
    "lists": lambda X: X.tolist(),
    "unaligned": lambda X: (
        np.frombuffer(b"." + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    ),
    "matrix file": lambda X: _memory_map(X),
}


def _memory_map(X):
    import tempfile

    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=np.float64, mode="w+", shape=X.shape)
        mapped[:] = X
        return mapped


@pytest.mark.parametrize("form", DENSE)
def test_inputs_may_come_in_every_form(form):
    space = SPACES["clip"]()
    X, Y = stream(space, rounds=40)
    given = DENSE[form](np.round(0.8 * X, 1))
    one, two, three, text = (predictor(space) for _ in range(4))
    trace = osp.run(one, np.array(given, dtype=np.float64), Y)
    assert trace.surrogate_loss.std() > 0
    with plain_rounds(two) as taken, plain_rounds(three) as also_taken:
        osp.run(two, given, Y)
        for x, y in zip(given, Y, strict=True):
            three.step(x, y)
    assert not taken
    assert not also_taken
    assert len(two.compiled._learn_rounds.signatures) == 1  # one form is compiled for all
    osp.run(uncompiled(text), given, Y)
    same_bits(one, two)
    same_bits(one, three)
    np.testing.assert_allclose(one.learner.weights, text.learner.weights, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_of_norm_one_up_to_the_rounding_of_float32_fare_alike_in_runs_and_steps(form):
    space = SPACES["softmax"]()
    X = np.random.default_rng(0).standard_normal((60, 6)).astype(np.float32)
    X = form(X / np.linalg.norm(X, axis=1, keepdims=True))
    Y = np.arange(60) % 4

    def row(i):
        return X[i] if isinstance(X, np.ndarray) else X[[i]]

    whole, steps = predictor(space), predictor(space)
    found = outcome(whole, lambda subject: len(osp.run(subject, X, Y)))
    expected = outcome(steps, lambda subject: len([subject.step(row(i), Y[i]) for i in range(60)]))
    assert found == expected or found[1].endswith(expected[1])
    same_bits(whole, steps)


def vertices(space, labels):
    return np.array([space.from_label(label) for label in labels])


OUTPUTS = {
    "list": lambda space, Y: Y,
    "tuple": lambda space, Y: tuple(Y),
    "integers": lambda space, Y: np.array(Y),
    "small integers": lambda space, Y: np.array(Y, dtype=np.uint8),
    "integers backwards": lambda space, Y: np.array(Y[::-1])[::-1],
    "numpy integers": lambda space, Y: list(np.array(Y, dtype=np.int32)),
    "whole floats": lambda space, Y: np.array(Y, dtype=float),
    "objects": lambda space, Y: np.array(Y, dtype=object),
    "vertices": vertices,
    "vertices as integers": lambda space, Y: vertices(space, Y).astype(int),
    "vertices as booleans": lambda space, Y: vertices(space, Y).astype(bool),
    "vertices in columns": lambda space, Y: np.asfortranarray(vertices(space, Y)),
    "tuple of vertices": lambda space, Y: tuple(vertices(space, Y)),
}


@pytest.mark.parametrize("form", OUTPUTS)
def test_outputs_may_come_in_every_form(form):
    space = SPACES["softmax"]()
    X, labels = stream(space, rounds=50)
    given = OUTPUTS[form](space, labels)
    one, whole, steps = predictor(space), predictor(space), predictor(space)
    osp.run(one, X, labels)
    with plain_rounds(whole) as taken:
        osp.run(whole, X, given)
    assert not taken
    for x, y in zip(X, given, strict=True):
        steps.step(x, y)
    same_bits(one, whole)
    same_bits(one, steps)


class Particular(type(SPACES["clip"]())):
    """Labels are tuples of whole numbers, and nothing that only compares equal to them."""

    def compiled_parts(self):
        return super().compiled_parts()

    def from_label(self, label):
        if any(type(name) is not int for name in label):
            raise osp.errors.NotAVertexError(f"{label!r} is no label.")
        return super().from_label(label)


@pytest.mark.parametrize("equal", [(1.0, 2), (True, 2), (np.int64(1), 2)], ids=str)
def test_a_label_is_not_known_because_an_equal_one_was_seen(equal):
    subject = predictor(Particular(4))
    subject.step(np.full(6, 0.2), (1, 2))
    with pytest.raises(osp.errors.NotAVertexError):
        subject.step(np.full(6, 0.2), equal)


def test_arrays_of_objects_are_told_apart_by_what_they_hold():
    space = osp.make_space("hypercube", labels=[f"label {i}" for i in range(40)])
    subject = predictor(space)

    def learned(i):
        names = np.array([f"label {i}"], dtype=object)  # a new object, most likely where the last one was
        return subject.step(np.full(6, 0.1), names).y

    assert [learned(i).argmax() for i in range(40)] == list(range(40))


class Changing:
    """A label that can be looked up, and changes."""

    def __init__(self, name):
        self.name = name

    def __iter__(self):
        return iter([self.name])

    def __len__(self):
        return 1

    def __contains__(self, name):
        return name == self.name


def test_a_label_that_changes_is_read_again():
    space, label = SPACES["clip"](), Changing(1)
    subject = predictor(space)
    for name in (1, 3, 0):
        label.name = name
        assert subject.space.to_label(subject.step(np.full(6, 0.1), label).y) == {name}


SIZES = [1e-8, 1e-4, 1.0, 1e4, 1e8]


@pytest.mark.parametrize("space", SPACES)
def test_scores_of_every_size_are_learned_from_as_in_the_general_code(space):
    space = SPACES[space]()
    X, Y = stream(space, rounds=40)
    for size in (1e-8, 1e-4, 1.0, 1e4, 1e8):
        compiled, trace = run_with("numba", space, X, Y, osp.OGD(step_size=size))
        _, expected = run_with("numpy", space, X, Y, osp.OGD(step_size=size))
        scores = np.abs(X @ compiled.learner.weights.T).max()
        assert scores > 0.05 * size or space.dim == 1
        for name, atol in {"p": 1e-6, "expected_loss": 1e-6, "surrogate_loss": 1e-9 * (1 + size)}.items():
            one, other = getattr(trace, name), getattr(expected, name)
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=atol, err_msg=name)


def test_inputs_of_every_size_are_learned_from():
    space = SPACES["softmax"]()
    X, Y = stream(space, rounds=50)
    X[3] = 0.0
    for exponent in (-300, -90, -8, 8, 90):
        scale, bound = 10.0**exponent, 10.0 ** max(-90, exponent)
        subject = predictor(space, feature_bound=bound)
        with plain_rounds(subject) as taken:
            trace = osp.run(subject, X * scale, Y)
        assert not taken
        assert np.isfinite(trace.surrogate_loss).all()
        assert np.isfinite(subject.learner.weights).all()


def test_threads_that_share_a_predictor_leave_it_as_one_thread_would():
    space = SPACES["softmax"]()
    subject, alone = predictor(space), predictor(space)
    x, rounds = np.full(6, 0.3), 200
    records = []

    def work():
        for _ in range(rounds):
            record = subject.step(x, 1)
            records.append((record.surrogate_loss, record.expected_loss, record.p))
            subject.predict(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trace = osp.run(alone, np.tile(x, (4 * rounds, 1)), [1] * (4 * rounds))
    same_bits(subject, alone)
    np.testing.assert_array_equal(np.sort([record[0] for record in records]), np.sort(trace.surrogate_loss))


def test_no_more_labels_are_remembered_than_there_is_memory_for(monkeypatch):
    space = osp.make_space("simplex", d=20)
    X, Y = stream(space, rounds=60)
    whole = predictor(space)
    osp.run(whole, X, Y)
    monkeypatch.setattr("osp_core.compiled.encoding.MEMORY", 3 * (2 * 20 + 1))
    forgetful = predictor(space)
    for x, y in zip(X, Y, strict=True):
        forgetful.step(x, y)
        assert len(forgetful.compiled.feedback._revealed) <= 3
    same_bits(whole, forgetful)


@pytest.mark.parametrize("size", [1e4, 1e8])
def test_a_compiled_loss_between_points_of_nearly_equal_mass_is_exact_where_masses_differ(size):
    """ŷ − y sums to 9e-10 here, which counts: it is multiplied with large scores."""
    from fractions import Fraction

    theta, y = np.array([size, size, 9e-10]), np.array([1.0, 0.0, 0.0])
    y_hat = np.array([0.5, 0.5, 9e-10])
    parts = osp.make_space("hypercube", d=3).compiled_parts()
    entries = [[Fraction(entry) for entry in vector.tolist()] for vector in (theta, y, y_hat)]
    exact = sum((t - (a + b) / 2) * (b - a) for t, a, b in zip(*entries, strict=True))
    assert parts.loss(theta, parts.params, y, y_hat) == pytest.approx(float(exact), rel=1e-6)
