"""Estimators of scikit-learn fed with data frames of whatever library is there."""

import importlib.util

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from osp_core.adapters.frames import LIBRARIES, make_frame, predict_frame
from osp_core.adapters.sklearn import OnlineClassifier, OnlineMultilabelClassifier

INSTALLED = [library for library in LIBRARIES if importlib.util.find_spec(library)]


@pytest.mark.parametrize("library", INSTALLED)
def test_answers_are_labelled_frames_of_the_same_library(library):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frame = make_frame(library, dict(zip(["a", "b", "c", "d"], X.T, strict=True)))
    model = OnlineClassifier().fit(frame, names)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    said = predict_frame(model, frame)
    assert type(said) is type(frame)
    assert list(said["prediction"]) == model.predict(frame).tolist()
    proba = predict_frame(model, frame, "predict_proba")
    assert list(proba.columns) == ["setosa", "versicolor", "virginica"]
    levels = OnlineClassifier("ordinal").fit(frame, names)
    assert list(predict_frame(levels, frame, "predict_mean").columns) == ["above_setosa", "above_versicolor"]
    assert list(predict_frame(levels, frame, "predict_proba").columns) == [
        "setosa",
        "versicolor",
        "virginica",
    ]
    pipeline = make_pipeline(FunctionTransformer(), OnlineClassifier()).fit(frame, names)
    assert list(predict_frame(pipeline, frame, "sample", random_state=0).columns) == ["prediction"]


@pytest.mark.parametrize("library", INSTALLED)
def test_label_columns_keep_their_names(library):
    X, y = load_iris(return_X_y=True)
    frame = make_frame(library, dict(zip(["a", "b", "c", "d"], X.T, strict=True)))
    labels = make_frame(library, {"small": (y == 0).astype(int), "known": (y < 2).astype(int)})
    model = OnlineMultilabelClassifier().fit(frame, labels)
    assert model.classes_.tolist() == ["small", "known"]
    assert list(predict_frame(model, frame).columns) == ["small", "known"]
    if library == "pandas":
        transformed = model.set_output(transform="pandas").transform(frame)
        assert transformed.columns.tolist() == ["small", "known"]
