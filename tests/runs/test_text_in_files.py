"""Text from files: one way to write a name, no ambiguity, and nothing that could not be written again."""

import csv
import json
import unicodedata
import zipfile

import numpy as np
import pytest

import osp_core as osp
from osp_core.persistence.archive import CheckpointError, read_checkpoint
from osp_core.runs import DataError, RunConfig, execute, load_model, open_table
from osp_core.runs.labels import read_label, write_label
from osp_core.sweeps import Store, StoreError, read_grid

COMPOSED, TAKEN_APART = "café", "cafe\u0301"


def json_lines(path, labels, column="y"):
    lines = [json.dumps({"a": number, column: label}) for number, label in enumerate(labels)]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(path, out, **changes):
    return execute(RunConfig.of({"space": "simplex", "data": str(path), "label": "y", **changes}), out)


# --- keys that are there twice ----------------------------------------------------------------------------


def test_a_key_that_is_twice_in_a_line_of_json_is_a_bad_row(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"a": 1, "y": "u"}\n{"a": 1, "y": "u", "a": 2}\n{"a": 3, "y": "v"}\n')
    with pytest.raises(DataError, match=r"d\.jsonl:2: the key 'a' is there twice"):
        list(open_table(path, "y").rows())
    assert [row.line for row in open_table(path, "y").rows(skip_bad=True)] == [1, 3]
    path.write_text('{"a": 1, "y": {"k": 1, "k": 2}}\n')
    with pytest.raises(DataError, match=r"d\.jsonl:1: the key 'k' is there twice"):
        open_table(path, "y")
    path.write_text(f'{{"a": 1, "{COMPOSED}": 1, "{TAKEN_APART}": 2, "y": "u"}}\n')
    with pytest.raises(DataError, match=f"d\\.jsonl:1: the key '{COMPOSED}' is there twice"):
        open_table(path, "y")


@pytest.mark.parametrize("read", [RunConfig.from_toml, read_grid], ids=["run file", "sweep file"])
def test_a_setting_that_is_twice_in_a_file_is_refused_with_its_line(tmp_path, read):
    (tmp_path / "f.toml").write_text('space = "simplex"\nstream = "x"\nspace = "ordinal"\n')
    with pytest.raises(osp.InvalidInputError, match=r"f\.toml: .*line 3.*: space = \"ordinal\""):
        read(tmp_path / "f.toml")


def test_a_run_file_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "f.toml").write_bytes(b'\xef\xbb\xbfspace = "simplex"\r\nstream = "linear_teacher"\r\n')
    assert RunConfig.from_toml(tmp_path / "f.toml").space == "simplex"


def test_a_key_that_is_twice_in_a_header_or_a_store_is_refused(tmp_path):
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=2), 1, seed=0)
    predictor.save(tmp_path / "x.ckpt")
    with zipfile.ZipFile(tmp_path / "x.ckpt") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["header.json"] = members["header.json"].replace(b'"schema": 1', b'"schema": 1, "schema": 1')
    with zipfile.ZipFile(tmp_path / "x.ckpt", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(CheckpointError, match="the key 'schema' is there twice"):
        read_checkpoint(tmp_path / "x.ckpt")
    row = b'{"schema": 1, "key": "a", "status": "done", "config": {}, "key": "b"}\n'
    (tmp_path / "results.jsonl").write_bytes(row * 2)
    with pytest.raises(StoreError, match=r"results\.jsonl:1 is damaged: the key 'key' is there twice"):
        Store(tmp_path)


# --- names that look the same are the same ----------------------------------------------------------------


def test_labels_that_differ_in_their_code_points_only_are_one_class(tmp_path):
    path = json_lines(tmp_path / "d.jsonl", [COMPOSED, TAKEN_APART, "tea", f" {COMPOSED} ", "tea\u00a0"])
    result = run(path, tmp_path / "out")
    assert result.prepared.config.params == {"classes": [COMPOSED, "tea"]}
    given = run(path, tmp_path / "given", classes=("tea", TAKEN_APART))
    assert given.prepared.config.params == {"classes": ["tea", COMPOSED]}
    params = run(path, tmp_path / "params", params={"classes": [TAKEN_APART, "tea"]})
    assert params.summary["rounds"] == 5
    with pytest.raises(osp.InvalidInputError, match="classes names something twice"):
        RunConfig(space="simplex", data=path, classes=(COMPOSED, TAKEN_APART))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "npz"])
def test_columns_are_found_however_their_names_are_encoded(tmp_path, ending):
    label, feature = (unicodedata.normalize("NFD", name) for name in ("étiquette", "ä"))
    path = tmp_path / f"d.{ending}"
    if ending == "csv":
        path.write_text(f"{feature},b,{label}\n1,2,u\n3,4,v\n", encoding="utf-8")
    elif ending == "jsonl":
        path.write_text("".join(json.dumps({feature: i, "b": i, label: "uv"[i]}) + "\n" for i in (0, 1)))
    else:
        np.savez(path, X=np.eye(2), **{label: np.array(["u", "v"])})
    result = run(path, tmp_path / "out", label="étiquette")
    columns = ("X[0]", "X[1]") if ending == "npz" else ("ä", "b")
    assert result.prepared.config.columns == columns
    assert load_model(tmp_path / "out").columns == columns


def test_two_columns_whose_names_look_the_same_are_refused(tmp_path):
    (tmp_path / "d.csv").write_text(f"{COMPOSED},{TAKEN_APART},y\n1,2,u\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"d\\.csv:1: two columns are called '{COMPOSED}'"):
        open_table(tmp_path / "d.csv", "y")


# --- what is no text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1, "y": "\\ud800"}', r":2: column 'y' .*'\\ud800'"),
        ('{"a": 1, "y": ["u", "\\udfff"]}', r":2: column 'y' .*'\\udfff'"),
        ('{"a": 1, "y": "u", "note": "\\ud83d"}', r":2: column 'note' .*'\\ud83d'"),
        ('{"a": 1, "y": "u", "\\udc00": 1}', r":2: the name of a column .*'\\udc00'"),
    ],
)
def test_half_a_character_is_a_bad_row_that_names_its_column(tmp_path, line, message):
    path = tmp_path / "d.jsonl"
    path.write_text('{"a": 1, "y": "u", "note": "\\ud83d\\ude00"}\n' + line + '\n{"a": 2, "y": "v"}\n')
    settings = {"drop": ("note",), "params": {"classes": ["u", "v"]}}
    with pytest.raises(DataError, match=rf"d\.jsonl{message}.*half a character"):
        run(path, tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()
    assert run(path, tmp_path / "out", on_error="skip", **settings).summary["skipped_rows"] == 1


def test_half_a_character_in_a_setting_is_refused_before_anything_is_written(tmp_path):
    path = json_lines(tmp_path / "d.jsonl", ["u", "v"])
    for changes in ({"params": {"classes": ["u", "\ud800"]}}, {"target": "zero_one\udcff"}):
        with pytest.raises(osp.OspError):
            run(path, tmp_path / "out", **changes)
    with pytest.raises(osp.InvalidInputError, match=r"'\\udcff' cannot be written to a run file"):
        execute(
            RunConfig(space="simplex", params={"d": 2}, stream="linear_teacher", rounds=5, label="\udcff"),
            tmp_path / "out",
        )
    strange = json_lines(tmp_path / "d\udcff.jsonl", ["u", "v"])  # a name that is no UTF-8
    with pytest.raises(osp.InvalidInputError, match="cannot be written to a run file"):
        run(strange, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_store_keeps_a_message_with_half_a_character(tmp_path):
    row = {"schema": 1, "key": "a", "status": "done", "config": {"data": "d\udcff.csv", "ψ": "ü"}}
    with Store(tmp_path) as store:
        store.append(row)
    with Store(tmp_path) as store:
        assert store.done() == {"a": row}
    assert "ü" in (tmp_path / "results.jsonl").read_text(encoding="utf-8")


def test_bytes_are_labels_where_they_are_text(tmp_path):
    np.savez(tmp_path / "d.npz", X=np.eye(3), y=np.array(["ü".encode(), b"v ", b"v"]))
    assert [row.label for row in open_table(tmp_path / "d.npz", "y").rows()] == ["ü", "v", "v"]
    np.savez(tmp_path / "d.npz", X=np.eye(2), y=np.array([b"v", b"\xff\xfe"]))
    with pytest.raises(DataError, match=r"d\.npz, row 2: the label in column 'y' .*no UTF-8 text"):
        list(open_table(tmp_path / "d.npz", "y").rows())
    np.savez(tmp_path / "d.npz", X=np.eye(2), y=np.array(["2024-05-01", "2024-05-02"], dtype="datetime64[D]"))
    with pytest.raises(DataError, match=r"'y' has the type datetime64\[D\]"):
        open_table(tmp_path / "d.npz", "y")


# --- long, empty and strange labels ------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["x" * 200_000, ["u", "x" * 200_000]])
def test_a_label_as_long_as_a_book_is_a_bad_row(tmp_path, label):
    path = json_lines(tmp_path / "d.jsonl", ["u", label, "v"])
    with pytest.raises(DataError, match=r":2: the label in column 'y' has text of 200000 characters"):
        run(path, tmp_path / "out", space="hypercube")
    assert run(path, tmp_path / "out", on_error="skip").summary["skipped_rows"] == 1


def test_labels_that_are_long_in_all_are_refused_before_the_first_round(tmp_path):
    path = json_lines(tmp_path / "d.jsonl", [f"{i}{'x' * 100_000}" for i in range(30)])
    with pytest.raises(DataError, match=r"d\.jsonl:\d+: .*characters.*is this the right column"):
        run(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_an_empty_label_is_a_bad_row_for_classes_and_the_empty_set_for_sets(tmp_path, ending):
    path, labels = tmp_path / f"d.{ending}", ["u", "", "v", "  "]
    if ending == "jsonl":
        json_lines(path, labels)
    else:
        path.write_text("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    with pytest.raises(DataError, match=r"label: '' is not one of the 2 classes"):
        run(path, tmp_path / "out")
    assert run(path, tmp_path / "out", space="hypercube").summary["rounds"] == 4


def test_a_class_may_have_any_printable_or_unprintable_character(tmp_path):
    labels = ["a\tb", "c\r\nd", "e\x01f", "g\u2028h", "NaN", "null", "=1+1", "[x", "\ufeff"]
    path = json_lines(tmp_path / "d.jsonl", labels)
    result = run(path, tmp_path / "out")
    assert set(result.prepared.space.classes) == set(labels)
    again = RunConfig.from_toml(tmp_path / "out" / "run.toml").beside(tmp_path / "out")
    assert execute(again, tmp_path / "again").summary["weights_sha256"] == result.summary["weights_sha256"]
    assert set(load_model(tmp_path / "out").predictor.space.classes) == set(labels)


# --- separators in names ----------------------------------------------------------------------------------

NASTY = ["a;b", "c", "d>e", "f-g", "h--i", "[j", '"k"', "1"]


@pytest.mark.parametrize("count", range(2, len(NASTY) + 1))
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("hypercube", lambda names: {"labels": names}),
        ("permutahedron", lambda names: {"items": names}),
        ("birkhoff", lambda names: {"items": names}),
        ("assignment", lambda names: {"rows": names, "columns": [f"{n}-" for n in names]}),
        ("graphic_matroid", lambda names: {"edges": [[u, v] for u in names for v in names if u < v]}),
    ],
)
def test_what_is_written_is_read_whatever_is_in_the_names(name, make, count):
    space, rng = osp.make_space(name, **make(NASTY[:count])), np.random.default_rng(count)
    for _ in range(10):
        vertex = space.lmo(rng.standard_normal(space.dim))
        text = write_label(space.to_label(vertex))
        np.testing.assert_array_equal(read_label(space, text), vertex, err_msg=text)


def test_plain_names_are_written_plainly():
    assert write_label(frozenset(["b", "a"])) == "a;b"
    assert write_label(["b", "a"]) == "b>a"
    assert write_label({"u": "x", "v-w": "y"}) == "u-x;v-w--y"
    assert write_label(frozenset(["a;b", "c"])) == '["a;b", "c"]'


def test_sets_with_separators_in_their_names_are_learned_from_any_file(tmp_path):
    sets = [["a;b", "c"], ["c"], ["d>e", "a;b"], []]
    json_lines(tmp_path / "d.jsonl", sets)
    with open(tmp_path / "d.csv", "w", newline="") as file:
        rows = [[number, write_label(frozenset(names))] for number, names in enumerate(sets)]
        csv.writer(file).writerows([["a", "y"], *rows])
    results = [run(tmp_path / f"d.{kind}", tmp_path / kind, space="hypercube") for kind in ("jsonl", "csv")]
    assert results[0].prepared.config.params == {"labels": ["a;b", "c", "d>e"]}
    assert results[1].prepared.config.params == results[0].prepared.config.params
    assert results[1].summary["weights_sha256"] == results[0].summary["weights_sha256"]


@pytest.mark.parametrize("space", ["matching", "assignment", "graphic_matroid"])
@pytest.mark.parametrize("label", [[[["u"], "v"]], {"u": ["v"]}, [["u", {"v": 1}]], "[[[1], 2]]"])
def test_edges_whose_ends_are_no_names_are_bad_rows(tmp_path, space, label):
    path = json_lines(tmp_path / "d.jsonl", [[["u", "v"]], label])
    with pytest.raises(DataError, match=r"d\.jsonl:2: label: "):
        run(path, tmp_path / "out", space=space)
    assert run(path, tmp_path / "out", space=space, on_error="skip").summary["skipped_rows"] == 1
