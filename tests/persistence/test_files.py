"""Files that are whole, directories that belong to one process at a time, and nothing left behind."""

import os
import signal
import subprocess
import sys
import types

import pytest

import osp_core as osp
from osp_core.persistence import atomic as files
from osp_core.runs import RunConfig, execute, execute_seeds
from osp_core.sweeps import Store, StoreError

SETTINGS = {"space": "simplex", "params": {"d": 3}, "stream": "linear_teacher", "checkpoint_every": 10}
# A process that is killed when it has written, but not renamed, the first file whose name has this ending.
KILLED = """
import os, signal, sys
from osp_core.persistence import atomic as files
from osp_core.cli import main
real = os.replace
def replace(source, target, **how):
    if str(target).endswith(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    real(source, target, **how)
os.replace = replace
main(sys.argv[2:])
"""


def config(**changes):
    return RunConfig.of({**SETTINGS, "rounds": 30, **changes})


def names(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    return out, execute(config(), out).summary["weights_sha256"]


@pytest.mark.parametrize(
    "ending", ["run.toml", "round-000000000010.ckpt", "summary.json", "trace.npz", "report.html"]
)
def test_what_a_killed_run_was_writing_is_cleared_away_when_it_goes_on(tmp_path, undisturbed, ending):
    options = "--space simplex -p d=3 --stream linear_teacher --checkpoint-every 10 --rounds 30"
    arguments = ["run", *options.split(), "--out", str(tmp_path / "out")]
    killed = subprocess.run([sys.executable, "-c", KILLED, ending, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [name for name in names(tmp_path / "out") if name.endswith(".tmp")]
    result = execute(config(), tmp_path / "out", resume=True)
    assert result.summary["weights_sha256"] == undisturbed[1]
    assert names(tmp_path / "out") == names(undisturbed[0])


def test_only_files_of_our_own_making_are_cleared_away(tmp_path):
    out = tmp_path / "out"
    execute_seeds(config(rounds=10, seeds=[0]), out)
    strangers = {
        "note.tmp",
        ".note.tmp",
        ".summary.json.0123.tmp",
        ".summary.json.0123abcg.tmp",
        "x.0123abcd.tmp",
    }
    for name in strangers:
        (out / name).write_text("mine")
    (out / ".summary.json.00000000.tmp").mkdir()
    (tmp_path / "precious").write_text("precious")
    (out / ".run.toml.00000000.tmp").symlink_to(tmp_path / "precious")
    (out / ".run.toml.0123abcd.tmp").write_text("half a run f")
    (out / "seed-0" / ".trace.npz.0123abcd.tmp").write_text("half a tr")
    execute_seeds(config(seeds=[0]), out, resume=True)
    hidden = {name for name in names(out) if name.endswith(".tmp")}
    assert hidden == {*strangers, ".summary.json.00000000.tmp", ".run.toml.00000000.tmp"}
    assert (tmp_path / "precious").read_text() == "precious"


def test_nothing_is_cleared_away_from_a_run_that_is_going_on(tmp_path):
    out = tmp_path / "out"
    execute(config(rounds=10), out)
    (out / ".summary.json.0123abcd.tmp").write_text("half a summ")
    before = {name: (out / name).stat().st_mtime_ns for name in names(out)}
    with files.sole_use(out):
        with pytest.raises(
            osp.InvalidInputError, match="out is in use by another run; wait for it, or stop it"
        ):
            execute(config(), out, resume=True)
        assert {name: (out / name).stat().st_mtime_ns for name in before} == before


def test_a_second_run_that_found_the_directory_empty_does_not_touch_the_results_of_the_first(
    tmp_path, monkeypatch
):
    module = sys.modules["osp_core.runs.execute"]
    real = module.begin

    def slow(*arguments):
        monkeypatch.setattr(module, "begin", real)
        beginning = real(*arguments)
        execute(config(seed=1), tmp_path / "out")  # meanwhile, somewhere else
        return beginning

    monkeypatch.setattr(module, "begin", slow)
    with pytest.raises(osp.InvalidInputError, match="not empty"):
        execute(config(), tmp_path / "out")
    assert execute(config(seed=1), tmp_path / "out", resume=True).summary["rounds"] == 30


def test_a_run_that_went_on_while_another_was_about_to_resume_it_keeps_its_results(tmp_path, monkeypatch):
    module = sys.modules["osp_core.runs.execute"]
    real = module.begin
    execute(config(rounds=10), tmp_path / "out")

    def slow(*arguments):
        monkeypatch.setattr(module, "begin", real)
        beginning = real(*arguments)
        execute(config(), tmp_path / "out", resume=True)
        return beginning

    monkeypatch.setattr(module, "begin", slow)
    with pytest.raises(osp.InvalidInputError, match=r"Another run has gone on in .*resume again"):
        execute(config(rounds=20), tmp_path / "out", resume=True)
    assert execute(config(), tmp_path / "out", resume=True).summary["rounds"] == 30


def test_a_lock_is_gone_when_its_process_is_and_leaves_no_file(tmp_path):
    code = "import os, signal, sys, pathlib; from osp_core.persistence.atomic import lock;"
    code += "lock(pathlib.Path(sys.argv[1]));"
    code += "os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert names(tmp_path) == {".lock"}
    with files.sole_use(tmp_path):
        assert files.lock(tmp_path) is None
    assert names(tmp_path) == set()


def test_a_lock_whose_file_was_removed_by_the_one_before_is_taken_anew(tmp_path, monkeypatch):
    import fcntl

    real, first = fcntl.flock, files.lock(tmp_path)

    def flock(file, how):
        if first is not None and (tmp_path / ".lock").exists() and not seen:
            seen.append(file)
            first()  # the one before lets go between our opening the file and our locking it
        real(file, how)

    seen = []
    monkeypatch.setattr(fcntl, "flock", flock)
    release = files.lock(tmp_path)
    assert release is not None
    assert files.lock(tmp_path) is None  # it is the file of that name that is locked, not a removed one
    release()


class Timeout(Exception):
    """As filelock has it."""


def file_lock(held):
    """What we use of filelock.FileLock, for all of one process."""

    class FileLock:
        def __init__(self, path):
            self.path = str(path)

        def acquire(self, timeout):
            assert timeout == 0
            if self.path in held:
                raise Timeout
            held.add(self.path)

        def release(self):
            held.remove(self.path)

    return FileLock


def test_without_fcntl_directories_are_locked_with_filelock(tmp_path, monkeypatch):
    held = set()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(
        sys.modules, "filelock", types.SimpleNamespace(FileLock=file_lock(held), Timeout=Timeout)
    )
    with files.sole_use(tmp_path):
        assert held == {str(tmp_path / ".lock")}
        with pytest.raises(osp.InvalidInputError, match="in use by another run"), files.sole_use(tmp_path):
            pass
        with pytest.raises(StoreError, match="in use by another sweep"):
            Store(tmp_path)
    assert held == set()
    assert execute(config(), tmp_path / "out").summary["rounds"] == 30


def test_without_either_a_run_is_refused_and_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "filelock", None)
    for start in (lambda: execute(config(), tmp_path / "out"), lambda: Store(tmp_path / "out")):
        with pytest.raises(osp.MissingDependencyError, match="pip install filelock"):
            start()
    assert not [name for name in names(tmp_path) if not name.startswith("out")]
    assert os.listdir(tmp_path / "out") == []
