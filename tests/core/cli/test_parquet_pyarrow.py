"""Parquet files in and out of the command."""

import json
import tracemalloc

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from osp_core.runs import open_table


def write(path, rows=200, **changes):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, rows))
    columns = {"id": [f"r{i}" for i in range(rows)], "a": a, "b": b, "kind": np.where(a > b, "hi", "lo")}
    pyarrow.parquet.write_table(pyarrow.table({**columns, **changes}), path, row_group_size=500)
    return path


def test_a_parquet_file_is_learned_and_labelled(tmp_path, osp_command):
    data = str(write(tmp_path / "d.parquet"))
    options = ["--space", "simplex", "--data", data, "--label", "kind", "--drop", "id", "--no-report"]
    assert osp_command("run", *options, "--out", str(tmp_path / "out")).exit_code == 0
    arguments = ["decode", "--model", str(tmp_path / "out"), "--file", data, "--deterministic", "--law"]
    result = osp_command(*arguments, "--output", str(tmp_path / "labelled.parquet"))
    assert result.exit_code == 0, result.stderr
    source, labelled = (
        pyarrow.parquet.read_table(data),
        pyarrow.parquet.read_table(tmp_path / "labelled.parquet"),
    )
    assert labelled.select(source.column_names).equals(source)
    assert labelled.schema.field("prediction").type == pyarrow.string()
    assert labelled.schema.field("p").type == pyarrow.float64()
    assert labelled.schema.field("mean").type == pyarrow.list_(pyarrow.float64())
    right = [
        x == y for x, y in zip(labelled["prediction"].to_pylist(), source["kind"].to_pylist(), strict=True)
    ]
    assert np.mean(right) > 0.9


def test_a_parquet_file_gives_the_run_of_the_csv_with_its_rows(tmp_path, osp_command):
    table = pyarrow.parquet.read_table(write(tmp_path / "d.parquet"))
    rows = [",".join(map(str, record.values())) for record in table.to_pylist()]
    (tmp_path / "d.csv").write_text("\n".join([",".join(table.column_names), *rows]))
    digests = []
    for name in ("d.parquet", "d.csv"):
        options = ["--data", str(tmp_path / name), "--label", "kind", "--drop", "id", "--json", "--no-report"]
        result = osp_command("run", "--space", "simplex", *options, "--out", str(tmp_path / f"out-{name}"))
        digests.append(json.loads(result.stdout)["weights_sha256"])
    assert digests[0] == digests[1]


def test_many_rows_are_written_in_pieces_of_one_schema(tmp_path, osp_command):
    (tmp_path / "scores.csv").write_text("".join(f"{i},{i % 3}\n" for i in range(2500)))
    output = tmp_path / "o.parquet"
    result = osp_command(
        "decode", "--space", "hypercube", "-p", 'labels=["a","b"]', "--file", str(tmp_path / "scores.csv"),
        "--output", str(output), "--law",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    table = pyarrow.parquet.read_table(output)
    assert table.num_rows == 2500
    assert set(table["prediction"].to_pylist()) <= {"", "a", "b", "a;b"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": [1.0] * 199 + [float("nan")]}, ", row 200: column 'a' must be finite"),
        ({"a": [1.0] * 199 + [None]}, ", row 200: column 'a' is empty"),
        ({"kind": ["hi"] * 199 + [None]}, ", row 200: the label in column 'kind' is missing"),
        ({"a": ["x"] * 200}, ", row 1: column 'a' must be a number, got 'x'"),
    ],
)
def test_bad_rows_are_named(tmp_path, osp_command, changes, message):
    data = write(tmp_path / "d.parquet", **changes)
    options = ["--space", "simplex", "--data", str(data), "--label", "kind", "--drop", "id"]
    result = osp_command("run", *options, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {data}{message}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("damage", ["no file of this kind", "cut off", "a page overwritten", "empty"])
def test_damaged_files_are_one_line(tmp_path, osp_command, damage):
    data = write(tmp_path / "d.parquet")
    content = data.read_bytes()
    data.write_bytes(
        {
            "no file of this kind": b"a,b\n1,2\n",
            "cut off": content[: len(content) // 2],
            "a page overwritten": content[:40] + b"\xff" * 200 + content[240:],
            "empty": b"",
        }[damage]
    )
    options = ["--space", "simplex", "--data", str(data), "--label", "kind", "--drop", "id"]
    result = osp_command("run", *options, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {data}")
    assert result.stderr.count("\n") == 1


def test_parquet_files_are_read_piece_by_piece(tmp_path):
    small, large = (write(tmp_path / f"{rows}.parquet", rows) for rows in (2500, 20_000))

    def peak(path):
        tracemalloc.start()
        try:
            assert sum(1 for _ in open_table(path, "kind", drop=["id"]).rows()) == int(path.stem)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(small)
    assert peak(large) < 1.2 * peak(small)
