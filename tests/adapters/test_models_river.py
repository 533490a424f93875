"""The river models: river's own checks, and what it does not check."""

import pickle

import numpy as np
import pytest
from river import checks, datasets, evaluate, linear_model, metrics, multiclass, preprocessing

import osp_core as osp
from osp_core.adapters.river import (
    OnlineClassifier,
    OnlineMultilabelClassifier,
    OnlineOrdinalClassifier,
)

MODELS = [
    OnlineClassifier(),
    OnlineOrdinalClassifier(),
    OnlineMultilabelClassifier(),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_passes_the_checks_of_river(model, monkeypatch):
    # river checks multilabel models on a set that it downloads; Yeast comes with it.
    monkeypatch.setattr(datasets, "Music", datasets.Yeast)
    passed = 0
    assert model._unit_test_skips() == set()
    for check in checks.yield_checks(model):
        check(model.clone())
        passed += 1
    assert passed >= 25


def segments(rounds):
    return list(datasets.ImageSegments().take(rounds))


def accuracy(model, stream):
    hits = 0
    for x, y in stream:
        hits += model.predict_one(x) == y
        model.learn_one(x, y)
    return hits / len(stream)


def test_without_tuning_it_is_more_accurate_than_rivers_linear_classifiers():
    stream = segments(1000)
    ours = accuracy(OnlineClassifier(), stream)
    for theirs in (
        preprocessing.StandardScaler() | linear_model.SoftmaxRegression(),
        preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.PAClassifier()),
    ):
        assert ours > accuracy(theirs, stream)


def test_it_runs_in_progressive_validation_and_in_pipelines():
    model = preprocessing.StandardScaler() | OnlineClassifier()
    score = evaluate.progressive_val_score(segments(300), model, metrics.Accuracy())
    assert score.get() > 0.7


def test_the_order_in_which_names_appear_does_not_matter_to_the_predictions(rng):
    stream = segments(120)
    model, other = OnlineClassifier(seed=0), OnlineClassifier(seed=0)
    for x, y in stream:
        model.learn_one(x, y)
        other.learn_one(dict(reversed(x.items())), y)
    x = stream[0][0]
    assert model.predict_proba_one(x) == pytest.approx(other.predict_proba_one(x))


def test_inputs_are_standardised_by_what_was_seen():
    stream = segments(80)
    model = OnlineClassifier(seed=0)
    for x, y in stream:
        model.learn_one(x, y)
    X = np.array([list(x.values()) for x, _ in stream])
    mean, spread = X.mean(axis=0), X.std(axis=0)
    scaling = model._engine.scaling
    assert np.allclose(scaling.mean, mean)
    assert np.allclose(scaling.factors[spread > 1e-9], 1 / spread[spread > 1e-9])


def test_features_that_appear_late_start_at_weight_zero_and_keep_the_rest():
    model = OnlineClassifier(seed=0)
    for x, y in segments(60):
        model.learn_one(x, y)
    x = segments(1)[0][0]
    before = model.predict_proba_one(x)
    assert model.predict_proba_one({**x, "new": 5.0}) == before  # unknown names are ignored
    weights = model.predictor.learner.weights.copy()
    model._features.admit({**x, "new": 5.0})
    model._engine.grow(40)
    assert np.array_equal(model.predictor.learner.weights[:, :19], weights)
    assert not model.predictor.learner.weights[:, 19:].any()
    assert model.predict_proba_one(x) == pytest.approx(before)


def test_hashed_names_need_no_memory_and_agree_between_processes():
    model = OnlineClassifier(hash_features=8)
    vector = model._features.vector({"a": 1.0, "b": 2.0, ("c", 1): 3.0}, 8)
    assert np.abs(vector).sum() <= 6.0
    assert np.array_equal(
        vector, OnlineClassifier(hash_features=8)._features.vector({"a": 1, "b": 2, ("c", 1): 3}, 8)
    )
    assert np.flatnonzero(model._features.vector({"a": 1.0}, 8)).tolist() == [5]


def test_ordinal_categories_are_sorted_as_they_come_and_probabilities_sum_to_one():
    model = OnlineOrdinalClassifier()
    assert model.predict_one({"a": 1.0}) is None
    model.learn_one({"a": 0.5}, 3)
    assert model.predict_one({"a": 1.0}) == 3
    for level in (5, 1, 4, 1, 5, 3) * 20:
        model.learn_one({"a": float(level)}, level)
    assert list(model.predict_proba_one({"a": 5.0})) == [1, 3, 4, 5]
    assert sum(model.predict_proba_one({"a": 5.0}).values()) == pytest.approx(1.0)
    assert model.predict_one({"a": 5.0}) > model.predict_one({"a": 1.0})


def test_named_categories_are_the_only_ones():
    model = OnlineOrdinalClassifier(categories=("low", "mid", "high"))
    model.learn_one({"a": 1.0}, "mid")
    assert list(model.predict_proba_one({"a": 1.0})) == ["low", "mid", "high"]
    with pytest.raises(osp.InvalidInputError, match="not one of the categories"):
        model.learn_one({"a": 1.0}, "top")
    unordered = OnlineOrdinalClassifier()
    unordered.learn_one({"a": 1.0}, "mid")
    with pytest.raises(osp.InvalidInputError, match="categories="):
        unordered.learn_one({"a": 1.0}, 3)


def test_multilabel_targets_may_bring_new_labels_and_leave_out_false_ones():
    model = OnlineMultilabelClassifier()
    for _ in range(30):
        model.learn_one({"a": 1.0, "b": -1.0}, {"sun": True})
        model.learn_one({"a": -1.0, "b": 1.0}, {"rain": True, "wind": True})
    assert model.predict_one({"a": 1.0, "b": -1.0}) == {"sun": True, "rain": False, "wind": False}
    probabilities = model.predict_proba_one({"a": -1.0, "b": 1.0})
    assert probabilities["rain"][True] > 0.5 > probabilities["sun"][True]


def test_a_fixed_number_of_labels_is_kept():
    model = OnlineMultilabelClassifier(k=1)
    for _ in range(20):
        model.learn_one({"a": 1.0}, {"sun": True, "rain": False, "wind": False})
        model.learn_one({"a": -1.0}, {"sun": False, "rain": True, "wind": False})
    assert sum(model.predict_one({"a": 1.0}).values()) == 1
    with pytest.raises(osp.InvalidInputError):
        model.learn_one({"a": 1.0}, {"sun": True, "rain": True, "wind": False})


def test_a_bad_round_changes_nothing():
    model = OnlineClassifier(seed=0)
    for x, y in segments(40):
        model.learn_one(x, y)
    x, y = segments(1)[0]
    before = model.predict_proba_one(x)
    for bad in ({**x, next(iter(x)): "red"}, {**x, next(iter(x)): float("nan")}):
        with pytest.raises(osp.InvalidInputError):
            model.learn_one(bad, y)
        with pytest.raises(osp.InvalidInputError):
            model.learn_one(bad, "a new class")
    assert model.predict_proba_one(x) == before


def test_a_pickled_model_goes_on_as_if_nothing_had_happened():
    stream = segments(120)
    model = OnlineClassifier(seed=0)
    for x, y in stream[:60]:
        model.learn_one(x, y)
    twin = pickle.loads(pickle.dumps(model))
    for x, y in stream[60:]:
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert twin.predict_proba_one(stream[0][0]) == model.predict_proba_one(stream[0][0])
