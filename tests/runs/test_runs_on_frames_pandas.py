"""Data frames of pandas in, labelled frames out."""

import numpy as np
import pandas
import pytest

import osp_core as osp
from osp_core.runs import DataError, RunConfig, execute, label_frame, load_model, open_table


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((120, 2))
    kinds = np.where(values[:, 0] > values[:, 1], "warm", "cold")
    return pandas.DataFrame({"in": values[:, 0], "out": values[:, 1], "kind": kinds}, index=range(1000, 1120))


def config(data, **changes):
    return RunConfig(space="simplex", data=data, label="kind", **changes)


def test_a_frame_is_learned_like_the_file_with_its_rows(frame, tmp_path):
    frame.to_csv(tmp_path / "d.csv", index=False)
    from_frame = execute(config(frame), tmp_path / "frame")
    from_file = execute(config(str(tmp_path / "d.csv")), tmp_path / "file")
    assert from_frame.summary["weights_sha256"] == from_file.summary["weights_sha256"]
    assert (tmp_path / "frame" / "run.toml").read_text().count("(a data frame)") == 1


def test_a_run_on_a_frame_is_resumed(frame, tmp_path):
    execute(config(frame, rounds=50), tmp_path / "out")
    resumed = execute(config(frame), tmp_path / "out", resume=True)
    assert (
        resumed.summary["weights_sha256"] == execute(config(frame), tmp_path / "s").summary["weights_sha256"]
    )


def test_a_frame_with_its_columns_in_another_order_is_continued_and_another_frame_is_not(frame, tmp_path):
    straight = execute(config(frame), tmp_path / "s")
    execute(config(frame, rounds=50), tmp_path / "out")
    with pytest.raises(DataError, match="data frame of pandas: this run has learned the 50 rows"):
        execute(config(frame[::-1]), tmp_path / "out", resume=True)
    resumed = execute(config(frame[["kind", "out", "in"]]), tmp_path / "out", resume=True)
    assert resumed.summary["weights_sha256"] == straight.summary["weights_sha256"]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (pandas.NA, "the label in column 'kind' is missing"),
        (pandas.NaT, "the label in column 'kind' is missing"),
        (pandas.Timestamp("2024-05-01"), "the label in column 'kind' is a Timestamp, 2024-05-01"),
        ("\udc80", "the label in column 'kind' holds .*half a character"),
    ],
)
def test_what_is_no_label_is_named_with_its_row(frame, label, message):
    frame["kind"] = frame["kind"].astype(object)
    frame.iloc[7, 2] = label
    with pytest.raises(DataError, match=f"data frame of pandas, row 8: {message}"):
        list(open_table(frame, "kind").rows())


def test_a_labelled_frame_has_the_rows_it_was_given(frame, tmp_path):
    execute(config(frame), tmp_path / "out")
    new = frame.drop(columns="kind")[["out", "in"]]
    labelled = label_frame(tmp_path / "out", new)
    pandas.testing.assert_frame_equal(labelled.drop(columns="prediction"), new)
    assert (labelled["prediction"] == frame["kind"]).mean() > 0.9
    assert "prediction" not in new.columns
    model = load_model(tmp_path / "out")
    expected = model.predictor.space.to_label(model.law(np.array([1.0, -1.0])).nearest)
    assert label_frame(model, pandas.DataFrame({"in": [1.0], "out": [-1.0]}))["prediction"][0] == expected


def test_random_labels_follow_the_law_and_the_generator(frame, tmp_path):
    execute(config(frame, rounds=5), tmp_path / "out")
    draws = [
        label_frame(tmp_path / "out", frame, column="drawn", rng=np.random.default_rng(seed))["drawn"]
        for seed in (1, 1, 2)
    ]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] != draws[2]).any()


def test_structured_outputs_are_written_as_files_have_them(tmp_path):
    data = pandas.DataFrame({"f": range(6), "kind": ["a>b", "b>a"] * 3})
    execute(RunConfig(space="permutahedron", data=data, label="kind"), tmp_path / "out")
    assert set(label_frame(tmp_path / "out", data)["prediction"]) <= {"a>b", "b>a"}


def test_a_column_is_not_overwritten(frame, tmp_path):
    execute(config(frame, rounds=5), tmp_path / "out")
    with pytest.raises(osp.InvalidInputError, match="has a column 'kind' already"):
        label_frame(tmp_path / "out", frame, column="kind")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"in": ["x", "y"]}, r"data frame of pandas, row 1: column 'in' must be a number, got 'x'"),
        ({"in": [1.0, np.nan]}, r"data frame of pandas, row 2: column 'in' must be finite"),
        ({"in": [1.0, None]}, r"data frame of pandas, row 2: column 'in'"),
        ({"kind": ["a", None]}, r"data frame of pandas, row 2: the label in column 'kind' is missing"),
        ({"king": ["a", "b"]}, r"data frame of pandas: there is no column 'kind'"),
    ],
)
def test_bad_frames_are_refused_with_their_row(changes, message):
    columns = {"in": [1.0, 2.0], "kind": ["a", "b"], **changes}
    if "king" in changes:
        del columns["kind"]
    with pytest.raises(DataError, match=message):
        list(open_table(pandas.DataFrame(columns), "kind").rows())


def test_what_is_no_frame_is_refused():
    with pytest.raises(
        osp.InvalidInputError, match=r"data frame of pandas or polars was expected, got ndarray"
    ):
        open_table(np.zeros((2, 2)), "kind")
