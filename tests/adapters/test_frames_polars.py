"""Data frames of polars: the same as those of pandas, without row labels."""

import numpy as np
import polars as pl
import pytest

import osp_core as osp
from osp_core.adapters.frames import read_frame, trace_frame

FRAME = pl.DataFrame({"a": [0.1, 0.2, -0.3], "b": [1, 0, 1], "kind": ["x", "y", "x"]})


def test_a_frame_is_split_into_inputs_and_outputs():
    table = read_frame(FRAME, "kind")
    assert np.array_equal(table.X, [[0.1, 1], [0.2, 0], [-0.3, 1]])
    assert table.y == ["x", "y", "x"]
    assert read_frame(FRAME, "kind", features=["b"]).features == ("b",)


def test_gaps_are_refused():
    with pytest.raises(osp.InvalidInputError, match="no finite value in row 0"):
        read_frame(FRAME.with_columns(b=pl.lit(None)), "kind")


def test_a_trace_comes_back_as_a_frame():
    predictor = osp.OnlinePredictor(osp.make_space("simplex", classes=["x", "y"]), 2, feature_bound=2.0)
    table = read_frame(FRAME, "kind")
    frame = trace_frame(osp.run(predictor, table.X, table.y), "polars")
    assert frame.shape == (3, 6)
