"""Labels as text: every output is read as it was written, and data say what a space is made of."""

import json

import numpy as np
import pytest

import osp_core as osp
from osp_core.runs import DataError, RunConfig, execute, load_model
from osp_core.runs.labels import plain_label, read_label, write_label
from osp_core.runs.prepare import prepare

SPACES = [
    ("simplex", {"classes": ["<=50K", ">50K", "a;b"]}),
    ("simplex", {"d": 4}),
    ("hypercube", {"labels": ["rain", "sun", "north-east"]}),
    ("hypercube", {"d": 3}),
    ("ordinal", {"categories": ["poor", "fair", "good"]}),
    ("ordinal", {"d": 3}),
    ("permutahedron", {"items": ["tea", "milk", "juice"]}),
    ("permutahedron", {"d": 4}),
    ("birkhoff", {"items": ["a", "b", "c"]}),
    ("birkhoff", {"n": 3}),
    ("k_subsets", {"elements": ["x", "y", "z"], "k": 2}),
    ("assignment", {"rows": ["ann", "bob"], "columns": ["mon", "tue", "wed"]}),
    ("assignment", {"m": 2, "n": 3}),
    ("matching", {"graph": [["a", "X"], ["a", "Y"], ["b", "X"], ["b", "Y"]]}),
    ("graphic_matroid", {"edges": [["a", "b"], ["b", "c"], ["a", "c"], ["c", "d"]]}),
    ("graphic_matroid", {"edges": [["new-york", "rome"], ["rome", "oslo"], ["new-york", "oslo"]]}),
    ("graphic_matroid", {"graph": 4}),
    ("partition_matroid", {"blocks": [[0, 1], [2, 3]], "capacities": [1, 1]}),
    ("vertices", {"array": [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "params"), SPACES)
def test_what_is_written_is_read(name, params, rng):
    space = osp.make_space(name, **params)
    for _ in range(20):
        vertex = space.lmo(rng.standard_normal(space.dim))
        label = space.to_label(vertex)
        np.testing.assert_array_equal(read_label(space, write_label(label)), vertex)
        as_json = json.loads(json.dumps(plain_label(label)))
        np.testing.assert_array_equal(read_label(space, as_json), vertex)


CSV = {
    "simplex": (["cat", "dog", "cat"], {"classes": ["cat", "dog"]}),
    "ordinal": (["10", "9", "2"], {"categories": ["2", "9", "10"]}),
    "hypercube": (["b;a", "", "c"], {"labels": ["a", "b", "c"]}),
    "k_subsets": (["a;b", "b;c", "c;a"], {"elements": ["a", "b", "c"], "k": 2}),
    "permutahedron": (["c>a>b", "a>b>c", "b>a>c"], {"items": ["a", "b", "c"]}),
    "birkhoff": (["c>a>b", "a>b>c", "b>a>c"], {"items": ["a", "b", "c"]}),
    "matching": (
        ["u-x;v-y", "v-x;u-y", "u-x;v-y"],
        {"graph": [["u", "x"], ["u", "y"], ["v", "x"], ["v", "y"]]},
    ),
    "assignment": (["u-x;v-y", "v-z;u-y", "u-x;v-y"], {"rows": ["u", "v"], "columns": ["x", "y", "z"]}),
    "graphic_matroid": (["a-b;b-c", "c-b;a-c", "a-b;a-c"], {"edges": [["a", "b"], ["a", "c"], ["b", "c"]]}),
}


def table(path, labels):
    path.write_text("f,g,label\n" + "".join(f"{i},{-i * i},{label}\n" for i, label in enumerate(labels)))
    return str(path)


@pytest.mark.parametrize("space", CSV)
def test_the_space_is_found_in_the_labels_of_a_file(tmp_path, space):
    labels, params = CSV[space]
    result = execute(RunConfig(space=space, data=table(tmp_path / "d.csv", labels)), tmp_path / "out")
    assert result.prepared.config.params == params
    assert result.summary["rounds"] == 3
    again = RunConfig.from_toml(tmp_path / "out" / "run.toml").beside(tmp_path / "out")
    assert again.params == params
    repeated = execute(again, tmp_path / "again")
    assert repeated.summary["weights_sha256"] == result.summary["weights_sha256"]
    assert load_model(tmp_path / "out").predictor.space.dim == result.prepared.space.dim


def test_given_classes_keep_their_order_and_other_labels_are_bad_rows(tmp_path):
    data = table(tmp_path / "d.csv", ["b", "a", "z", "b"])
    config = RunConfig(space="simplex", data=data, classes=("b", "unseen", "a"))
    with pytest.raises(DataError, match=r"d\.csv:4: label: 'z' is not one of the 3 classes"):
        prepare(config)
    prepared = prepare(RunConfig(space="simplex", data=data, classes=("b", "unseen", "a"), on_error="skip"))
    assert list(prepared.space.classes) == ["b", "unseen", "a"]
    assert prepared.total == 3


def test_a_label_that_is_new_after_resuming_is_a_bad_row(tmp_path):
    data = table(tmp_path / "d.csv", ["a", "b", "a"])
    config = RunConfig(space="simplex", data=data)
    execute(config, tmp_path / "out")
    with open(data, "a") as file:
        file.write("1,1,c\n2,0,b\n")
    with pytest.raises(DataError, match=r"d\.csv:5: label: 'c' is not one of the 2 classes"):
        execute(config, tmp_path / "out", resume=True)
    skipping = RunConfig(space="simplex", data=data, on_error="skip")
    resumed = execute(skipping, tmp_path / "out", resume=True)
    assert (resumed.summary["rounds"], resumed.summary["skipped_rows"]) == (4, 1)


def test_rows_beyond_the_bound_of_the_run_are_named(tmp_path):
    data = table(tmp_path / "d.csv", ["a", "b", "a"])
    execute(RunConfig(space="simplex", data=data), tmp_path / "out")
    with open(data, "a") as file:
        file.write("1000,1000,a\n")
    with pytest.raises(DataError, match=r"d\.csv:5: the features have norm .*, above the feature bound"):
        execute(RunConfig(space="simplex", data=data), tmp_path / "out", resume=True)


def test_a_column_of_measurements_is_no_label(tmp_path, monkeypatch):
    monkeypatch.setattr("osp_core.runs.infer_space.MOST_NAMES", 10)
    with pytest.raises(DataError, match=r"d\.csv:12: there are more than 10 different labels"):
        prepare(RunConfig(space="simplex", data=table(tmp_path / "d.csv", [f"{i}.5" for i in range(20)])))


def test_costs_are_feedback_where_the_target_is_decision_regret(tmp_path):
    lines = [{"f": i, "label": [float(i % 3 == k) for k in range(3)]} for i in range(9)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, lines)))
    config = RunConfig(
        space="simplex",
        params={"d": 3},
        data=str(tmp_path / "d.jsonl"),
        target="decision_regret",
        target_params={"gamma": 2.0},
    )
    result = execute(config, tmp_path / "out")
    assert result.summary["target"] == "decision_regret"
    # Class i % 3 costs 1 and the others nothing: whoever plays it pays.
    assert 0 <= result.summary["target_loss"] <= 9
    assert load_model(tmp_path / "out").predictor.target.name == "decision_regret"
