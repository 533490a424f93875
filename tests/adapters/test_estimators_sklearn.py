"""The scikit-learn estimators: scikit-learn's own checks, and what it does not check."""

import importlib.util
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification, make_multilabel_classification
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import osp_core as osp
from osp_core.adapters.sklearn import (
    OnlineClassifier,
    OnlineMultilabelClassifier,
    OnlineStructuredEstimator,
)


def simplex_of(y):
    """The simplex of the classes in y."""
    return osp.make_space("simplex", classes=sorted(set(np.asarray(y).tolist())))


MEDIAN = "the nearest ordinal class is the median of the class probabilities, the check wants their mode"
FIXED_SIZE = "the check has rows with 0 to 5 labels, k-subsets have exactly k"
EXPECTED_FAILURES = {
    "ordinal": {"check_classifiers_train": MEDIAN},
    "k_subsets": {
        "check_classifiers_multilabel_representation_invariance": FIXED_SIZE,
        "check_classifiers_multilabel_output_format_predict": FIXED_SIZE,
        "check_classifiers_multilabel_output_format_predict_proba": FIXED_SIZE,
        "check_classifiers_multilabel_output_format_decision_function": FIXED_SIZE,
    },
}
# Skipped by scikit-learn itself unless scipy is imported in another mode; a test below runs it in that mode.
SKIPPED = {"check_array_api_input"}
if importlib.util.find_spec("pandas") is None:  # this check gives the estimator a data frame
    SKIPPED.add("check_classifier_data_not_an_array")

ESTIMATORS = [
    OnlineClassifier(),
    OnlineClassifier("ordinal"),
    OnlineClassifier(
        psi=osp.SquaredNorm(1.0), learner="parameter_free", scale="bound", average="online-to-batch"
    ),
    OnlineMultilabelClassifier(),
    OnlineMultilabelClassifier("k_subsets"),
    OnlineStructuredEstimator(simplex_of),
]


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose and look at them themselves
@pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda estimator: re.sub(r" at 0x\w+", "", str(estimator))
)
def test_passes_the_checks_of_scikit_learn(estimator):
    expected = EXPECTED_FAILURES.get(estimator.space, {})
    results = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=expected)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert failed == {}
    assert skipped <= SKIPPED
    assert sum(r["status"] == "passed" for r in results) >= 45


def test_the_check_that_needs_another_mode_of_scipy_passes_there():
    program = (
        "from sklearn.utils import estimator_checks\n"
        "from osp_core.adapters.sklearn import OnlineClassifier\n"
        "for estimator, check in estimator_checks.estimator_checks_generator(OnlineClassifier()):\n"
        "    if 'array_api' in str(check):\n"
        "        check(estimator); print('passed', check.func.__name__)\n"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    has_the_mode = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 14)
    assert run.stdout.split() == (["passed", "check_array_api_input"] if has_the_mode else [])


@pytest.fixture(scope="module")
def blobs():
    return make_classification(
        300, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, class_sep=1.5, random_state=1
    )


def progressive_accuracy(estimator, X, y):
    estimator.partial_fit(X[:1], y[:1], classes=np.unique(y))
    hits = 0
    for i in range(1, len(y)):
        hits += estimator.predict(X[i : i + 1])[0] == y[i]
        estimator.partial_fit(X[i : i + 1], y[i : i + 1])
    return hits / len(y)


def test_without_tuning_it_learns_digits_better_than_stochastic_gradient_descent():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    ours = progressive_accuracy(OnlineClassifier(), X, y)
    theirs = progressive_accuracy(SGDClassifier(random_state=0), X, y)
    assert ours > 0.86
    assert ours > theirs


def test_one_fit_is_many_partial_fits_bit_for_bit(blobs):
    X, y = blobs
    whole = OnlineClassifier(random_state=3).fit(X, y)
    parts = OnlineClassifier(random_state=3)
    for rows in np.array_split(np.arange(len(y)), 7):
        parts.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert np.array_equal(whole.predictor_.learner.weights, parts.predictor_.learner.weights)


def test_the_order_of_the_rows_is_respected(blobs):
    X, y = blobs
    forward = OnlineClassifier(random_state=0).fit(X, y)
    backward = OnlineClassifier(random_state=0).fit(X[::-1], y[::-1])
    assert not np.allclose(forward.decision_function(X), backward.decision_function(X))


def test_predictions_are_deterministic_and_samples_are_not(blobs):
    X, y = blobs
    model = OnlineClassifier().fit(X[:60], y[:60])
    assert np.array_equal(model.predict(X), model.predict(X))
    assert not np.array_equal(model.sample(X, random_state=0), model.sample(X, random_state=1))
    assert np.array_equal(model.sample(X, random_state=0), model.sample(X, random_state=0))


def test_samples_follow_the_law_of_the_decoder(blobs):
    X, y = blobs
    model = OnlineClassifier().fit(X[:40], y[:40])
    row = X[50:51]
    law = model.predictor_.decoder.law(model.space_.predict(model.decision_function(row)[0]))
    mean = (1 - law.p) * law.nearest + law.p * law.prediction.point
    drawn = model.sample(np.repeat(row, 4000, axis=0), random_state=5)
    frequency = np.array([(drawn == name).mean() for name in model.classes_])
    assert np.abs(frequency - mean).max() < 0.04


@pytest.mark.parametrize(
    "psi", [None, osp.SquaredNorm(1.0), osp.BinaryEntropy(1.0), osp.NegativeEntropy(1.0)], ids=str
)
def test_class_probabilities_of_ordinal_classes_mix_to_the_mean(psi):
    X, y = load_iris(return_X_y=True)
    model = OnlineClassifier("ordinal", psi=psi).fit(X, y)
    mixed = model.predict_proba(X) @ model.space_.vertices()
    assert np.allclose(mixed, model.predict_mean(X), atol=1e-12)


def test_the_average_of_the_iterates_is_what_online_to_batch_predicts_with(blobs):
    X, y = blobs
    model = OnlineClassifier(average="online-to-batch", random_state=0)
    total, classes = 0.0, np.unique(y)
    twin = OnlineClassifier(random_state=0)
    for i in range(50):
        before = 0.0 if i == 0 else twin.predictor_.learner.weights.copy()
        total = total + before
        twin.partial_fit(X[i : i + 1], y[i : i + 1], classes=classes)
    model.partial_fit(X[:50], y[:50], classes)
    assert np.allclose(model.engine_.weights, total / 50, atol=1e-12)
    assert not np.allclose(model.engine_.weights, model.predictor_.learner.weights)


@pytest.mark.parametrize("scale", ["unit", "bound"])
def test_sparse_and_dense_rows_give_the_same_model(blobs, scale):
    X, y = blobs
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = OnlineClassifier(scale=scale, random_state=0).fit(X, y)
    sparse = OnlineClassifier(scale=scale, random_state=0).fit(sp.csr_array(X), y)
    assert np.allclose(dense.decision_function(X), sparse.decision_function(sp.csr_array(X)), atol=1e-9)


def test_a_sparse_model_scales_by_root_mean_squares_and_leaves_zeros_alone(blobs):
    X, y = blobs
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = OnlineClassifier(random_state=0).fit(sp.csr_array(X), y)
    scaled = model.engine_.scaling.rows(sp.csr_array(X)).toarray()
    expected = np.column_stack([np.ones(len(X)), X / np.sqrt((X**2).mean(axis=0))])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(scaled, expected)
    assert np.allclose(model.engine_.scaling.rows(X), expected)


def test_the_running_statistics_are_those_of_the_rows_seen(blobs):
    X, y = blobs
    scaling = OnlineClassifier().fit(X, y).engine_.scaling
    expected = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(scaling.rows(X), expected)
    assert np.allclose(scaling.row(X[3]), expected[3])


@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_the_unit_of_a_feature_does_not_matter(blobs, factor):
    X, y = blobs
    model = OnlineClassifier(random_state=0).fit(X, y)
    other = OnlineClassifier(random_state=0).fit(X * factor, y)
    assert np.allclose(model.decision_function(X), other.decision_function(X * factor), atol=1e-6)


def test_rows_beyond_the_bound_are_shrunk_to_it(blobs):
    X, y = blobs
    model = OnlineClassifier(scale="bound", feature_bound=2.0).fit(X, y)
    scaled = model.engine_.scaling.rows(X)
    assert np.linalg.norm(scaled, axis=1).max() <= 1 + 1e-12
    long = np.linalg.norm(X, axis=1) > 2
    assert long.any()
    assert np.allclose(np.linalg.norm(scaled[long], axis=1), 1.0)
    learned = OnlineClassifier(scale="bound").fit(X, y).engine_.scaling
    assert learned.bound == pytest.approx(np.linalg.norm(X, axis=1).max())


def test_the_guarantee_of_what_ran_can_be_asked_for(blobs):
    X, y = blobs
    model = OnlineClassifier(learner="ogd").fit(X, y)
    assert model.predictor_.guarantee("expected", norm_U=1.0).value > 0


def test_a_class_that_was_not_named_is_refused_and_nothing_changes(blobs):
    X, y = blobs
    model = OnlineClassifier(random_state=0).partial_fit(X[y < 2], y[y < 2], classes=[0, 1])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="not named before"):
        model.partial_fit(X, y)
    assert np.array_equal(model.decision_function(X), before)


def test_rows_of_unknown_classes_can_be_ignored(blobs):
    X, y = blobs
    known = y < 2
    model = OnlineClassifier(unseen="ignore", random_state=0).partial_fit(X, y, classes=[0, 1])
    twin = OnlineClassifier(random_state=0).partial_fit(X[known], y[known], classes=[0, 1])
    assert np.array_equal(model.decision_function(X), twin.decision_function(X))


def test_a_growing_classifier_keeps_the_weights_it_has(blobs):
    X, y = blobs
    names = np.array(["b", "c", "a"])[y]  # the new class comes first in the order of the names
    model = OnlineClassifier(unseen="grow").partial_fit(X[y < 2], names[y < 2])
    weights = model.predictor_.learner.weights.copy()
    average = model.predictor_.average_weights.copy()
    model._settle_unseen(X, names, "grow")
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.predictor_.learner.weights, np.vstack([np.zeros(7), weights]))
    assert np.allclose(model.predictor_.average_weights, np.vstack([np.zeros(7), average]))
    for _ in range(5):
        model.partial_fit(X, names)
    assert (model.predict(X) == names).mean() > 0.6


def test_an_ordinal_class_that_appears_takes_its_place_in_the_order():
    X, y = load_iris(return_X_y=True)
    model = OnlineClassifier("ordinal", unseen="grow").partial_fit(X[y != 1], y[y != 1])
    weights = model.predictor_.learner.weights.copy()
    model._settle_unseen(X, y, "grow")
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.get_feature_names_out().tolist() == ["above_0", "above_1"]
    assert np.array_equal(model.predictor_.learner.weights, np.vstack([weights, np.zeros(5)]))
    with pytest.raises(ValueError, match="two classes"):
        OnlineClassifier("ordinal", unseen="grow").partial_fit(X[:5], y[:5])


def test_a_bad_row_leaves_the_model_as_it_was(blobs):
    X, y = blobs
    model = OnlineClassifier(random_state=0).fit(X, y)
    before = pickle.dumps(model)
    for row in (np.full((1, 6), np.nan), np.full((1, 6), 1e200)):
        with pytest.raises(ValueError, match=r"NaN|size"):
            model.partial_fit(row, [0])
    with pytest.raises(osp.OspError):
        model.engine_.learn(X[0], 17)
    after = pickle.loads(before)
    assert np.array_equal(after.decision_function(X), model.decision_function(X))
    assert after.engine_.scaling.count == model.engine_.scaling.count


def test_a_pickled_model_goes_on_bit_for_bit(blobs):
    X, y = blobs
    for model in (
        OnlineClassifier(random_state=0).fit(X[:100], y[:100]),
        OnlineStructuredEstimator("simplex", space_params={"d": 3}, target="zero_one").fit(X[:100], y[:100]),
    ):
        twin = pickle.loads(pickle.dumps(model))
        model.partial_fit(X[100:], y[100:])
        twin.partial_fit(X[100:], y[100:])
        assert np.array_equal(model.predictor_.learner.weights, twin.predictor_.learner.weights)


def test_clones_share_nothing_with_the_original(blobs):
    X, y = blobs
    learner = osp.OGD(step_size=0.3)
    model = OnlineClassifier(learner=learner, psi=osp.NegativeEntropy(0.5)).fit(X, y)
    twin = clone(model)
    assert learner.rounds == 0  # fit works on a copy of the learner
    assert not hasattr(twin, "engine_")
    assert twin.learner is not learner
    assert twin.psi == osp.NegativeEntropy(0.5)


def test_grid_search_runs_over_regularizers_and_learners_in_worker_processes(blobs):
    X, y = blobs
    grid = {
        "psi": [osp.NegativeEntropy(0.5), osp.SquaredNorm(1.0)],
        "learner": ["ogd", osp.PolyakOGD(100.0)],
    }
    search = GridSearchCV(OnlineClassifier(random_state=0), grid, cv=2, n_jobs=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.6


def test_it_works_in_pipelines_and_next_to_one_vs_rest(blobs):
    X, y = blobs
    pipeline = make_pipeline(FunctionTransformer(np.tanh), OnlineClassifier())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.6
    one_vs_rest = OneVsRestClassifier(OnlineClassifier()).fit(X, y)
    cube = OnlineMultilabelClassifier().fit(X, y)
    assert one_vs_rest.score(X, y) > 0.6
    assert cube.score(X, y) > 0.6


def test_multilabel_predictions_are_sets_and_their_means_the_laws(rng):
    X, Y = make_multilabel_classification(200, 10, n_classes=4, random_state=0)
    for psi in (None, osp.SquaredNorm(1.0)):
        model = OnlineMultilabelClassifier(psi=psi).fit(X, Y)
        assert (model.predict(X) != Y).mean() < 0.3
        assert set(np.unique(model.sample(X, 0))) <= {0, 1}
        assert np.array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


def test_k_subsets_keep_their_size(rng):
    X = rng.normal(size=(200, 5))
    top = np.argsort(-(X @ rng.normal(size=(5, 6))), axis=1)[:, :2]
    Y = np.zeros((200, 6), dtype=int)
    np.put_along_axis(Y, top, 1, axis=1)
    model = OnlineMultilabelClassifier("k_subsets").fit(X, Y)
    assert (model.predict(X).sum(axis=1) == 2).all()
    assert (model.sample(X, 0).sum(axis=1) == 2).all()
    assert (model.predict(X) != Y).mean() < 0.2


def test_rankings_are_learned_and_scored(rng):
    X = rng.normal(size=(300, 4))
    scores = X @ rng.normal(size=(4, 5))
    rankings = [np.argsort(-row).tolist() for row in scores]
    model = OnlineStructuredEstimator("permutahedron", space_params={"d": 5}, random_state=0)
    model.fit(X[:200], rankings[:200])
    assert model.score(X[200:], rankings[200:]) > 0.85
    first = model.predict(X[200:])[0]
    assert sorted(first) == list(range(5))
    assert cross_val_score(model, X, rankings, cv=2).mean() > 0.8


def test_features_per_coordinate_learn_one_weight_vector_for_all_cells(rng):
    space = osp.make_space("k_subsets", d=6, k=2)
    weights = np.array([2.0, -1.0, 0.5])
    X = rng.normal(size=(150, 6, 3))
    Y = [space.lmo(-(phi @ weights)) for phi in X]
    model = OnlineStructuredEstimator(space, features="per_coordinate", fit_intercept=False).fit(X, Y)
    assert model.engine_.weights.shape == (3,)
    assert model.score(X[100:], Y[100:]) > 0.8


def test_bad_parameters_are_named(blobs):
    X, y = blobs
    for bad, message in [
        ({"space": "torus"}, "simplex"),
        ({"scale": "none"}, "scale must be"),
        ({"average": "mean"}, "online-to-batch"),
        ({"learner": "adam"}, "no learner"),
        ({"learner": 3}, "learner must be"),
        ({"feature_bound": 2.0}, 'scale="bound"'),
        ({"epochs": 0}, "epochs"),
    ]:
        with pytest.raises((ValueError, LookupError), match=message):
            OnlineClassifier(**bad).fit(X, y)
    with pytest.raises(osp.InvalidInputError, match="There is no target"):
        OnlineStructuredEstimator("simplex", space_params={"d": 3}, target="spam").fit(X, y)
    with pytest.raises(osp.InvalidInputError, match="space must be"):
        OnlineStructuredEstimator().fit(X, y)


def test_a_product_estimated_with_another_psi_is_the_product_made_with_it():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, 3)), rng.integers(2, size=(60, 2))
    outputs = [(("no", "yes")[a], ("no", "yes")[b]) for a, b in Y]
    psi = osp.SquaredNorm(0.1)

    def factors():
        return [osp.make_space("simplex", classes=["no", "yes"]) for _ in range(2)]

    later = OnlineStructuredEstimator(osp.product(factors()), psi=psi, random_state=0).fit(X, outputs)
    at_once = OnlineStructuredEstimator(osp.product(factors(), psi=psi), random_state=0).fit(X, outputs)
    assert later.predictor_.certificate.a == at_once.predictor_.certificate.a
    assert later.predictor_.certificate.b == at_once.predictor_.certificate.b
    assert np.array_equal(later.decision_function(X), at_once.decision_function(X))
