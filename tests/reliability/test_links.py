"""Symbolic links in a directory of results lead nothing out of it."""

import json
import os
import re

import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core.cli import main
from osp_core.experiments.result import ExperimentResult
from osp_core.report import write_run_report
from osp_core.runs import RunConfig, execute, execute_seeds
from osp_core.sweeps import Store, run_many

SETTINGS = {
    "space": "simplex",
    "params": {"d": 3},
    "stream": "linear_teacher",
    "rounds": 30,
    "checkpoint_every": 10,
    "keep": 1,
}
WRITTEN = ("run.toml", "trace.bin", "summary.json", "trace.npz", ".lock")
"""The files of a run; besides them there are checkpoints/, report.html and figures/."""


def config(**changes):
    return RunConfig.of({**SETTINGS, **changes})


@pytest.fixture
def outside(tmp_path):
    """A directory whose files are none of ours, although one looks like an old checkpoint."""
    place = tmp_path / "outside"
    place.mkdir()
    for name in ("precious", "round-000000000001.ckpt", ".round-000000000001.ckpt.0123abcd.tmp", "run.toml"):
        (place / name).write_text("precious")
    return place


def contents(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


def link(out, name, target):
    """A link in the place of a result, or of a whole directory of them."""
    place = out / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir() and not place.is_symlink():
        place.rename(out.parent / f"moved-{name}")
    place.unlink(missing_ok=True)
    place.symlink_to(target)


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("target", ["precious", "missing", "."], ids=["a file", "nothing", "a directory"])
def test_no_file_of_a_run_is_written_through_a_link(tmp_path, outside, name, target):
    out, before = tmp_path / "out", contents(outside)
    execute(config(rounds=20), out)
    link(out, name, outside / target)
    inside = {path: path.lstat() for path in out.rglob("*")}
    with pytest.raises(osp.InvalidInputError, match=rf"{re.escape(name)} is a symbolic link"):
        execute(config(), out, resume=True)
    assert contents(outside) == before
    assert {path: path.lstat() for path in out.rglob("*")}.keys() == inside.keys()
    assert os.readlink(out / name) == str(outside / target)


def test_checkpoints_are_neither_written_nor_deleted_through_a_link(tmp_path, outside):
    out, before = tmp_path / "out", contents(outside)
    execute(config(rounds=20), out)
    link(out, "checkpoints", outside)
    with pytest.raises(osp.InvalidInputError, match="checkpoints is a symbolic link"):
        execute(config(), out, resume=True)
    assert contents(outside) == before


def test_a_link_that_appears_while_the_run_goes_is_noticed_too(tmp_path, outside, monkeypatch):
    out, before, real = tmp_path / "out", contents(outside), osp.OnlinePredictor.step

    def step(self, x, y):
        if self.learner.rounds == 15:
            link(out, "checkpoints", outside)
        return real(self, x, y)

    monkeypatch.setattr(osp.OnlinePredictor, "step", step)
    with pytest.raises(osp.InvalidInputError, match="checkpoints is a symbolic link"):
        execute(config(), out)
    assert contents(outside) == before


def test_a_link_in_place_of_a_checkpoint_is_replaced_and_not_followed(tmp_path, outside):
    out, before = tmp_path / "out", contents(outside)
    execute(config(rounds=20), out)
    for name in ("round-000000000030.ckpt", "round-000000000005.ckpt"):
        (out / "checkpoints" / name).symlink_to(outside / "precious")
    execute(config(), out, resume=True, warn=lambda message: None)
    assert contents(outside) == before
    assert [path.is_symlink() for path in (out / "checkpoints").iterdir()] == [False]


@pytest.mark.parametrize("name", ["run.toml", "summary.json", "seed-1"])
def test_the_results_of_several_seeds_stay_inside_too(tmp_path, outside, name):
    out, before = tmp_path / "out", contents(outside)
    execute_seeds(config(rounds=20, seeds=[0, 1]), out)
    link(out, name, outside if name == "seed-1" else outside / "precious")
    with pytest.raises(osp.InvalidInputError, match=f"{name} is a symbolic link"):
        execute_seeds(config(seeds=[0, 1]), out, resume=True)
    assert contents(outside) == before


@pytest.mark.parametrize("name", ["report.html", ".lock"])
def test_a_report_is_not_written_through_a_link(tmp_path, outside, name):
    out, before = tmp_path / "out", contents(outside)
    result = execute(config(), out)
    link(out, name, outside / "precious")
    with pytest.raises(osp.InvalidInputError, match=f"{name} is a symbolic link"):
        write_run_report(out, result)
    assert contents(outside) == before


@pytest.mark.parametrize("name", ["results.jsonl", ".lock"])
@pytest.mark.parametrize("target", ["precious", "missing"])
def test_a_store_is_not_opened_through_a_link(tmp_path, outside, name, target):
    before = contents(outside)
    link(tmp_path / "store", name, outside / target)
    with pytest.raises(osp.OspError, match=f"{name} is a symbolic link"):
        Store(tmp_path / "store")
    assert contents(outside) == before


@pytest.mark.parametrize("ending", ["csv", "md"])
def test_the_table_of_an_experiment_is_not_written_through_a_link(tmp_path, outside, ending):
    before = contents(outside)
    result = ExperimentResult("one", "a title", ({"n": 1},), lambda figure, rows: None)
    link(tmp_path / "out", f"one.{ending}", outside / "precious")
    with pytest.raises(osp.InvalidInputError, match=f"one.{ending} is a symbolic link"):
        result.save(tmp_path / "out")
    assert contents(outside) == before


def test_the_directory_that_was_asked_for_may_be_a_link(tmp_path, outside):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    execute(config(rounds=20), tmp_path / "out" / "run")
    result = execute(config(), tmp_path / "out" / "run", resume=True)
    write_run_report(tmp_path / "out" / "run", result)
    (tmp_path / "store").symlink_to(tmp_path / "real")
    run_many([config(rounds=5)], store=tmp_path / "store", n_jobs=1)
    execute(config(rounds=5), tmp_path / "out" / "run" / "in" / "it")
    assert (tmp_path / "real" / "run" / "report.html").exists()
    assert (tmp_path / "real" / "results.jsonl").exists()
    # A predictor is saved where it was asked to be, and a link of that name is replaced, as by `mv`.
    (tmp_path / "mine.ckpt").symlink_to(outside / "precious")
    result.predictor.save(tmp_path / "mine.ckpt")
    assert (outside / "precious").read_text() == "precious"
    osp.OnlinePredictor.load(tmp_path / "mine.ckpt")


def test_the_command_refuses_a_link_in_one_line(tmp_path, outside):
    settings = [
        "--space",
        "simplex",
        "-p",
        "d=3",
        "--stream",
        "linear_teacher",
        "--out",
        str(tmp_path / "out"),
    ]
    CliRunner().invoke(main, ["run", *settings, "--rounds", "20"], catch_exceptions=False)
    link(tmp_path / "out", "summary.json", outside / "precious")
    done = CliRunner().invoke(main, ["run", *settings, "--rounds", "30", "--resume"])
    assert done.exit_code == 2
    assert "summary.json is a symbolic link" in done.output
    assert "Traceback" not in done.output
    grid = tmp_path / "grid.toml"
    grid.write_text('space = "simplex"\nparams = {d = 3}\nstream = "linear_teacher"\nrounds = 5\n')
    link(tmp_path / "sweep", "results.jsonl", outside / "precious")
    done = CliRunner().invoke(main, ["sweep", str(grid), "--out", str(tmp_path / "sweep"), "--jobs", "1"])
    assert (done.exit_code, "results.jsonl is a symbolic link" in done.output) == (2, True)
    assert json.dumps(contents(outside), default=bytes.decode).count("precious") >= 4
