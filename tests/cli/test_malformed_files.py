"""Malformed files through the command: one line with file and line, exit code 2, nothing changed."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

HEADER = "a,b,y\n"
GOOD = "".join(f"{i % 7},{(i * 3) % 5},{'uvw'[i % 3]}\n" for i in range(30))

# name → (file, its bytes, what the message says after the path)
FILES = {
    "missing column": ("d.csv", b"a,b\n1,2\n", ":1: there is no column 'y'; the columns are 'a', 'b'."),
    "no header": ("d.csv", b"1,2,u\n", ":1: there is no column 'y'; the columns are '1', '2', 'u'. Without"),
    "ragged row": ("d.csv", b"a,b,y\n1,2,u\n1,2\n", ":3: the row has 2 cells, not 3."),
    "row too long": ("d.csv", b"a,b,y\n1,2,3,u\n", ":2: the row has 4 cells, not 3."),
    "NaN": ("d.csv", b"a,b,y\n1,2,u\nnan,2,v\n", ":3: column 'a' must be finite"),
    "inf": ("d.csv", b"a,b,y\n1,-inf,u\n", ":2: column 'b' must be finite"),
    "too large": ("d.csv", b"a,b,y\n1,1e101,u\n", ":2: column 'b' must be finite and at most 1e+100"),
    "gap": ("d.csv", b"a,b,y\n1,,u\n", ":2: column 'b' is empty"),
    "text": ("d.csv", b"a,b,y\n1,two,u\n", ":2: column 'b' must be a number, got 'two'"),
    "digits with underscores": ("d.csv", b"a,b,y\n1,1_000,u\n", ":2: column 'b' must be a number"),
    "unknown label": ("d.csv", b"a,b,y\n1,2,u\n1,2,x\n", ":3: label: 'x' is not one of the 3 classes"),
    "no label": ("d.csv", b"a,b,y\n1,2,\n", ":2: label: '' is not one of"),
    "empty": ("d.csv", b"", ":1: the file is empty."),
    "only a byte order mark": ("d.csv", b"\xef\xbb\xbf", ":1: the file is empty."),
    "0 rows": ("d.csv", b"a,b,y\n", ":1: there are no rows to learn from"),
    "only blank lines": ("d.csv", b"a,b,y\n\n\r\n\n", ":1: there are no rows to learn from"),
    "binary": ("d.csv", bytes(range(256)) * 8, ":1: there are NUL characters; is this a binary file?"),
    "binary later on": ("d.csv", b"a,b,y\n1,2,u\n1,\0,u\n", ":3: there are NUL characters"),
    "Latin-1": (
        "d.csv",
        "a,b,y\n1,2,u\n1,2,é\n".encode("latin-1"),
        ":3: the file is not UTF-8 text (byte 0xe9)",
    ),
    "UTF-16": ("d.csv", "a,b,y\n1,2,u\n".encode("utf-16"), ":1: "),
    "column twice": ("d.csv", b"a,a,y\n1,2,u\n", ":1: two columns are called 'a'"),
    "label twice": ("d.csv", b"a,y,y\n1,2,u\n", ":1: two columns are called 'y'"),
    "huge field": (
        "d.csv",
        b"a,b,y\n1,2,u\n1,2," + b"u" * 200_000 + b"\n",
        ":3: field larger than field limit",
    ),
    "quote left open": ("d.csv", b'a,b,y\n1,2,u\n1,"2,u\n1,2,u\n', ":3: unexpected end of data"),
    "text after a quote": ("d.csv", b'a,b,y\n1,"2"2,u\n', ":2: "),
    "only a label": ("d.csv", b"y\nu\n", ":1: there is no feature column"),
    "tabs": ("d.tsv", b"a\tb\ty\n1\t2\n", ":2: the row has 2 cells, not 3."),
    "no JSON": ("d.jsonl", b'{"a": 1, "y": "u"}\n{oops\n', ":2: the line is no JSON"),
    "key twice": ("d.jsonl", b'{"a": 1, "y": "u", "a": 2}\n', ":1: the key 'a' is there twice."),
    "half a character": (
        "d.jsonl",
        b'{"a": 1, "y": "u"}\n{"a": 1, "y": "\\ud800"}\n',
        ":2: column 'y' holds '\\ud800', which has half a character",
    ),
    "columns that look the same": (
        "d.csv",
        "caf\u00e9,cafe\u0301,y\n1,2,u\n".encode(),
        ":1: two columns are called 'caf\u00e9'",
    ),
    "huge label": (
        "d.jsonl",
        b'{"a": 1, "y": "' + b"u" * 200_000 + b'"}\n',
        ":1: the label in column 'y' has text of 200000 characters, more than 131072; is this the right",
    ),
    "no object": ("d.jsonl", b"[1, 2]\n", ":1: the line must be a JSON object"),
    "deep JSON": ("d.jsonl", b'{"a": 1, "y": ' + b"[" * 100_000 + b"\n", ":1: the line is no JSON"),
    "key missing": ("d.jsonl", b'{"a": 1, "y": "u"}\n{"y": "u"}\n', ":2: column 'a' is empty"),
    "label missing": ("d.jsonl", b'{"a": 1, "y": "u"}\n{"a": 1}\n', ":2: there is no key 'y'"),
    "label null": ("d.jsonl", b'{"a": 1, "y": null}\n', ":1: the label in column 'y' is missing"),
    "new key": (
        "d.jsonl",
        b'{"a": 1, "y": "u"}\n{"a": 1, "b": 2, "y": "u"}\n',
        ":2: the key 'b' is not in the",
    ),
    "NaN in JSON": ("d.jsonl", b'{"a": NaN, "y": "u"}\n', ":1: column 'a' must be finite"),
    "number too large for a float": (
        "d.jsonl",
        b'{"a": 1' + b"0" * 400 + b', "y": "u"}\n',
        ":1: column 'a' must be",
    ),
    "list too short": (
        "d.jsonl",
        b'{"x": [1, 2], "y": "u"}\n{"x": [1], "y": "u"}\n',
        ':2: "x" must be a list of 2',
    ),
    "empty JSON lines": ("d.jsonl", b"\n\n", ":1: the file is empty."),
    "no archive": ("d.npz", b"PK\3\4 not quite", ": it is no archive of plain arrays"),
    "unknown ending": ("d.xlsx", b"?", ": files of type '.xlsx' are not read"),
}


def run(osp_command, data, out, *more):
    options = ["--space", "simplex", "--classes", "u,v,w", "--label", "y", "--no-report"]
    return osp_command("run", *options, "--data", str(data), "--out", str(out), *more)


def snapshot(directory):
    return {
        path.relative_to(directory): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in directory.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", FILES)
def test_a_malformed_file_is_one_line_with_file_and_line_and_changes_nothing(tmp_path, osp_command, name):
    file, content, message = FILES[name]
    data, out = tmp_path / file, tmp_path / "out"
    data.write_bytes(content)
    result = run(osp_command, data, out)
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"Error: {data}{message}")
    assert "Traceback" not in result.stderr
    assert not out.exists()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "npz"])
def test_a_directory_and_a_file_that_may_not_be_read_are_named(tmp_path, osp_command, monkeypatch, ending):
    data, out = tmp_path / f"d.{ending}", tmp_path / "out"
    data.mkdir()
    assert run(osp_command, data, out).stderr == f"Error: {data}: this is a directory; name a file in it.\n"
    data.rmdir()
    data.touch()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may read everything
    result = run(osp_command, data, out)
    assert result.stderr == f"Error: {data}: the file may not be read; look at its permissions.\n"
    assert result.exit_code == 2
    assert not out.exists()


@pytest.mark.parametrize("name", ["ragged row", "unknown label", "Latin-1", "empty", "binary"])
def test_earlier_results_survive_a_file_that_became_malformed(tmp_path, osp_command, name):
    data, out = tmp_path / "d.csv", tmp_path / "out"
    data.write_text(HEADER + GOOD)
    assert run(osp_command, data, out, "--rounds", "20").exit_code == 0
    before = snapshot(out)
    data.write_bytes(FILES[name][1])
    assert run(osp_command, data, out, "--resume").exit_code == 2
    assert run(osp_command, data, out).exit_code == 2
    assert snapshot(out) == before


def test_a_real_process_prints_one_line_and_no_traceback(tmp_path):
    (tmp_path / "d.csv").write_bytes(FILES["Latin-1"][1])
    arguments = ["run", "--space", "simplex", "--data", "d.csv", "--label", "y", "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-c", "from osp_core.cli import main; main()", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "Error: d.csv:3: the file is not UTF-8 text (byte 0xe9); save it in that encoding.\n"
    )
    assert os.listdir(tmp_path) == ["d.csv"]


@pytest.mark.parametrize(
    "name", ["ragged row", "NaN", "inf", "gap", "text", "unknown label", "no label", "Latin-1", "no JSON"]
)
def test_bad_rows_can_be_skipped_and_are_counted(tmp_path, osp_command, name):
    file, content, _ = FILES[name]
    data = tmp_path / file
    good = (HEADER + GOOD).encode() if file.endswith("csv") else b'{"a": 1, "y": "u"}\n' * 30
    bad = content.splitlines()[1:]
    data.write_bytes(good + b"\n".join(bad) + b"\n")
    result = run(osp_command, data, tmp_path / "out", "--on-error", "skip", "--json")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["skipped_rows"] == 1
    assert summary["rounds"] == 30 + len(bad) - 1


def test_a_message_has_no_characters_that_move_the_cursor(tmp_path, osp_command):
    (tmp_path / "d.csv").write_text("a\x1b[2J,b,c\n1,2,u\n")
    result = run(osp_command, tmp_path / "d.csv", tmp_path / "out")
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr


PLAIN = (HEADER + GOOD).encode()
SAME = {
    "byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "CRLF": PLAIN.replace(b"\n", b"\r\n"),
    "CR": PLAIN.replace(b"\n", b"\r"),
    "quotes": b"\n".join(b",".join(b'"' + c + b'"' for c in line.split(b",")) for line in PLAIN.split())
    + b"\n",
    "spaces": PLAIN.replace(b",", b" , "),
    "blank lines": PLAIN.replace(b"\n", b"\n\n"),
    "no last line end": PLAIN.rstrip(b"\n"),
}


@pytest.mark.parametrize("name", SAME)
def test_other_ways_to_write_the_same_table_give_the_same_run(tmp_path, osp_command, name):
    (tmp_path / "plain.csv").write_bytes(PLAIN)
    (tmp_path / "other.csv").write_bytes(SAME[name])
    plain = run(osp_command, tmp_path / "plain.csv", tmp_path / "1", "--json")
    other = run(osp_command, tmp_path / "other.csv", tmp_path / "2", "--json")
    assert other.exit_code == 0, other.stderr
    assert json.loads(other.stdout)["weights_sha256"] == json.loads(plain.stdout)["weights_sha256"]


def test_a_quoted_line_end_belongs_to_its_cell_and_lines_are_still_counted(tmp_path, osp_command):
    (tmp_path / "d.csv").write_text('a,note,y\n1,"two\nlines",u\n2,x,v\nbad,x,v\n')
    result = run(osp_command, tmp_path / "d.csv", tmp_path / "out", "--drop", "note")
    assert result.exit_code == 2
    assert "d.csv:5: column 'a' must be a number" in result.stderr


def test_arrays_that_do_not_fit_or_are_cut_off_are_refused(tmp_path, osp_command):
    path = tmp_path / "d.npz"
    cases = [
        ({"X": np.zeros((3, 2)), "y": np.array(["u", "v"])}, ": X must be a matrix with one row per label"),
        ({"X": np.zeros((2, 2)), "z": np.zeros(2)}, ": there is no array 'y'; there are X, z."),
        ({"X": np.array([["1"]]), "y": np.array(["u"])}, ": it must hold plain arrays; 'X' has the type <U1"),
        (
            {"X": np.array([[1.0], [np.nan]]), "y": np.array(["u", "v"])},
            ", row 2: column 'X[0]' must be finite",
        ),
    ]
    for arrays, message in cases:
        np.savez(path, **arrays)
        result = run(osp_command, path, tmp_path / "out")
        assert result.exit_code == 2
        assert result.stderr.startswith(f"Error: {path}{message}"), result.stderr
    np.savez(path, X=np.zeros((100, 2)), y=np.array(["u"] * 100))
    path.write_bytes(path.read_bytes()[:-300])
    assert run(osp_command, path, tmp_path / "out").exit_code == 2
