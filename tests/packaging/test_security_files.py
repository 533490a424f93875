"""What files from strangers can do: name registered things and data, and nothing else."""

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core.cli import main
from osp_core.runs import RunConfig, execute
from osp_core.sweeps import read_grid

STREAM = 'stream = "linear_teacher"\nrounds = 5\n'
# A module that nothing of ours imports: it shows whether a name in a file made somebody import it.
CANARY = "this"
NAMES = [
    "this:s",
    "this",
    "os:system",
    "osp_core.errors:OspError",
    "../simplex",
    "/etc/passwd",
    "",
    "simplex\0",
    ".",
]


@pytest.fixture
def folder(tmp_path):
    """A directory with a file beside which a stranger's run file lies."""
    (tmp_path / "secret.csv").write_text("a,label\n1,u\n2,v\n")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "d.csv").write_text("a,label\n1,u\n2,v\n")
    return tmp_path / "inside"


@pytest.mark.parametrize("setting", ["space", "learner", "stream"])
@pytest.mark.parametrize("name", NAMES)
def test_names_in_run_files_are_looked_up_and_never_imported(tmp_path, setting, name):
    values = {"space": "simplex", "params": {"d": 3}, "stream": "linear_teacher", "rounds": 5, setting: name}
    sys.modules.pop(CANARY, None)
    with pytest.raises(osp.OspError):
        execute(RunConfig.of(values), tmp_path / "out")
    assert CANARY not in sys.modules
    assert list(tmp_path.rglob("summary.json")) == []


@pytest.mark.parametrize("setting", ["decoder", "target"])
@pytest.mark.parametrize("name", NAMES[:4])
def test_decoders_and_targets_come_from_a_list(tmp_path, setting, name):
    values = {"space": "simplex", "params": {"d": 3}, "stream": "linear_teacher", "rounds": 5, setting: name}
    with pytest.raises(osp.OspError):
        execute(RunConfig.of(values), tmp_path / "out")


@pytest.mark.parametrize(
    "psi", ["__import__('os').system('true')", "SquaredNorm(__class__)", "SquaredNorm((1))"]
)
def test_text_that_looks_like_python_is_not_evaluated(tmp_path, psi):
    values = {"space": "simplex", "params": {"d": 3, "psi": psi}, "stream": "linear_teacher", "rounds": 5}
    with pytest.raises(osp.OspError, match="psi"):
        execute(RunConfig.of(values), tmp_path / "out")


@pytest.mark.parametrize("path", ["../secret.csv", "a/../../secret.csv", "..\\secret.csv", "./../secret.csv"])
@pytest.mark.parametrize("read", [read_grid, RunConfig.from_toml], ids=["sweep file", "run file"])
def test_paths_cannot_climb_out_of_the_directory_of_a_file(folder, path, read):
    (folder / "file.toml").write_text(f"space = 'simplex'\ndata = '{path}'\n")
    with pytest.raises(osp.InvalidInputError, match=r"'\.\.'"):
        read(folder / "file.toml")


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_the_commands_refuse_such_files_in_one_line_and_write_nothing(folder, tmp_path, command):
    (folder / "file.toml").write_text("space = 'simplex'\ndata = '../secret.csv'\n")
    given = {"run": ["run", "--config"], "sweep": ["sweep"]}[command]
    done = CliRunner().invoke(main, [*given, str(folder / "file.toml"), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "'..'" in done.output
    assert "Traceback" not in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("setting", ["out", "store", "checkpoint", "plugins", "scheduler", "report"])
@pytest.mark.parametrize("read", [read_grid, RunConfig.from_toml], ids=["sweep file", "run file"])
def test_no_file_says_where_results_go_or_what_code_to_load(tmp_path, setting, read):
    (tmp_path / "file.toml").write_text(f"space = 'simplex'\n{STREAM}{setting} = '../../elsewhere'\n")
    with pytest.raises(osp.InvalidInputError, match=f"no setting '{setting}'"):
        read(tmp_path / "file.toml")


def test_the_run_file_of_a_run_can_be_run_again_from_anywhere(folder, tmp_path, monkeypatch):
    config = RunConfig.of({"space": "simplex", "data": str(tmp_path / "secret.csv")})
    first = execute(config, tmp_path / "results" / "first")
    monkeypatch.chdir(folder)
    written = RunConfig.from_toml(tmp_path / "results" / "first" / "run.toml")
    again = execute(written.beside(tmp_path / "results" / "first"), tmp_path / "results" / "second")
    assert again.summary["weights_sha256"] == first.summary["weights_sha256"]


def test_names_of_classes_never_become_names_of_files(folder, tmp_path):
    classes = ["../../u", "/etc/v", "w\0x", "..", "a" * 300]
    rows = [json.dumps({"a": number, "label": classes[number % 5]}) for number in range(10)]
    (folder / "names.jsonl").write_text("\n".join(rows))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    config = RunConfig.of({"space": "simplex", "data": str(folder / "names.jsonl")})
    assert execute(config, tmp_path / "out").summary["rounds"] == 10
    written = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert written
    assert all((tmp_path / "out") in path.parents for path in written)
    assert all(re.fullmatch(r"[\w.-]+", path.name) and len(path.name) < 60 for path in written)


PLUGIN = "open({marker!r}, 'w').close()\n"


def test_plugins_are_loaded_from_no_directory_that_nobody_named(tmp_path):
    """Neither from the current directory, nor from beside the run file, the data or the results."""
    marker = tmp_path / "loaded"
    for place in (tmp_path, tmp_path / "plugins", tmp_path / "out"):
        place.mkdir(exist_ok=True)
        for name in ("plugin.py", "osp_evil.py", "osp_plugin.py", "conftest.py"):
            (place / name).write_text(PLUGIN.format(marker=str(marker)))
    (tmp_path / "run.toml").write_text(f"space = 'simplex'\nparams = {{d = 3}}\n{STREAM}")
    code = "from osp_core.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "run", "--config", "run.toml", "--out", "out/new"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not marker.exists()


def test_new_plugins_are_named_by_harmless_names_only(tmp_path):
    for name in ("a b", "a;b", "1a", "ä", "class", "$x"):
        done = CliRunner().invoke(main, ["new-plugin", str(tmp_path / "new" / name)])
        assert done.exit_code == 2, name
    assert not (tmp_path / "new").exists()
