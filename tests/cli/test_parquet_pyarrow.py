"""Parquet files in and out of the command."""

import datetime
import decimal
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


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([datetime.date(2024, 5, 1)] * 200, "row 1: the label in column 'kind' is a date, 2024-05-01"),
        ([datetime.datetime(2024, 5, 1)] * 200, "row 1: the label in column 'kind' is a datetime"),
        ([b"hi"] * 199 + [b"\xff"], "row 200: the label in column 'kind' has bytes that are no UTF-8 text"),
        ([decimal.Decimal("1.5")] * 200, "row 1: the label in column 'kind' is a Decimal, 1.5"),
    ],
)
def test_labels_that_are_neither_text_nor_numbers_are_named(tmp_path, osp_command, labels, message):
    data = write(tmp_path / "d.parquet", kind=labels)
    options = ["--space", "simplex", "--data", str(data), "--label", "kind", "--drop", "id"]
    result = osp_command("run", *options, "--out", str(tmp_path / "out"))
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert not (tmp_path / "out").exists()


def test_bytes_that_are_text_are_the_labels_of_the_text(tmp_path):
    data = write(tmp_path / "d.parquet", kind=pyarrow.array(["hé"] * 200).cast(pyarrow.binary()))
    assert {row.label for row in open_table(data, "kind", drop=["id"]).rows()} == {"hé"}


def test_dates_and_bytes_that_are_carried_along_come_out_as_text(tmp_path, osp_command):
    when, raw = datetime.date(2024, 5, 1), b"\xffok"
    data = write(tmp_path / "d.parquet", rows=3, when=[when] * 3, raw=[raw] * 3)
    options = [
        "--space",
        "simplex",
        "--data",
        str(data),
        "--label",
        "kind",
        "--features",
        "a,b",
        "--no-report",
    ]
    assert osp_command("run", *options, "--out", str(tmp_path / "out")).exit_code == 0
    for ending in ("csv", "jsonl", "parquet"):
        output = tmp_path / f"o.{ending}"
        arguments = ["decode", "--model", str(tmp_path / "out"), "--file", str(data), "--output", str(output)]
        result = osp_command(*arguments)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "o.csv").read_text().splitlines()[1].count(r"2024-05-01,\xffok") == 1
    first = json.loads((tmp_path / "o.jsonl").read_text().splitlines()[0])
    assert (first["when"], first["raw"]) == ("2024-05-01", r"\xffok")
    kept = pyarrow.parquet.read_table(tmp_path / "o.parquet").to_pylist()[0]
    assert (kept["when"], kept["raw"]) == (when, raw)


def test_a_run_goes_on_with_its_rows_as_parquet(tmp_path, osp_command):
    table = pyarrow.parquet.read_table(write(tmp_path / "d.parquet"))
    rows = [",".join(map(str, record.values())) for record in table.to_pylist()]
    (tmp_path / "d.csv").write_text("\n".join([",".join(table.column_names), *rows]))
    swapped = table.select(["b", "kind", "a", "id"])
    pyarrow.parquet.write_table(swapped, tmp_path / "swapped.parquet")
    basic = ["run", "--space", "simplex", "--label", "kind", "--drop", "id", "--no-report", "--json"]
    whole = osp_command(*basic, "--data", str(tmp_path / "d.csv"), "--out", str(tmp_path / "whole"))
    parts = [*basic, "--out", str(tmp_path / "parts")]
    osp_command(*parts, "--data", str(tmp_path / "d.csv"), "--rounds", "90")
    resumed = osp_command(*parts, "--data", str(tmp_path / "swapped.parquet"), "--resume")
    assert json.loads(resumed.stdout)["weights_sha256"] == json.loads(whole.stdout)["weights_sha256"]
