"""Data files: what is read, and what is refused with file and line."""

import json

import numpy as np
import pytest

import osp_core as osp
from osp_core.runs import DataError, open_table
from osp_core.runs.labels import read_label


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_with_a_header_is_read_row_by_row(tmp_path):
    table = open_table(write(tmp_path / "d.csv", "a,kind,b\n1,cat,2\n\n-3e2,dog,0.5\n"), "kind")
    assert table.columns == ["a", "b"]
    rows = list(table.rows())
    assert [(row.line, row.x.tolist(), row.label) for row in rows] == [
        (2, [1.0, 2.0], "cat"),
        (4, [-300.0, 0.5], "dog"),
    ]
    assert len(list(table.rows())) == 2  # it can be read again


def test_csv_without_a_header_takes_a_position(tmp_path):
    table = open_table(write(tmp_path / "d.csv", "1,2,7\n3,4,8\n"), "-1")
    assert [row.label for row in table.rows()] == ["7", "8"]


def test_other_formats_hold_the_same_rows(tmp_path):
    lines = [{"a": 1.0, "b": 2, "y": "u"}, {"a": 3, "b": 4.5, "y": "v"}]
    by_key = write(tmp_path / "k.jsonl", "\n".join(map(json.dumps, lines)))
    by_list = write(
        tmp_path / "l.ndjson", "\n".join(json.dumps({"x": [r["a"], r["b"]], "y": r["y"]}) for r in lines)
    )
    np.savez(tmp_path / "n.npz", X=np.array([[1, 2], [3, 4.5]]), y=np.array(["u", "v"]))
    tab = write(tmp_path / "t.tsv", "a\tb\ty\n1\t2\tu\n3\t4.5\tv\n")
    for path in (by_key, by_list, tmp_path / "n.npz", tab):
        rows = list(open_table(path, "y").rows())
        assert [row.x.tolist() for row in rows] == [[1, 2], [3, 4.5]]
        assert [row.label for row in rows] == ["u", "v"]


BAD_FILES = {
    "missing column": ("d.csv", "a,b\n1,2\n", r"d\.csv:1: there is no column 'y'; the columns are 'a', 'b'"),
    "ragged row": ("d.csv", "a,y\n1,u\n1,2,u\n", r"d\.csv:3: the row has 3 cells, not 2"),
    "NaN": ("d.csv", "a,y\nnan,u\n", r"d\.csv:2: column 'a' must be finite"),
    "text": ("d.csv", "a,y\none,u\n", r"d\.csv:2: column 'a' must be a number, got 'one'"),
    "empty": ("d.csv", "", r"d\.csv:1: the file is empty"),
    "quote left open": ("d.csv", 'a,y\n"1,u\n', r"d\.csv:2: unexpected end of data"),
    "no JSON": ("d.jsonl", '{"a": 1, "y": 2}\n{oops\n', r"d\.jsonl:2: the line is no JSON"),
    "no object": ("d.jsonl", "[1, 2]\n", r"d\.jsonl:1: the line must be a JSON object"),
    "key missing": ("d.jsonl", '{"a": 1, "y": 2}\n{"a": 1}\n', r"d\.jsonl:2: there is no key 'y'"),
    "boolean text": ("d.jsonl", '{"a": "x", "y": 2}\n', r"d\.jsonl:1: column 'a' must be a number"),
    "unknown ending": ("d.xlsx", "?", r"d\.xlsx: files of type '\.xlsx' are not read"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_with_file_and_line(tmp_path, name):
    file, text, message = BAD_FILES[name]
    write(tmp_path / file, text)
    with pytest.raises(DataError, match=message):
        list(open_table(tmp_path / file, "y").rows())


@pytest.mark.parametrize("content", [b"\xff\xfe\x00a,y\n", b"a,y\n\xe9,1\n", bytes(range(256))])
def test_files_that_are_not_text_are_refused(tmp_path, content):
    (tmp_path / "d.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"d\.csv:\d: .*(UTF-8|NUL)"):
        list(open_table(tmp_path / "d.csv", "y").rows())


def test_pickles_are_not_loaded(tmp_path):
    np.savez(tmp_path / "d.npz", X=np.zeros((1, 1)), y=np.array([{"a": 1}]))
    with pytest.raises(DataError, match="plain arrays"):
        open_table(tmp_path / "d.npz", "y")


def test_bad_rows_can_be_skipped_and_are_counted(tmp_path):
    table = open_table(write(tmp_path / "d.csv", "a,y\n1,u\nx,u\n2,v,3\n4,v\n"), "y")
    assert [row.x[0] for row in table.rows(skip_bad=True)] == [1.0, 4.0]
    assert table.bad_rows == 2


@pytest.mark.parametrize(
    ("space", "text", "label"),
    [
        (("simplex", {"classes": ["cat", "dog"]}), "dog", "dog"),
        (("simplex", {"d": 3}), "2", 2),
        (("hypercube", {"labels": ["a", "b", "c"]}), "c; a", {"a", "c"}),
        (("hypercube", {"labels": ["a", "b", "c"]}), "", set()),
        (("hypercube", {"d": 3}), "1", {1}),
    ],
)
def test_labels_are_read_as_files_write_them(space, text, label):
    made = osp.make_space(space[0], **space[1])
    np.testing.assert_array_equal(read_label(made, text), made.from_label(label))


def test_a_label_that_is_none_is_named():
    with pytest.raises(osp.NotAVertexError, match="'emu'"):
        read_label(osp.make_space("simplex", classes=["cat", "dog"]), "emu")
