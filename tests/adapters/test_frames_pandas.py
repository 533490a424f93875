"""Data frames of pandas: in, out, and with their labels."""

import sys

import numpy as np
import pandas as pd
import pytest

import osp_core as osp
from osp_core.adapters.frames import make_frame, predict_frame, read_frame, trace_frame

FRAME = pd.DataFrame(
    {"a": [0.1, 0.2, -0.3], "b": [1, 0, 1], "kind": ["x", "y", "x"]}, index=["first", "second", "third"]
)


def test_a_frame_is_split_into_inputs_and_outputs():
    table = read_frame(FRAME, "kind")
    assert table.features == ("a", "b")
    assert np.array_equal(table.X, [[0.1, 1], [0.2, 0], [-0.3, 1]])
    assert table.y == ["x", "y", "x"]


def test_several_label_columns_are_sets():
    table = read_frame(FRAME.assign(kind=[0, 1, 1]), ["b", "kind"])
    assert table.features == ("a",)
    assert table.y == [{"b"}, {"kind"}, {"b", "kind"}]


def test_a_frame_runs_and_its_trace_comes_back_as_a_frame():
    table = read_frame(FRAME, "kind")
    predictor = osp.OnlinePredictor(osp.make_space("simplex", classes=["x", "y"]), 2, feature_bound=2.0)
    trace = osp.run(predictor, table.X, table.y)
    frame = trace_frame(trace)
    assert frame["round"].tolist() == [1, 2, 3]
    assert np.array_equal(frame["expected_loss"], trace.expected_loss)


def test_bad_columns_are_named():
    with pytest.raises(osp.InvalidInputError, match="no column 'c'"):
        read_frame(FRAME, "c")
    with pytest.raises(osp.InvalidInputError, match="must hold numbers"):
        read_frame(FRAME, "a")
    with pytest.raises(osp.InvalidInputError, match="no finite value in row 1"):
        read_frame(FRAME.assign(b=[1, None, 2]), "kind")
    with pytest.raises(osp.InvalidInputError, match="data frame"):
        read_frame({"a": 1}, "a")
    with pytest.raises(osp.InvalidInputError, match="library"):
        make_frame("arrow", {})


def test_an_absent_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(osp.MissingDependencyError, match="pip install polars"):
        make_frame("polars", {})


class Answers:
    """An estimator that has learned already."""

    classes_ = ("x", "y")

    def predict(self, frame):
        return np.array(["x"] * len(frame), dtype=object)

    def predict_proba(self, frame):
        return np.full((len(frame), 2), 0.5)


def test_answers_keep_the_row_labels_and_name_the_classes():
    said = predict_frame(Answers(), FRAME)
    assert said.index.tolist() == ["first", "second", "third"]
    assert said["prediction"].tolist() == ["x", "x", "x"]
    assert predict_frame(Answers(), FRAME, "predict_proba").columns.tolist() == ["x", "y"]
