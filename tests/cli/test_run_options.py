"""``osp run``: decoders, targets, seeds, scales, progress, exit codes, run files."""

import errno
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import osp_core as osp
from osp_core.runs.progress_table import ProgressTable

STREAM = ["--stream", "linear_teacher", "--no-report"]


@pytest.fixture
def run(osp_command, tmp_path):
    """Call ``osp run`` into a directory, and read what it left."""

    def call(*arguments, out="out"):
        result = osp_command("run", *map(str, arguments), "--out", str(tmp_path / out))
        summary = tmp_path / out / "summary.json"
        return result, json.loads(summary.read_text()) if summary.exists() else None

    return call


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    rows = [f"{i},{10 + a:.4f},{1000 * b:.4f},{'yes' if a > b else 'no'}" for i, (a, b) in
            enumerate(rng.standard_normal((200, 2)))]  # fmt: skip
    (tmp_path / "d.csv").write_text("id,a,b,label\n" + "\n".join(rows) + "\n")
    return tmp_path / "d.csv"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("randomized", osp.RandomizedDecoder),
        ("blockwise", osp.BlockwiseDecoder),
        ("nearest", osp.NearestDecoder),
        ("sampling", osp.SamplingDecoder),
        ("uniform", osp.UniformExploration),
    ],
)
def test_every_decoder_can_be_chosen_and_resumed(run, name, kind):
    basic = ["--space", "hypercube", "-p", "d=3", "--decoder", name, *STREAM]
    _, half = run(*basic, "--rounds", 20)
    result, resumed = run(*basic, "--rounds", 40, "--resume")
    assert result.exit_code == 0, result.stderr
    _, straight = run(*basic, "--rounds", 40, out="straight")
    assert half["decoder"] == kind.__name__
    assert (half["rounds"], resumed["rounds"]) == (20, 40)
    assert resumed["weights_sha256"] == straight["weights_sha256"]
    assert resumed["target_loss"] == straight["target_loss"]


@pytest.mark.parametrize(
    ("space", "target"),
    [
        (["simplex", "-p", "d=3"], ["zero_one"]),
        (["simplex", "-p", "d=3"], ["table", "--target-param", "matrix=[[0,1,5],[1,0,1],[5,1,0]]"]),
        (["hypercube", "-p", "d=3"], ["hamming"]),
        (["ordinal", "-p", "d=3"], ["absolute"]),
        (["k_subsets", "-p", "d=4", "-p", "k=2"], ["mismatch"]),
        (["permutahedron", "-p", "d=4"], ["alignment"]),
        (["birkhoff", "-p", "n=3"], ["ndcg", "--target-param", "gains=[3,1,0]"]),
    ],
)
def test_every_target_can_be_chosen_with_its_parameters_and_resumed(run, space, target):
    basic = ["--space", *space, "--target", *target, *STREAM]
    _, half = run(*basic, "--rounds", 15)
    assert half["target"] == target[0]
    result, resumed = run(*basic, "--rounds", 30, "--resume")
    assert result.exit_code == 0, result.stderr
    _, straight = run(*basic, "--rounds", 30, out="straight")
    assert resumed["target_loss"] == straight["target_loss"]
    assert resumed["weights_sha256"] == straight["weights_sha256"]


def test_a_table_of_losses_is_what_is_paid(run):
    matrix = "matrix=[[0,7],[7,0]]"
    basic = ["--space", "simplex", "-p", "d=2", *STREAM, "--rounds", 50]
    _, weighted = run(*basic, "--target", "table", "--target-param", matrix, "--decoder", "nearest")
    _, plain = run(*basic, "--decoder", "nearest", out="plain")
    assert plain["target_loss"] > 0
    assert weighted["target_loss"] % 7 == pytest.approx(0)


def test_psi_can_be_written_as_text(run):
    basic = ["--space", "simplex", "-p", "d=3", *STREAM, "--rounds", 10]
    _, squared = run(*basic, "-p", "psi=SquaredNorm(0.5)", "-p", "norm=2")
    _, usual = run(*basic, out="usual")
    assert squared["weights_sha256"] != usual["weights_sha256"]
    result, _ = run(*basic, "-p", "psi=open('x')", out="bad")
    assert result.exit_code == 2
    assert "psi must be one of SquaredNorm" in result.stderr


def test_a_stream_that_brings_its_space_needs_none(run, monkeypatch):
    class Own:
        @osp.hookimpl
        def osp_streams(self):
            def two(rounds, seed=0):
                space = osp.make_space("simplex", d=2)
                pairs = [(np.array([1.0, float(i % 2)]), i % 2) for i in range(rounds)]
                return osp.Stream(space, 2, 1.5, rounds, lambda: iter(pairs))

            return [osp.Registration("two", two, parameters=("rounds", "seed"))]

    osp.register(Own(), "own")
    try:
        result, summary = run("--stream", "two", "--rounds", 8, "--no-report")
        assert result.exit_code == 0, result.stderr
        assert (summary["space"], summary["rounds"]) == ("simplex", 8)
        result, _ = run("--stream", "two", "--space", "ordinal", "--rounds", 8, out="wrong")
        assert result.exit_code == 2
        assert "is one of 'simplex', not of 'ordinal'" in result.stderr
    finally:
        osp.unregister("own")


def test_an_adversary_is_played_and_resumed(run):
    basic = ["--space", "simplex", "-p", "d=3", "--stream", "adaptive_adversary", "--no-report"]
    run(*basic, "--rounds", 20)
    _, resumed = run(*basic, "--rounds", 50, "--resume")
    _, straight = run(*basic, "--rounds", 50, out="straight")
    assert resumed["weights_sha256"] == straight["weights_sha256"]
    assert straight["expected_loss"] > 0.5 * 50


def test_several_seeds_are_a_run_each_and_a_summary_with_mean_and_spread(run, tmp_path):
    basic = ["--space", "simplex", "-p", "d=3", *STREAM, "--rounds", 40]
    result, summary = run(*basic, "--seeds", "0-1,5")
    assert result.exit_code == 0, result.stderr
    assert "and 3 seeds: mean loss" in result.stdout
    singles = [run(*basic, "--seed", seed, out=f"single-{seed}")[1] for seed in (0, 1, 5)]
    assert summary["seeds"] == [0, 1, 5]
    assert summary["weights_sha256"] == [single["weights_sha256"] for single in singles]
    for name in ("target_loss", "expected_loss", "surrogate_loss"):
        values = [single[name] for single in singles]
        assert summary[name] == pytest.approx(np.mean(values))
        assert summary["standard_deviation"][name] == pytest.approx(np.std(values, ddof=1))
    for single, seed in zip(singles, (0, 1, 5), strict=True):
        one = json.loads((tmp_path / "out" / f"seed-{seed}" / "summary.json").read_text())
        assert one["weights_sha256"] == single["weights_sha256"]
    result, again = run("--resume", "--no-report")
    assert result.exit_code == 0, result.stderr
    assert again["target_loss"] == summary["target_loss"]


def test_seeds_that_were_killed_in_the_middle_are_resumed_from_the_directory_alone(
    run, tmp_path, monkeypatch
):
    basic = ["--space", "simplex", "-p", "d=3", *STREAM, "--rounds", 40, "--seeds", "0-2"]
    _, straight = run(*basic, out="straight")
    real, count = osp.OnlinePredictor.step, iter(range(10**6))

    def dies(self, *args, **kwargs):
        if next(count) == 70:
            raise RuntimeError("power cut")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(osp.OnlinePredictor, "step", dies)
    run(*basic)
    monkeypatch.undo()
    assert not (tmp_path / "out" / "summary.json").exists()
    result, resumed = run("--resume", "--no-report")
    assert result.exit_code == 0, result.stderr
    for name in ("target_loss", "expected_loss", "surrogate_loss"):
        assert resumed[name] == straight[name]
        assert resumed["standard_deviation"][name] == straight["standard_deviation"][name]


def test_checkpoints_come_by_the_clock_too_and_only_the_last_are_kept(run, tmp_path):
    basic = ["--space", "simplex", "-p", "d=3", *STREAM, "--rounds", 6]
    run(*basic, "--checkpoint-seconds", "1e-9", "--keep", 4)
    names = sorted(path.name for path in (tmp_path / "out" / "checkpoints").iterdir())
    assert names == [f"round-{number:012d}.ckpt" for number in (3, 4, 5, 6)]


@pytest.mark.parametrize("text", ["a", "1-", "-1", "3-1", "1,,2", "1,1"])
def test_seeds_that_are_none_are_refused(run, text, tmp_path):
    result, _ = run("--space", "simplex", "-p", "d=2", *STREAM, "--rounds", 5, "--seeds", text)
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_features_are_scaled_so_that_units_do_not_matter(run, table):
    basic = ["--space", "simplex", "--data", table, "--drop", "id", "--no-report"]
    _, scaled = run(*basic)
    _, raw = run(*basic, "--scale", "none", out="raw")
    assert scaled["feature_bound"] < 10 < 1000 < raw["feature_bound"]
    assert scaled["target_loss"] < raw["target_loss"]
    # Other units of the same measurements give the same run, up to rounding.
    lines = table.read_text().splitlines()
    converted = [line.split(",") for line in lines[1:]]
    table.write_text(
        "\n".join([lines[0], *(f"{i},{1024 * float(a) - 512},{float(b)},{y}" for i, a, b, y in converted)])
    )
    _, units = run(*basic, out="units")
    assert units["surrogate_loss"] == pytest.approx(scaled["surrogate_loss"], rel=1e-6)


def test_columns_can_be_chosen_or_dropped(run, table, tmp_path):
    basic = ["--space", "simplex", "--data", table, "--no-report"]
    _, dropped = run(*basic, "--drop", "id")
    _, chosen = run(*basic, "--features", "a,b", out="chosen")
    assert chosen["weights_sha256"] == dropped["weights_sha256"]
    result, _ = run(*basic, "--features", "a,c", out="wrong")
    assert result.exit_code == 2
    assert "d.csv:1: there is no column 'c'" in result.stderr


def test_a_run_is_repeated_from_its_run_file_and_options_override_it(run, table, tmp_path):
    _, first = run("--space", "simplex", "--data", table, "--drop", "id", "--seed", 3, "--no-report")
    written = tmp_path / "out" / "run.toml"
    _, again = run("--config", written, "--no-report", out="again")
    assert again["weights_sha256"] == first["weights_sha256"]
    assert again["target_loss"] == first["target_loss"]
    _, shorter = run("--config", written, "--rounds", 7, "--no-report", out="shorter")
    assert shorter["rounds"] == 7


def test_resuming_needs_nothing_but_the_directory(run, table):
    run("--space", "simplex", "--data", table, "--drop", "id", "--rounds", 50, "--no-report")
    _, more = run("--resume", "--rounds", 120, "--no-report")
    _, straight = run(
        "--space", "simplex", "--data", table, "--drop", "id", "--rounds", 120, "--no-report", out="straight"
    )
    assert more["rounds"] == 120
    assert more["weights_sha256"] == straight["weights_sha256"]


def test_resuming_where_nothing_was_run_says_so(run, tmp_path):
    result, _ = run("--resume")
    assert result.exit_code == 2
    assert "There is no run in" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("setting", ['out = "../elsewhere"', 'output = "x"', 'outt = "x"'])
def test_a_run_file_cannot_say_where_results_go(run, tmp_path, setting):
    (tmp_path / "run.toml").write_text(f'space = "simplex"\nstream = "linear_teacher"\n{setting}\n')
    result, _ = run("--config", tmp_path / "run.toml")
    assert result.exit_code == 2
    assert "there is no setting" in result.stderr
    assert "--out" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--space", "simplex", "-p", "d=3", "--decoder", "randomised"],
        ["--space", "simplex", "-p", "d=3", "--target", "zero-one"],
        ["--space", "simplex", "-p", "d=3", "--target-param", "gamma=1"],
        ["--space", "simplex", "-p", "d=3", "--target", "hamming", "--target-param", "gamma=1"],
        ["--space", "simplex", "-p", "d=3", "--target", "table"],
        ["--space", "simplex", "-p", "d=3", "--target", "table", "--target-param", "matrix=[[0,1],[1,0]]"],
        ["--space", "hypercube", "-p", "d=3", "--target", "mismatch"],
        ["--space", "simplex", "-p", "d=3", "--decoder", "blockwise"],
        ["--space", "simplex", "-p", "d=3", "--learner", "adaptive_ogd"],
        ["--space", "simplex", "-p", "d=3", "--feature-bound", "-1"],
        ["--space", "simplex", "-p", "d=3", "--checkpoint-seconds", "0"],
        ["--space", "vertices", "-p", "array=[[0],[1]]", "--classes", "a,b"],
    ],
)
def test_what_does_not_exist_or_fit_is_bad_input_and_leaves_nothing(run, tmp_path, arguments):
    result, _ = run(*arguments, *STREAM, "--rounds", 5)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_target_that_does_not_fit_the_space_is_bad_input_and_the_fitting_ones_are_named(run, tmp_path):
    result, _ = run("--space", "permutahedron", "-p", "d=12", "--target", "zero_one", *STREAM, "--rounds", 5)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "these fit: alignment." in result.stderr
    assert not (tmp_path / "out").exists()


def test_what_breaks_down_while_running_is_exit_code_1(run, monkeypatch, tmp_path):
    def breaks(self, *args, **kwargs):
        raise osp.NumericalError("the numbers broke down")

    monkeypatch.setattr(osp.OnlinePredictor, "step", breaks)
    result, _ = run("--space", "simplex", "-p", "d=3", *STREAM, "--rounds", 5)
    assert result.exit_code == 1
    assert result.stderr == "Error: Round 1: the numbers broke down\n"


def test_a_full_disk_is_exit_code_1_and_names_the_file(run, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result, _ = run("--space", "simplex", "-p", "d=3", *STREAM, "--rounds", 5)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "run.toml cannot be written: No space left on device." in result.stderr
    assert result.stderr.count("\n") == 1


def test_quiet_says_nothing_and_json_only_json(run):
    basic = ["--space", "simplex", "-p", "d=3", *STREAM, "--rounds", 5]
    quiet, _ = run(*basic, "--quiet")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "", "")
    as_json, summary = run(*basic, "--json", out="json")
    assert json.loads(as_json.stdout) == summary
    assert as_json.stderr == ""


def test_progress_is_shown_to_a_terminal_and_not_to_a_pipe(tmp_path):
    import pty

    def call(out, stderr):
        arguments = ["run", "--space", "simplex", "-p", 'classes=["cat","dog"]', *STREAM, "--rounds", "10"]
        return subprocess.Popen(
            [sys.executable, "-c", "from osp_core.cli import main; main()", *arguments, "--out", out],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    piped = call("piped", subprocess.PIPE).communicate()
    assert piped[1] == ""
    ours, theirs = pty.openpty()
    process = call("shown", theirs)
    os.close(theirs)
    process.communicate()
    shown = os.read(ours, 100_000).decode().splitlines()
    os.close(ours)
    assert shown[0].split() == [
        "since",
        "last",
        "mean",
        "loss",
        "surrogate",
        "rounds",
        "p",
        "label",
        "prediction",
    ]
    assert [line.split()[3] for line in shown[1:]] == ["1", "2", "4", "8"]
    assert all(line.split()[-1] in ("cat", "dog") for line in shown[1:])


def test_the_means_in_the_progress_table_are_those_of_the_trace():
    space, output = osp.make_space("simplex", d=3), io.StringIO()
    stream = osp.make_stream("linear_teacher", space=space, rounds=40, seed=2)
    predictor = osp.OnlinePredictor(space, stream.n_features, feature_bound=stream.feature_bound, seed=0)
    trace = osp.run(predictor, stream, callback=ProgressTable(space, output))
    lines = [line.split() for line in output.getvalue().splitlines()[1:]]
    assert [int(line[3]) for line in lines] == [1, 2, 4, 8, 16, 32]
    last = 0
    for since, mean, surrogate, number, p, *_ in lines:
        rounds = int(number)
        assert float(since) == pytest.approx(trace.target_loss[last:rounds].mean(), abs=1e-4)
        assert float(mean) == pytest.approx(trace.target_loss[:rounds].mean(), abs=1e-4)
        assert float(surrogate) == pytest.approx(trace.surrogate_loss[:rounds].mean(), abs=1e-4)
        assert float(p) == pytest.approx(trace.p[rounds - 1], abs=1e-3)
        last = rounds


def test_labels_with_control_characters_do_not_reach_the_terminal():
    space, output = osp.make_space("simplex", classes=["\x1b[31m", "b"]), io.StringIO()
    stream = osp.make_stream("linear_teacher", space=space, rounds=4, seed=2)
    predictor = osp.OnlinePredictor(space, stream.n_features, feature_bound=stream.feature_bound, seed=0)
    osp.run(predictor, stream, callback=ProgressTable(space, output))
    assert "\x1b" not in output.getvalue()
    assert "?[31m" in output.getvalue()
