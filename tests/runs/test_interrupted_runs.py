"""Signals to a real process: a checkpoint is left, and the continued run equals one that never stopped."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core.cli import main
from osp_core.runs import RunConfig, execute, load_model

ROUNDS = 3000


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("data") / "d.csv"
    teacher = rng.standard_normal((4, 6))
    with open(path, "w") as file:
        file.write("a,b,c,d,e,f,y\n")
        for x in rng.standard_normal((ROUNDS, 6)):
            file.write(",".join(f"{v:.5f}" for v in x) + f",k{int(np.argmax(teacher @ x))}\n")
    return path


@pytest.fixture(scope="module")
def straight(table):
    """The directory and the summary of a run that nobody interrupts."""
    out = table.parent / "straight"
    config = RunConfig(space="simplex", data=str(table), label="y", checkpoint_every=100)
    return out, execute(config, out).summary


def start(*arguments):
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from osp_core.cli import main; main()",
            "run",
            "--json",
            *map(str, arguments),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    output, errors = process.communicate(timeout=120)
    return process.returncode, output, errors


def wait_for_checkpoint(process, out):
    """Until the run has got somewhere."""
    while not list(out.glob("checkpoints/round-*.ckpt")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_checkpoint_and_the_rest_is_as_if_nothing_had_been(
    tmp_path, table, straight, number, code
):
    basic = ["--space", "simplex", "--data", table, "--label", "y", "--checkpoint-every", 100]
    out = tmp_path / "out"
    process = start(*basic, "--out", out)
    wait_for_checkpoint(process, out)
    process.send_signal(number)
    returned, output, errors = finish(process)
    assert returned == code, errors
    assert errors == f"interrupted; continue with: osp run --out {out} --resume\n"
    partial = json.loads(output)
    assert partial["finished"] is False
    assert 100 <= partial["rounds"] < ROUNDS
    assert (out / "checkpoints" / f"round-{partial['rounds']:012d}.ckpt").exists()
    assert json.loads((out / "summary.json").read_text()) == partial

    returned, output, errors = finish(start("--out", out, "--resume"))
    assert returned == 0, errors
    resumed, (whole, expected) = json.loads(output), straight
    for name, value in expected.items():
        if name != "seconds":
            assert resumed[name] == value, name
    assert (out / "trace.bin").read_bytes() == (whole / "trace.bin").read_bytes()
    newest = [max((place / "checkpoints").iterdir()) for place in (out, whole)]
    assert newest[0].read_bytes() == newest[1].read_bytes()


def test_an_interrupt_before_the_first_round_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(config):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["osp_core.runs.execute"], "prepare", interrupted)
    arguments = ["run", "--stream", "linear_teacher", "--space", "simplex", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 130
    assert not (tmp_path / "out").exists()


def test_a_second_interrupt_stops_at_once_and_the_last_checkpoint_is_sound(tmp_path, table, monkeypatch):
    real, count = osp.OnlinePredictor.step, iter(range(10**6))

    def impatient(self, *args, **kwargs):
        if next(count) == 50:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return real(self, *args, **kwargs)

    config = RunConfig(space="simplex", data=str(table), label="y", checkpoint_every=20, rounds=300)
    straight = execute(config, tmp_path / "straight")
    monkeypatch.setattr(osp.OnlinePredictor, "step", impatient)
    with pytest.raises(KeyboardInterrupt):
        execute(config, tmp_path / "out")
    monkeypatch.undo()
    assert load_model(tmp_path / "out").predictor.learner.rounds == 40
    resumed = execute(config, tmp_path / "out", resume=True)
    assert resumed.summary["weights_sha256"] == straight.summary["weights_sha256"]


def test_signals_are_handled_as_before_when_the_run_is_over(tmp_path, table):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    execute(RunConfig(space="simplex", data=str(table), label="y", rounds=3), tmp_path / "out")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
