"""Runs: results on disk, resumed bit for bit, refused when something does not fit."""

import json
import signal

import numpy as np
import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core.cli import main
from osp_core.runs import DataError, RunConfig, execute
from osp_core.runs import execute as execute_run


@pytest.fixture
def flowers(tmp_path):
    rng = np.random.default_rng(0)
    teacher = rng.standard_normal((3, 4))
    lines = ["w,x,y,z,kind"]
    for x in rng.standard_normal((90, 4)):
        lines.append(
            ",".join(f"{v:.6f}" for v in x) + "," + ["iris", "lily", "rose"][int(np.argmax(teacher @ x))]
        )
    (tmp_path / "flowers.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "flowers.csv"


def config(path, **changes):
    return RunConfig.of(
        {"space": "simplex", "data": str(path), "label": "kind", "checkpoint_every": 20, **changes}
    )


def test_a_run_leaves_its_results_and_its_resolved_configuration(tmp_path, flowers):
    result = execute(config(flowers), tmp_path / "out")
    assert result.summary["rounds"] == 90
    written = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert written == result.summary
    trace = np.load(tmp_path / "out" / "trace.npz")
    assert trace["target_loss"].sum() == pytest.approx(result.summary["target_loss"])
    assert len(list((tmp_path / "out" / "checkpoints").iterdir())) == 3
    again = RunConfig.from_toml(tmp_path / "out" / "run.toml").beside(tmp_path / "out")
    assert again.params == {"classes": ["iris", "lily", "rose"]}
    repeated = execute(again, tmp_path / "again")
    assert repeated.summary["weights_sha256"] == result.summary["weights_sha256"]


@pytest.mark.parametrize(
    "learner", [("ogd", {}), ("parameter_free", {}), ("adaptive_ogd", {"diameter": 4.0})]
)
@pytest.mark.parametrize("stop", [1, 20, 57])
def test_a_run_that_is_continued_equals_one_that_never_stopped(tmp_path, flowers, stop, learner):
    changes = {"learner": learner[0], "learner_params": learner[1]}
    straight = execute(config(flowers, **changes), tmp_path / "straight")
    execute(config(flowers, rounds=stop, **changes), tmp_path / "parts")
    resumed = execute(config(flowers, **changes), tmp_path / "parts", resume=True)
    for name in ("rounds", "target_loss", "expected_loss", "surrogate_loss", "weights_sha256"):
        assert resumed.summary[name] == straight.summary[name]
    assert (tmp_path / "parts" / "trace.bin").read_bytes() == (
        tmp_path / "straight" / "trace.bin"
    ).read_bytes()


def test_rounds_after_the_last_checkpoint_are_played_again_not_counted_twice(tmp_path, flowers, monkeypatch):
    straight = execute(config(flowers), tmp_path / "straight")
    real, count = osp.OnlinePredictor.step, iter(range(10**6))

    def dies_in_round_50(self, *args, **kwargs):
        if next(count) == 49:
            raise RuntimeError("power cut")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(osp.OnlinePredictor, "step", dies_in_round_50)
    with pytest.raises(RuntimeError, match="power cut"):
        execute(config(flowers), tmp_path / "cut")
    monkeypatch.undo()
    resumed = execute(config(flowers), tmp_path / "cut", resume=True)
    assert resumed.summary["rounds"] == 90
    assert resumed.summary["weights_sha256"] == straight.summary["weights_sha256"]
    assert resumed.summary["target_loss"] == straight.summary["target_loss"]


def test_a_damaged_checkpoint_is_passed_over(tmp_path, flowers):
    straight = execute(config(flowers), tmp_path / "straight")
    execute(config(flowers, rounds=60), tmp_path / "parts")
    newest = max((tmp_path / "parts" / "checkpoints").iterdir())
    newest.write_bytes(newest.read_bytes()[:-100])
    warnings = []
    resumed = execute(config(flowers), tmp_path / "parts", resume=True, warn=warnings.append)
    assert "damaged checkpoint" in warnings[0]
    assert resumed.summary["weights_sha256"] == straight.summary["weights_sha256"]


def test_an_interrupt_leaves_a_checkpoint_to_continue_from(tmp_path, flowers, monkeypatch):
    real, count = osp.OnlinePredictor.step, iter(range(10**6))

    def interrupted(self, *args, **kwargs):
        if next(count) == 33:
            signal.raise_signal(signal.SIGINT)  # in the middle of round 34, which is still played
        return real(self, *args, **kwargs)

    monkeypatch.setattr(osp.OnlinePredictor, "step", interrupted)
    partial = execute(config(flowers), tmp_path / "out")
    assert partial.summary["finished"] is False
    assert partial.summary["rounds"] == 34
    assert partial.interrupted == signal.SIGINT
    monkeypatch.undo()
    assert execute(config(flowers), tmp_path / "out", resume=True).summary["rounds"] == 90


def test_a_directory_with_something_in_it_is_not_overwritten(tmp_path, flowers):
    execute(config(flowers, rounds=5), tmp_path / "out")
    with pytest.raises(osp.InvalidInputError, match="not empty"):
        execute(config(flowers, rounds=5), tmp_path / "out")
    with pytest.raises(osp.InvalidInputError, match="other settings"):
        execute(config(flowers, seed=1), tmp_path / "out", resume=True)


def test_an_unknown_label_is_named_with_its_line_and_nothing_is_written(tmp_path, flowers):
    with pytest.raises(DataError, match=r"flowers\.csv:\d+: label: .*'rose'"):
        execute(config(flowers, params={"classes": ["iris", "lily"]}), tmp_path / "out")
    skipped = execute(
        config(flowers, params={"classes": ["iris", "lily"]}, on_error="skip"), tmp_path / "skip"
    )
    assert skipped.summary["skipped_rows"] + skipped.summary["rounds"] == 90


def test_streams_run_too(tmp_path):
    settings = RunConfig.of(
        {"space": "hypercube", "params": {"d": 3}, "stream": "linear_teacher", "rounds": 40, "seed": 2}
    )
    assert execute(settings, tmp_path / "out").summary["rounds"] == 40


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"space": "simplex"}, "either data"),
        ({"data": "d.csv"}, "needs a space"),
        ({"space": "simplex", "stream": "x", "data": "y"}, "either data"),
        ({"space": "simplex", "stream": "x", "rounds": 0}, "rounds"),
        ({"space": "simplex", "stream": "x", "seed": "a"}, "seed must be a int"),
        ({"space": "simplex", "stream": "x", "on_error": "panic"}, "on_error"),
    ],
)
def test_configurations_that_make_no_sense_are_refused(values, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        RunConfig.of(values)


def test_run_files_with_unknown_settings_or_bad_syntax_are_refused(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('space = "simplex"\nstream = "linear_teacher"\nout = "../../etc"\n')
    with pytest.raises(osp.InvalidInputError, match="no setting 'out'"):
        RunConfig.from_toml(path)
    path.write_text("space = \n")
    with pytest.raises(osp.InvalidInputError, match=r"run\.toml"):
        RunConfig.from_toml(path)


def test_the_command_runs_resumes_and_decodes(tmp_path, flowers):
    runner, out = CliRunner(), str(tmp_path / "out")
    basic = ["run", "--space", "simplex", "--data", str(flowers), "--label", "kind", "--out", out]
    first = runner.invoke(main, [*basic, "--rounds", "30"])
    assert first.exit_code == 0, first.output
    assert "30 rounds on simplex" in first.output
    second = runner.invoke(main, [*basic, "--resume", "--json"])
    summary = json.loads(second.output)
    assert summary["rounds"] == 90
    assert (
        summary["weights_sha256"]
        == execute_run(config(flowers), tmp_path / "other").summary["weights_sha256"]
    )
    model = str(max((tmp_path / "out" / "checkpoints").iterdir()))
    decoded = runner.invoke(main, ["decode", "--model", model, "--law"], input="[0.1, 0.2, 0.3, 0.4]\n")
    answer = json.loads(decoded.output)
    assert answer["output"] in ("iris", "lily", "rose")
    assert sum(answer["mean"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--space", "simplex", "--out", "OUT"], "either data"),
        (
            ["run", "--space", "simplx", "--stream", "linear_teacher", "--rounds", "3", "--out", "OUT"],
            "simplex",
        ),
        (["run", "--space", "simplex", "-p", "d", "--stream", "linear_teacher", "--out", "OUT"], "KEY=VALUE"),
        (["decode"], "either --space"),
        (["decode", "--space", "simplex", "-p", "d=3"], "standard input:1: expected 3"),
        (["decode", "--model", "nowhere.ckpt"], "no checkpoint"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    arguments = [str(tmp_path / "out") if part == "OUT" else part for part in arguments]
    result = CliRunner().invoke(main, arguments, input="1,2\n")
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out" / "summary.json").exists()
