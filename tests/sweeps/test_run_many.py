"""Sweeps in one process: rows, failures, restarts, the command."""

import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core.cli import main
from osp_core.runs import RunConfig, execute
from osp_core.sweeps import task as task_module

SMALL = {"space": "simplex", "params": {"d": 3}, "stream": "linear_teacher", "rounds": 20}


def lines(directory):
    text = (directory / "results.jsonl").read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]  # the last may be torn


def test_a_sweep_is_the_runs_of_its_configurations(grid, tmp_path):
    result = osp.run_many(grid, n_jobs=1)
    assert (len(result.rows), result.ran, result.skipped, result.failures) == (16, 16, 0, [])
    for number, row in enumerate(result.rows[:3]):
        alone = execute(RunConfig.of(row["config"]), tmp_path / str(number)).summary
        for name in ("rounds", "target_loss", "expected_loss", "surrogate_loss", "weights_sha256"):
            assert row["summary"][name] == alone[name]
    assert result.rows[0]["versions"]["online-structured-prediction"] == osp.__version__


def test_the_store_has_every_row_and_the_same_call_runs_nothing_again(grid, tmp_path, essence):
    seen = []
    first = osp.run_many(grid, store=tmp_path, n_jobs=1, callback=lambda number, row: seen.append(number))
    assert seen == list(range(1, 17))
    assert essence(lines(tmp_path)) == essence(first.rows)
    again = osp.run_many(grid, store=tmp_path, n_jobs=1)
    assert (again.ran, again.skipped) == (0, 16)
    assert again.rows == first.rows
    assert len(lines(tmp_path)) == 16


def test_a_larger_grid_runs_only_what_is_new(grid, tmp_path):
    osp.run_many(grid, store=tmp_path, n_jobs=1)
    larger = osp.run_many({**grid, "repeats": 3}, store=tmp_path, n_jobs=1)
    assert (larger.ran, larger.skipped) == (8, 16)


def test_the_same_configuration_twice_is_one_run():
    assert osp.run_many([RunConfig.of(SMALL), SMALL, {**SMALL, "keep": 7}], n_jobs=1).ran == 1


def test_several_seeds_of_a_configuration_are_several_runs():
    result = osp.run_many([{**SMALL, "seeds": [1, 2, 3]}], n_jobs=1)
    assert [row["config"]["seed"] for row in result.rows] == [1, 2, 3]
    assert len({row["summary"]["weights_sha256"] for row in result.rows}) == 3


def test_a_run_that_fails_is_a_row_and_stops_no_other(tmp_path):
    cases = [{"learner": "ogd"}, {"learner": "nonesuch"}, {"params": {"d": 0}}, {"learner": "parameter_free"}]
    result = osp.run_many({**SMALL, "grid": {"case": cases}}, store=tmp_path, n_jobs=1)
    assert [row["status"] for row in result.rows] == ["done", "failed", "failed", "done"]
    assert result.rows[1]["error"]["type"] == "UnknownNameError"
    assert "nonesuch" in result.rows[1]["error"]["message"]
    assert [row["key"] for row in result.failures] == [row["key"] for row in result.rows[1:3]]
    again = osp.run_many({**SMALL, "grid": {"case": cases}}, store=tmp_path, n_jobs=1)
    assert (again.ran, again.skipped) == (2, 2)  # what failed is tried again


def test_a_plugin_that_raises_anything_is_contained(tmp_path):
    (tmp_path / "trouble.py").write_text(
        "import osp_core as osp\n"
        "def leave(**params):\n    raise SystemExit('bye')\n"
        "@osp.hookimpl\n"
        "def osp_spaces():\n    return [osp.Registration('trouble', leave, summary='', parameters=('d',))]\n"
    )
    try:
        result = osp.run_many([{**SMALL, "space": "trouble"}, SMALL], n_jobs=1, plugins=[str(tmp_path)])
    finally:
        osp.unregister("trouble")
    assert [row["status"] for row in result.rows] == ["failed", "done"]
    assert result.rows[0]["error"] == {"type": "SystemExit", "message": "bye"}


def test_regret_and_bound_are_recorded_where_they_exist():
    cases = [{"learner": "ogd"}, {"learner": "parameter_free"}, {"stream": "adaptive_adversary"}]
    rows = osp.run_many({**SMALL, "grid": {"case": cases}}, n_jobs=1, regret=True).rows
    for row in rows[:2]:
        summary = row["summary"]
        assert summary["regret"] == pytest.approx(summary["expected_loss"] - summary["comparator_loss"])
        assert summary["regret"] <= summary["bound"]
    assert rows[2]["status"] == "done"
    assert rows[2]["summary"]["regret"] is None
    assert "predictor" in rows[2]["summary"]["no_bound"]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{'u' if a > b else 'v'}" for a, b in rng.standard_normal((30, 2))]
    (tmp_path / "d.csv").write_text("a,b,kind\n" + "\n".join(rows) + "\n")
    return tmp_path / "d.csv"


def test_a_run_on_a_file_is_known_by_the_contents_of_the_file(table, tmp_path):
    config = {"space": "simplex", "data": str(table), "label": "kind"}
    store = tmp_path / "store"
    first = osp.run_many([config], store=store, n_jobs=1)
    assert first.rows[0]["config"]["params"] == {"classes": ["u", "v"]}
    moved = tmp_path / "moved.csv"
    moved.write_bytes(table.read_bytes())
    assert osp.run_many([{**config, "data": str(moved)}], store=store, n_jobs=1).ran == 0
    moved.write_text(moved.read_text() + "1.0,2.0,u\n")
    changed = osp.run_many([{**config, "data": str(moved)}], store=store, n_jobs=1)
    assert changed.ran == 1
    assert changed.rows[0]["summary"]["rounds"] == 31


def test_a_worker_that_sees_another_file_or_has_another_version_refuses(table):
    config = RunConfig.of({"space": "simplex", "data": str(table), "label": "kind"})
    (task,) = task_module.make_tasks([config], regret=False, plugins=())
    table.write_text(table.read_text() + "1.0,2.0,u\n")
    assert "another file" in task_module.perform(task)["error"]["message"]
    other = task_module.Task(**{**vars(task), "version": "0.0.0"})
    assert "version" in task_module.perform(other)["error"]["message"]


@pytest.mark.parametrize(
    ("configs", "options", "message"),
    [
        ([{**SMALL, "params": {"d": np.int64(3)}}], {}, "numbers, text, lists and tables"),
        ([{**SMALL, "params": {"d": float("nan")}}], {}, "numbers, text, lists and tables"),
        ([{"space": "simplex", "data": "/nowhere.csv"}], {}, "nowhere.csv: No such file"),
        (RunConfig.of(SMALL), {}, "a list of configurations"),
        (7, {}, "a list of configurations"),
        ([SMALL], {"n_jobs": 0}, "number of jobs"),
        ([SMALL], {"n_jobs": -3}, "number of jobs"),
        ([SMALL], {"n_jobs": True}, "number of jobs"),
    ],
)
def test_what_cannot_be_swept_is_refused_and_nothing_is_written(tmp_path, configs, options, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        osp.run_many(configs, **{"store": tmp_path / "store", "n_jobs": 1, **options})
    assert not (tmp_path / "store" / "results.jsonl").exists() or lines(tmp_path / "store") == []


@pytest.mark.parametrize("package", ["joblib", "distributed"])
def test_a_missing_package_is_named_with_its_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    options = {"n_jobs": 2} if package == "joblib" else {"scheduler": "tcp://127.0.0.1:1"}
    with pytest.raises(osp.MissingDependencyError, match=rf"{package}: pip install .*\[distributed\]"):
        osp.run_many([SMALL], **options)
    if package == "joblib":
        assert osp.run_many([SMALL], n_jobs=1).ran == 1


GRID_FILE = """
stream = "linear_teacher"
rounds = 20
repeats = 2
space = "simplex"
params = {d = 3}
[grid]
learner = ["ogd", "%s"]
"""


def command(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_the_command_runs_continues_and_says_what_failed(tmp_path):
    grid, out = tmp_path / "grid.toml", tmp_path / "out"
    grid.write_text(GRID_FILE % "parameter_free")
    first = command("sweep", grid, "--out", out, "--jobs", 1)
    assert first.exit_code == 0, first.output
    assert "4 runs: 4 done now, 0 before, 0 failed." in first.output
    heads, _, *lines = first.output.split("\n\n")[0].splitlines()[1:]
    assert heads.split()[:2] == ["learner", "runs"]  # the one setting in which they differ
    assert [line.split()[:2] for line in lines] == [["ogd", "2"], ["parameter_free", "2"]]
    again = command("sweep", grid, "--out", out, "--jobs", 1, "--json")
    assert {"runs": 4, "ran": 0, "skipped": 4, "failed": 0}.items() <= json.loads(again.output).items()
    grid.write_text(GRID_FILE % "nonesuch")
    failed = command("sweep", grid, "--out", out, "--jobs", 1)
    assert failed.exit_code == 1
    assert "UnknownNameError" in failed.output
    assert "4 runs: 2 done now, 2 before, 2 failed." in failed.output


@pytest.mark.parametrize(
    ("text", "message"),
    [("data = '../../x.csv'\nspace = 'simplex'\n", "climbs out"), ("grid = 3\n", "grid must be a table")],
)
def test_a_bad_grid_file_is_one_line_and_exit_code_2(tmp_path, text, message):
    (tmp_path / "grid.toml").write_text(text)
    result = command("sweep", tmp_path / "grid.toml", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


DIES = """
import os, signal, sys
import osp_core as osp
last = lambda number, row: os.kill(os.getpid(), signal.SIGKILL) if number == int(sys.argv[3]) else None
osp.run_many(sys.argv[1], store=sys.argv[2], n_jobs=1, callback=last)
"""


def test_a_killed_sweep_goes_on_where_it_was_and_repeats_nothing(tmp_path, essence):
    grid, out = tmp_path / "grid.toml", tmp_path / "out"
    grid.write_text((GRID_FILE % "parameter_free").replace("repeats = 2", "repeats = 6"))
    for rows in ("3", "4"):
        done = subprocess.run([sys.executable, "-c", DIES, str(grid), str(out), rows], check=False)
        assert done.returncode == -signal.SIGKILL
    before = lines(out)
    assert len(before) == 7
    result = osp.run_many(grid, store=out, n_jobs=1)
    assert (result.ran, result.skipped) == (5, 7)
    rows = lines(out)
    assert rows[:7] == before
    assert len({row["key"] for row in rows}) == len(rows) == 12
    assert essence(rows) == essence(osp.run_many(grid, n_jobs=1).rows)


@pytest.mark.soak
def test_kills_at_any_moment_lose_and_repeat_nothing(tmp_path, essence):
    grid, out = tmp_path / "grid.toml", tmp_path / "out"
    grid.write_text((GRID_FILE % "parameter_free").replace("repeats = 2", "repeats = 150"))
    code = "from osp_core.cli import main; main()"
    arguments = [sys.executable, "-c", code, "sweep", str(grid), "--out", str(out), "--jobs", "2", "--json"]
    chance, kills, process = random.Random(0), 0, None
    while process is None or process.returncode != 0:
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        enough = len(lines(out)) + chance.randint(1, 30) if out.exists() else 3
        while process.poll() is None and (not out.exists() or count(out) < enough):
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.02))
        if process.poll() is None:
            process.kill()
            kills += 1
        process.wait()
    print(f"{kills} kills")
    rows = lines(out)
    assert kills >= 5
    assert len({row["key"] for row in rows}) == len(rows) == 300
    assert essence(rows) == essence(osp.run_many(grid, n_jobs=1).rows)


def count(directory):
    return (directory / "results.jsonl").read_bytes().count(b"\n")
