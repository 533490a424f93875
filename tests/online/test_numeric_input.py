"""Numbers at the edge: too large, too short a format, masked, or no numbers at all; each an error of ours."""

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import osp_core as osp
from osp_core.errors import as_count, as_nonnegative, as_positive, as_rows, as_vector
from osp_core.persistence.atomic import write_text

SIMPLEX = osp.make_space("simplex", d=3)


def predictor(**options):
    return osp.OnlinePredictor(SIMPLEX, 2, seed=0, **options)


def of_features(**options):
    return predictor(model=osp.FeatureModel(2), **options)


# --- features whose Gram matrix overflows -----------------------------------------------------------------

FORMS = {"dense": np.array, "sparse": sparse.csr_array, "a sparse matrix": sparse.csr_matrix}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1e101, 1.5e154, 1e300, np.inf, np.nan])
def test_features_too_large_to_square_are_refused_and_change_nothing(form, size):
    subject = of_features(feature_bound=10.0)
    before = str(subject.state())
    phi = FORMS[form](np.array([[size, 0.0], [0.0, 0.1], [0.2, 0.0]]))
    for act in (lambda: subject.step(phi, 1), lambda: subject.play(phi), lambda: subject.predict(phi)):
        with pytest.raises(osp.InvalidInputError, match="at most 1e"):
            act()
    assert str(subject.state()) == before
    assert subject.guarantee().value > 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-8, 1.0, 1e99, 1e160, 1e300])
def test_the_size_of_features_is_their_largest_singular_value_at_any_scale(form, scale):
    rng = np.random.default_rng(1)
    for shape in ((3, 2), (2, 5), (4, 4)):
        phi = rng.standard_normal(shape)
        found = osp.FeatureModel(shape[1]).size(FORMS[form](scale * phi))
        assert found == pytest.approx(scale * np.linalg.norm(phi, 2), rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_the_size_of_features_is_never_a_number_where_they_are_none(form):
    model = osp.FeatureModel(2)
    assert np.isnan(model.size(FORMS[form](np.array([[np.nan, 1.0], [0.0, 1.0]]))))
    assert model.size(FORMS[form](np.array([[np.inf, 1.0], [0.0, 1.0]]))) == np.inf
    assert model.size(FORMS[form](np.zeros((2, 2)))) == 0.0


# --- inputs of fewer digits ---------------------------------------------------------------------------------


def rounded_unit_vectors(dtype, count=200, width=7, seed=0):
    """Vectors normalised in a short format, as people do: about half of them come out too long."""
    rows = np.random.default_rng(seed).standard_normal((count, width)).astype(dtype)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True).astype(dtype)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("verify", [False, True], ids=["compiled", "plain"])
def test_unit_vectors_of_few_digits_are_taken_and_shortened_to_the_bound(dtype, verify):
    X = rounded_unit_vectors(dtype)
    lengths = np.linalg.norm(X.astype(np.float64), axis=1)
    assert (lengths > 1 + 1e-9).sum() > 20  # there is something to shorten
    subject = osp.OnlinePredictor(SIMPLEX, 7, seed=0, verify=verify)
    for x, length in zip(X, lengths, strict=True):
        play = subject.play(x)
        values = play.x[0]
        assert np.linalg.norm(values) <= 1 + 1e-9
        np.testing.assert_allclose(values, x.astype(np.float64) / max(1.0, length), rtol=1e-9)
        subject.learn(play, 1)
    assert subject.guarantee().value > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rounds_one_by_one_in_a_run_and_in_plain_code_agree_on_inputs_of_few_digits(dtype):
    X, Y = rounded_unit_vectors(dtype), np.random.default_rng(1).integers(3, size=200)
    double = X.astype(np.float64)
    double /= np.maximum(1.0, np.linalg.norm(double, axis=1, keepdims=True))
    runs = [(double, False), (X, False), (sparse.csr_array(X.astype(np.float32)), False), (X, True)]
    if dtype is np.float16:
        del runs[2]  # scipy has no sparse matrices of float16
    traces = []
    for inputs, verify in runs:
        subject = osp.OnlinePredictor(SIMPLEX, 7, seed=0, verify=verify)
        traces.append(osp.run(subject, inputs, Y).surrogate_loss)
    subject = osp.OnlinePredictor(SIMPLEX, 7, seed=0)
    traces.append(np.array([subject.step(x, int(y)).surrogate_loss for x, y in zip(X, Y, strict=True)]))
    for trace in traces[1:]:
        np.testing.assert_allclose(trace, traces[0], rtol=1e-7)


def test_a_matrix_of_features_of_few_digits_is_shortened_too():
    phi = np.random.default_rng(0).standard_normal((3, 2))
    phi = (phi / np.linalg.norm(phi, 2) * (1 + 3e-7)).astype(np.float32)
    subject = of_features()
    for form in (np.array, sparse.csr_array):
        read = subject.play(form(phi)).x
        dense = read.toarray() if sparse.issparse(read) else read
        assert np.linalg.norm(dense, 2) <= 1 + 1e-12
        np.testing.assert_allclose(dense, phi, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_what_is_longer_than_rounding_explains_is_refused_whatever_its_digits(dtype):
    long = 1 + 20 * max(1e-9, float(np.finfo(dtype).eps))
    subject = predictor()
    for x in (
        np.array([long, 0.0], dtype=dtype),
        sparse.csr_array(np.array([[long, 0.0]], dtype=np.float64)),
    ):
        with pytest.raises(osp.InvalidInputError, match=r"norm 1\.0\d+, above the feature bound 1"):
            subject.step(x, 1)
    assert subject.learner.rounds == 0


# --- what is no number, or too large for one ----------------------------------------------------------------

NO_VECTORS = {
    "a huge whole number": [10**400, 0],
    "a huge negative number": [-(10**400), 0],
    "a huge fraction": [Fraction(10**400, 1), 0],
    "a huge decimal": [Decimal("1e4000"), 0],
    "a signalling decimal": [Decimal("sNaN"), 0],
    "masked entries": np.ma.array([0.1, 0.2], mask=[True, False]),
    "numbers in text": ["0.1", "0.2"],
    "numbers in bytes": [b"0.1", b"0.2"],
    "numbers and text": np.array([0.1, "0.2"], dtype=object),
    "dates": np.array(["2020", "2021"], dtype="M8[Y]"),
    "durations": np.array([0, 0], dtype="m8[s]"),
    "dates of Python": [datetime.date(2020, 1, 1)] * 2,
    "records": np.zeros(2, dtype=[("a", "f8")]),
    "complex numbers": [1j, 0],
    "a single number": np.array(0.5),
    "a single nothing": np.array(None),
    "missing values": [None, 0.1],
    "objects": [object(), object()],
    "lists of two lengths": [[1.0], [1.0, 2.0]],
    "a dictionary": {0: 0.1, 1: 0.2},
    "a set": {0.1, 0.2},
    "a generator": (0.1 for _ in range(2)),
}


@pytest.mark.parametrize("what", NO_VECTORS)
def test_what_is_no_vector_is_refused_everywhere_and_changes_nothing(what):
    x, subject, features = NO_VECTORS[what], predictor(), of_features()
    before = str(subject.state())
    acts = (
        lambda: subject.step(x, 1),
        lambda: subject.play(x),
        lambda: subject.predict(x),
        lambda: subject.law(x),
        lambda: features.step([x, x, x], 1),
        lambda: features.step(x, 1),
        lambda: osp.make_space("hypercube", d=2).lmo(x),
        lambda: osp.make_space("simplex", d=2).predict(x),
        lambda: osp.make_space("simplex", d=2).lmo_many([x]),
        lambda: osp.hamming.loss(x, np.zeros(2)),
        lambda: osp.run(predictor(), [x], [1]),
    )
    for number, act in enumerate(acts):
        if what == "masked entries" and number in (4, 8):
            continue  # a list of masked arrays is a list of arrays to numpy
        with pytest.raises(osp.OspError):
            act()
    assert str(subject.state()) == before


@pytest.mark.parametrize(
    "x",
    [
        [Decimal("0.5"), Fraction(1, 4)],
        [True, False],
        np.array([True, False]),
        np.array([1, 0], dtype=np.uint8),
        np.array([0.5, 0.25], dtype=">f8"),
        np.ma.array([0.5, 0.25]),
        np.array([0.5, 0.25], dtype=np.longdouble),
        (0.5, 0.25),
    ],
    ids=lambda x: getattr(getattr(x, "dtype", None), "str", type(x).__name__),
)
def test_numbers_of_every_kind_are_taken_for_what_they_are(x):
    expected = np.array([float(item) for item in x])
    assert as_vector(x, 2, "x").tobytes() == expected.tobytes()
    assert as_rows([list(x)], 2, "x").tobytes() == expected.tobytes()
    assert predictor(feature_bound=2.0).play(x).x[0].tobytes() == expected.tobytes()


def test_a_vector_of_the_usual_kind_is_passed_on_without_a_copy():
    x = np.array([0.5, 0.25])
    assert as_vector(x, 2, "x") is x


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("make", [predictor, of_features])
def test_a_buffer_may_be_used_again_before_its_feedback_comes(kind, make):
    rng = np.random.default_rng(0)
    buffer = 0.1 * rng.standard_normal((1, 2) if make is predictor else (3, 2))
    given = sparse.csr_array(buffer) if kind == "sparse" else (buffer[0] if make is predictor else buffer)
    subject, twin = make(), make()
    late, kept = subject.play(given), twin.play(given.copy())
    (given.data if kind == "sparse" else given)[...] = 9.0
    assert subject.learn(late, 2).surrogate_loss == twin.learn(kept, 2).surrogate_loss
    assert subject.learner.weights.tobytes() == twin.learner.weights.tobytes()


BAD_NUMBERS = {
    "a huge whole number": 10**400,
    "a whole number too long to print": 10**5000,
    "a number in text": "2",
    "a number in bytes": b"2",
    "a word": "much",
    "nothing": None,
    "a list": [1.0],
    "a vector": np.array([1.0, 2.0]),
    "a complex number": 1j,
    "not a number": np.nan,
    "infinity": np.inf,
    "a negative number": -1.0,
    "a signalling decimal": Decimal("sNaN"),
    "a number whose square overflows": 1e200,
}


@pytest.mark.parametrize("what", BAD_NUMBERS)
def test_a_number_that_cannot_be_is_refused_wherever_one_is_asked_for(what):
    value = BAD_NUMBERS[what]
    gap = osp.surrogate_gap(SIMPLEX)
    acts = {
        "as_positive": lambda: as_positive(value, "it"),
        "as_nonnegative": lambda: as_nonnegative(value, "it"),
        "as_count": lambda: as_count(value, "it"),
        "feature_bound": lambda: predictor(feature_bound=value),
        "inexactness": lambda: predictor(inexactness=[value]),
        "n_features": lambda: osp.OnlinePredictor(SIMPLEX, value),
        "scale": lambda: osp.FenchelYoungLoss(SIMPLEX, value),
        "step_size": lambda: osp.OGD(value if value is not None else -1),
        "diameter": lambda: osp.AdaptiveOGD(value),
        "wealth": lambda: osp.ParameterFree(wealth=value),
        "norm_U": lambda: predictor().guarantee(norm_U=value),
        "norm_U of the bettor": lambda: predictor(learner=osp.ParameterFree()).guarantee(norm_U=value),
        "norm_U of a ball": lambda: predictor(learner=osp.AdaptiveOGD(4.0)).guarantee(norm_U=value),
        "delta": lambda: predictor().guarantee("high_probability", delta=value),
        "path_length": lambda: predictor(learner=osp.PolyakOGD(4.0)).guarantee(
            "nonstationary", path_length=value
        ),
        "expected_bound": lambda: gap.expected_bound(value),
        "parameter_free_bound": lambda: gap.parameter_free_bound(value),
        "nonstationary_bound": lambda: gap.nonstationary_bound(2.0, value),
    }
    for act in acts.values():
        with pytest.raises(osp.OspError):
            act()


@pytest.mark.parametrize("norm_U", [0.0, 1e-100, 1.0, 1e50, 1e100])
@pytest.mark.parametrize("bound", [1e-90, 1e-8, 1.0, 1e8, 1e90, 1e100])
def test_a_guarantee_is_a_number_or_an_error_of_ours(norm_U, bound):
    learners = (osp.OGD(), osp.ParameterFree(), osp.AdaptiveOGD(1e100), osp.PolyakOGD(1e100))
    for learner in learners:
        subject = predictor(feature_bound=bound, learner=learner)
        for kind in ("expected", "high_probability", "nonstationary"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    value = subject.guarantee(kind, norm_U=norm_U).value
                except osp.OspError:
                    continue
            assert np.isfinite(value)


@pytest.mark.parametrize("n_features", [10**12, 2**62, 2**63 - 1, 2**63, 10**400])
def test_more_features_than_memory_can_hold_are_refused(n_features):
    with pytest.raises(osp.InvalidInputError):
        osp.OnlinePredictor(SIMPLEX, n_features)


def test_masked_inputs_are_not_learned_from_in_a_run_either():
    X = np.ma.array(np.full((4, 2), 0.1), mask=[[0, 0], [0, 0], [0, 1], [0, 0]])
    subject = predictor()
    assert len(subject.learn_many(X, [0, 1, 2, 0])) == 0
    with pytest.raises(osp.InvalidInputError, match="Round 3: x has masked entries"):
        osp.run(subject, X, [0, 1, 2, 0])
    assert subject.learner.rounds == 2


@pytest.mark.parametrize("kind", ["simplex", "hypercube", "ordinal", "permutahedron", "k_subsets", "product"])
def test_labels_that_are_no_labels_are_refused_and_are_no_vertices(kind):
    options = {"k_subsets": {"k": 1}, "product": {"spaces": [SIMPLEX, SIMPLEX]}}
    sizes = {} if kind == "product" else {"d": 3}
    space = osp.make_space(kind, **sizes, **options.get(kind, {}))
    masked = np.ma.array(space.lmo(np.ones(space.dim)), mask=[True] + [False] * (space.dim - 1))
    odd = [np.array(0.5), np.array(None), np.ma.masked, masked, [10**400] * space.dim, object(), "\ud800"]
    for label in odd:
        assert space.is_vertex(label) is False
        with pytest.raises(osp.NotAVertexError):
            space.as_vertex(label)


def test_an_array_without_an_axis_is_the_label_in_it():
    named = osp.make_space("simplex", classes=["a", "b"])
    assert named.as_vertex(np.array("b")).tolist() == [0.0, 1.0]
    assert SIMPLEX.as_vertex(np.array(2)).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", ["simplex", "hypercube"])
def test_labels_that_are_no_unicode_are_learned_from_and_refused_by_files(tmp_path, kind):
    half, path = "\ud800", tmp_path / "x.ckpt"
    names = {"classes" if kind == "simplex" else "labels": ["a", half]}
    subject = osp.OnlinePredictor(osp.make_space(kind, **names), 2, seed=0)
    subject.step([0.1, 0.2], half if kind == "simplex" else [half])
    with pytest.raises(osp.OspError, match="surrogates not allowed"):
        subject.save(path)
    assert not path.exists()
    with pytest.raises(osp.NotAVertexError):
        subject.step([0.1, 0.2], half + half)
    with pytest.raises(osp.UnknownNameError):
        osp.make_space(half)


@pytest.mark.parametrize("name", ["\ud800.ckpt", "\0.ckpt"], ids=["half a character", "a zero"])
def test_file_names_that_are_no_text_are_refused(tmp_path, name):
    with pytest.raises(osp.OspError, match="cannot be written"):
        predictor().save(tmp_path / name)
    with pytest.raises(osp.OspError):
        osp.OnlinePredictor.load(tmp_path / name)


def test_text_that_is_no_unicode_does_not_leave_half_a_file(tmp_path):
    write_text(tmp_path / "x.csv", "label\n")
    with pytest.raises(osp.OspError, match="surrogates not allowed"):
        write_text(tmp_path / "x.csv", "label\n\ud800\n")
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]
    assert (tmp_path / "x.csv").read_text() == "label\n"
