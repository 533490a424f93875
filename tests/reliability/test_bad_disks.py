"""Disks that are full or read-only and clocks that jump: checkpoints stay sound, errors are clear."""

import errno
import os
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import osp_core as osp
from osp_core.persistence.archive import CheckpointError
from osp_core.persistence.atomic import sole_use
from osp_core.runs import RunConfig, execute
from osp_core.runs.trace_file import TraceFile

SETTINGS = {
    "space": "hypercube",
    "params": {"d": 40},
    "stream": "linear_teacher",
    "stream_params": {"n_features": 20},
    "rounds": 120,
    "checkpoint_every": 10,
    "keep": 3,
}
COMMAND = [sys.executable, "-c", "from osp_core.cli import main; main()"]


def straight(folder, **changes):
    return execute(RunConfig.of({**SETTINGS, **changes}), folder)


def assert_resumable(out, reference):
    """Every checkpoint is sound, nothing half written is taken for one, and the run ends as it should."""
    paths = osp.Checkpoints(out / "checkpoints", every=1).paths()
    assert paths
    for path in paths:
        osp.read_checkpoint(path)
    resumed = execute(RunConfig.of(SETTINGS), out, resume=True)
    assert resumed.summary["rounds"] == reference.summary["rounds"]
    assert resumed.summary["weights_sha256"] == reference.summary["weights_sha256"]
    assert (out / "trace.bin").read_bytes() == (Path(reference.place) / "trace.bin").read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    place = tmp_path_factory.mktemp("reference") / "out"
    result = straight(place)
    object.__setattr__(result, "place", place)
    return result


def fill_the_disk(monkeypatch, after):
    """Let so many files reach the disk; then it is full."""
    real, synced = os.fsync, []

    def fsync(handle):
        if stat.S_ISREG(os.fstat(handle).st_mode):
            synced.append(handle)
            if len(synced) > after:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)


# The run file, then trace and checkpoint in turn, then the trace, the summary and the trace as a whole.
@pytest.mark.parametrize("after", [3, 4, 11, 24, 26, 27, 28, 29])
def test_a_full_disk_ends_the_run_with_a_clear_error_and_sound_checkpoints(
    tmp_path, monkeypatch, after, reference
):
    fill_the_disk(monkeypatch, after)
    with pytest.raises(osp.OspError, match=r"out/.* cannot be written: No space left on device\."):
        straight(tmp_path / "out")
    monkeypatch.undo()
    assert not list((tmp_path / "out").rglob(".*"))
    assert_resumable(tmp_path / "out", reference)


class Flaky:
    """A file that fails to write once."""

    def __init__(self, file, after):
        self.file, self.left = file, after

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, data):
        self.left -= 1
        if self.left == 0:
            self.file.write(data[:17])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(data)


def test_a_row_that_was_not_written_is_no_part_of_a_checkpoint(tmp_path, monkeypatch, reference):
    """The round is over, its row is torn, and a moment later there is room again."""
    start = TraceFile.__init__

    def flaky(self, *args, **kwargs):
        start(self, *args, **kwargs)
        self._file = Flaky(self._file, after=56)

    monkeypatch.setattr(TraceFile, "__init__", flaky)
    with pytest.raises(osp.OspError, match=r"trace\.bin cannot be written: No space left on device\. Put"):
        straight(tmp_path / "out")
    monkeypatch.undo()
    newest = osp.Checkpoints(tmp_path / "out" / "checkpoints", every=1).paths()[0]
    assert newest.name == "round-000000000050.ckpt"
    assert_resumable(tmp_path / "out", reference)


def test_a_bad_round_is_what_is_reported_when_the_disk_is_full_as_well(tmp_path, monkeypatch):
    real = osp.OnlinePredictor.step

    def step(self, x, y):
        if self.learner.rounds == 33:
            fill_the_disk(monkeypatch, 0)
            raise osp.NumericalError("the numbers broke down")
        return real(self, x, y)

    monkeypatch.setattr(osp.OnlinePredictor, "step", step)
    with pytest.raises(osp.NumericalError, match="Round 34: the numbers broke down"):
        straight(tmp_path / "out")


def test_two_processes_cannot_write_one_run(tmp_path):
    straight(tmp_path / "out")
    with (
        sole_use(tmp_path / "out"),
        pytest.raises(osp.InvalidInputError, match="out is in use by another run"),
    ):
        execute(RunConfig.of({**SETTINGS, "rounds": 130}), tmp_path / "out", resume=True)


def run_limited(out, largest_file):
    """``osp run`` in a process that may write no file larger than this: the kernel refuses the rest."""

    def limit():
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    options = "--space hypercube -p d=40 --stream linear_teacher --stream-param n_features=20 --rounds 120"
    return subprocess.run(
        [*COMMAND, "run", *options.split(), "--checkpoint-every", "10", "--out", str(out), "--json"],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_write_the_system_refuses_is_one_line_on_the_command_line(tmp_path, reference):
    done = run_limited(tmp_path / "out", 8_000)  # less than a checkpoint
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").glob("checkpoints/*"))
    resumed = execute(RunConfig.of(SETTINGS), tmp_path / "out", resume=True)
    assert resumed.summary["weights_sha256"] == reference.summary["weights_sha256"]


@pytest.mark.soak
def test_a_small_file_system_that_fills_up(tmp_path, reference):
    """A real one, of 100 kB; needs the right to mount it."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", place], check=True)
    try:
        with pytest.raises(osp.OspError, match="No space left on device"):
            straight(place / "out", keep=50)
        for path in (place / "out" / "checkpoints").glob("round-*.ckpt"):
            osp.read_checkpoint(path)
        assert not list((place / "out" / "checkpoints").glob(".*"))
        subprocess.run(["mount", "-o", "remount,size=10m", place], check=True)
        assert_resumable(place / "out", reference)
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        with pytest.raises(osp.OspError, match="Read-only file system"):
            execute(RunConfig.of({**SETTINGS, "rounds": 130}), place / "out", resume=True)
        subprocess.run(["mount", "-o", "remount,rw", place], check=True)
        assert_resumable(place / "out", reference)
    finally:
        subprocess.run(["umount", place], check=True)


def refuse_to_write(monkeypatch):
    """What a read-only mount does; permissions would not stop the superuser."""
    real = os.open

    def read_only(path, flags, *args, **kwargs):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", read_only)


def test_a_read_only_directory_is_a_clear_error_and_nothing_is_lost(tmp_path, monkeypatch):
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=3), 2, seed=0)
    predictor.step([0.1, 0.2], 1)
    checkpoints = osp.Checkpoints(tmp_path, every=1, keep=2)
    checkpoints.save(predictor, 1)
    predictor.step([0.1, 0.2], 1)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    refuse_to_write(monkeypatch)
    with pytest.raises(CheckpointError, match=r"Read-only file system\. What was there before is untouched"):
        checkpoints.save(predictor, 2)
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert checkpoints.save(predictor, 2).exists()  # it goes on when it can


def test_clocks_that_jump_change_nothing(tmp_path, monkeypatch, reference):
    jumps = iter(np.random.default_rng(0).uniform(-1e9, 4e9, size=10**6))
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    monkeypatch.setattr(time, "time_ns", lambda: int(next(jumps) * 1e9))
    execute(RunConfig.of({**SETTINGS, "rounds": 57}), tmp_path / "out")
    newest = osp.Checkpoints(tmp_path / "out" / "checkpoints", every=1).paths()[0]
    assert newest.name == "round-000000000057.ckpt"
    for number, path in enumerate(sorted((tmp_path / "out" / "checkpoints").iterdir())):
        os.utime(path, (10**9 - number, 10**9 - number))  # the newest looks oldest
    resumed = execute(RunConfig.of(SETTINGS), tmp_path / "out", resume=True)
    assert resumed.summary["weights_sha256"] == reference.summary["weights_sha256"]


def test_seconds_between_checkpoints_are_those_of_a_clock_nobody_sets(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "time", lambda: 0.0)
    checkpoints = osp.Checkpoints(tmp_path, seconds=60.0)
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=2), 1, seed=0)
    assert not checkpoints.due(1)
    now[0] += 59.0
    assert not checkpoints.due(2)
    now[0] += 1.0
    assert checkpoints.due(3)
    checkpoints.save(predictor, 3)
    assert not checkpoints.due(4)
    with pytest.raises(osp.InvalidInputError, match="rounds or seconds"):
        osp.Checkpoints(tmp_path)


def test_what_a_killed_process_left_unfinished_is_cleared_away(tmp_path):
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=2), 1, seed=0)
    checkpoints = osp.Checkpoints(tmp_path, every=1, keep=2)
    (tmp_path / ".round-000000000001.ckpt.abc.tmp").write_bytes(b"half a checkp")
    for rounds in range(5):
        checkpoints.save(predictor, rounds)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "round-000000000003.ckpt",
        "round-000000000004.ckpt",
    ]


def test_the_newest_sound_checkpoint_is_loaded_when_asked(tmp_path):
    checkpoints = osp.Checkpoints(tmp_path, every=1, keep=5)
    predictor = osp.OnlinePredictor(osp.make_space("simplex", d=2), 1, seed=0)
    for rounds in range(1, 4):
        predictor.step([0.5], 1)
        checkpoints.save(predictor, rounds)
    assert osp.OnlinePredictor.load(tmp_path).learner.rounds == 3
    newest = checkpoints.paths()[0]
    newest.write_bytes(newest.read_bytes()[:-30])
    for path in (tmp_path, newest):
        with pytest.raises(CheckpointError):
            osp.OnlinePredictor.load(path)
        with pytest.warns(RuntimeWarning, match="passed over a damaged checkpoint"):
            assert osp.OnlinePredictor.load(path, fall_back=True).learner.rounds == 2
    for path in checkpoints.paths():
        path.write_bytes(b"")
    with pytest.warns(RuntimeWarning), pytest.raises(CheckpointError, match="no sound checkpoint"):
        osp.OnlinePredictor.load(tmp_path, fall_back=True)
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match="no checkpoint in"):
        osp.OnlinePredictor.load(tmp_path / "empty")
