"""``osp experiment``."""

import csv
import dataclasses
import functools
import json

import pytest

from osp_core import experiments


@pytest.fixture
def one_run(monkeypatch):
    """An experiment that is run once for all tests of this file."""
    result = _tightness()
    monkeypatch.setattr(experiments, "run", lambda name, **options: result)
    return result


@functools.cache
def _tightness():
    return experiments.run("tightness", quick=True)


def test_without_a_name_the_experiments_are_listed(osp_command):
    known = experiments.list_experiments()
    assert json.loads(osp_command("experiment", "--json").stdout) == known
    lines = osp_command("experiment").stdout.splitlines()
    for name, question in known.items():
        assert any(line.startswith(name) and question in line for line in lines)


def test_a_table_is_printed_and_written(osp_command, tmp_path, one_run):
    result = osp_command("experiment", "tightness", "--quick", "--out", str(tmp_path / "new"))
    assert result.exit_code == 0
    assert "Every inequality held." in result.stdout
    with (tmp_path / "new" / "tightness.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(one_run.rows)
    assert all(row["holds"] == "True" for row in rows)
    assert f"{float(rows[0]['constant']):.4g}" in result.stdout
    assert str(tmp_path / "new" / "tightness.csv") in result.stdout


def test_a_long_table_is_thinned_out_but_what_fails_is_shown(osp_command, monkeypatch, one_run):
    rows = [{**one_run.rows[0], "constant": float(i), "holds": i != 251} for i in range(300)]
    long = dataclasses.replace(one_run, rows=tuple(rows))
    monkeypatch.setattr(experiments, "run", lambda name, **options: long)
    printed = osp_command("experiment", "tightness").stdout
    assert "61 of 300 rows" in printed
    assert printed.count("NO") == 1 + printed.count("DID NOT")
    assert len(json.loads(osp_command("experiment", "tightness", "--json").stdout)["rows"]) == 300


def test_json_is_strict_and_repeatable(osp_command):
    def refuse(constant):
        raise AssertionError(constant)

    first, again = (
        json.loads(osp_command("experiment", "tightness", "--quick", "--json").stdout, parse_constant=refuse)
        for _ in range(2)
    )
    assert first["holds"] is True
    assert first["rows"] == again["rows"]
    assert first["files"] == []


def test_an_inequality_that_fails_is_a_failure(osp_command, monkeypatch, one_run):
    worse = dataclasses.replace(one_run, rows=({**one_run.rows[0], "holds": False}, *one_run.rows[1:]))
    monkeypatch.setattr(experiments, "run", lambda name, **options: worse)
    result = osp_command("experiment", "tightness", "--quick")
    assert result.exit_code == 1
    assert "NO" in result.stdout
    assert "did not hold in tightness" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"), [(["tightnes"], "tightness"), (["tightness", "--seed", "-1"], "--seed")]
)
def test_bad_arguments_are_one_line(osp_command, arguments, told):
    result = osp_command("experiment", *arguments)
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.soak
def test_all_run_one_after_the_other(osp_command, tmp_path):
    result = osp_command("experiment", "all", "--quick", "--json", "--out", str(tmp_path))
    assert result.exit_code == 0
    documents = json.loads(result.stdout)
    assert [one["name"] for one in documents] == list(experiments.list_experiments())
    assert all((tmp_path / f"{one['name']}.csv").exists() for one in documents)
