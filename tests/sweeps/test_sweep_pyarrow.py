"""Results as a Parquet table."""

import json
import sys

import pyarrow.parquet
import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core.cli import main


def test_the_table_has_the_rows_of_the_sweep(grid, tmp_path):
    grid["grid"]["learner"] = ["ogd", "nonesuch"]
    result = osp.run_many(grid, n_jobs=1)
    result.to_parquet(tmp_path / "r.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "r.parquet").to_pylist()
    assert [row["key"] for row in table] == [row["key"] for row in result.rows]
    for row, given in zip(table, result.rows, strict=True):
        assert row["seed"] == given["config"]["seed"]
        assert json.loads(row["params"]) == given["config"]["params"]
        if given["status"] == "done":
            assert row["expected_loss"] == given["summary"]["expected_loss"]
            assert row["error"] is None
        else:
            assert row["expected_loss"] is None
            assert row["error"].startswith("UnknownNameError: ")
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


def test_the_command_writes_the_table_beside_the_store(tmp_path):
    (tmp_path / "grid.toml").write_text(
        'space = "simplex"\nparams = {d = 3}\nstream = "linear_teacher"\nrounds = 20\nrepeats = 3\n'
    )
    arguments = [
        "sweep",
        str(tmp_path / "grid.toml"),
        "--out",
        str(tmp_path / "out"),
        "--jobs",
        "1",
        "--parquet",
    ]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert pyarrow.parquet.read_table(tmp_path / "out" / "results.parquet").num_rows == 3


def test_without_pyarrow_the_message_names_it(grid, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = osp.run_many(
        [{**grid, "grid": {}, "repeats": 1, "space": "simplex", "params": {"d": 3}}], n_jobs=1
    )
    with pytest.raises(osp.MissingDependencyError, match="pip install pyarrow"):
        result.to_parquet(tmp_path / "r.parquet")
