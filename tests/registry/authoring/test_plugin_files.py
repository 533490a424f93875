"""Plugins that are single files of a directory somebody named."""

import os
import subprocess
import sys

import pytest

import osp_core as osp
from osp_core.registry import Registry

SOURCE = """
import numpy as np
import osp_core as osp

class Coins(osp.ZeroOneSpace):
    def __init__(self, n=3):
        super().__init__()
        self.dim = n
    def lmo(self, cost):
        return np.eye(self.dim)[np.argmin(cost)]
    @classmethod
    def examples(cls):
        return (cls(3),)

@osp.hookimpl
def osp_spaces():
    return [osp.Registration("{name}", Coins, summary="one of n coins", parameters=("n",))]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "coins.py").write_text(SOURCE.format(name="coins"))
    (tmp_path / "_helper.py").write_text("raise RuntimeError('helpers are not plugins')")
    (tmp_path / "notes.txt").write_text("not python")
    return tmp_path


def names(registry):
    return {record.name: record for record in registry.records("space")}


def test_files_of_a_named_directory_are_plugins(folder):
    registry = Registry()
    assert "coins" not in names(registry)
    assert registry.add_directory(str(folder)) == ["coins"]
    assert names(registry)["coins"].plugin == "coins"
    assert registry.make("space", "coins", {"n": 4}).dim == 4
    assert registry.add_directory(str(folder)) == []  # each file once


def test_the_environment_variable_names_directories(folder, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    (other / "notes.py").write_text(SOURCE.format(name="bank_notes"))
    monkeypatch.setenv("OSP_PLUGINS", f"{folder}{os.pathsep}{other}")
    assert {"coins", "bank_notes"} <= set(names(Registry()))


def test_nothing_is_loaded_from_the_current_directory(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("OSP_PLUGINS", raising=False)
    assert "coins" not in names(Registry())


def test_a_file_that_fails_is_reported_and_hinders_no_other(folder):
    (folder / "broken.py").write_text("import no_such_module")
    registry = Registry()
    registry.add_directory(str(folder))
    assert names(registry)["coins"].available
    broken = names(registry)["broken"]
    assert not broken.available
    assert "no_such_module" in broken.reason
    assert "broken.py" in broken.reason


def test_a_missing_directory_is_an_error_or_listed_as_broken(tmp_path, monkeypatch):
    with pytest.raises(osp.InvalidInputError, match="no directory"):
        Registry().add_directory(str(tmp_path / "nowhere"))
    monkeypatch.setenv("OSP_PLUGINS", str(tmp_path / "nowhere"))
    record = names(Registry())["OSP_PLUGINS"]
    assert not record.available
    assert "no directory" in record.reason


def test_the_command_takes_the_directory_as_an_option(folder):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from osp_core.cli import main; main()",
            "--plugins",
            str(folder),
            "check",
            "coins",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "coins-0" in done.stdout
