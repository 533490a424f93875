"""``osp new-plugin``: what it writes must work as written."""

import os
import subprocess
import sys

import pytest

import osp_core as osp
from osp_core.cli.new_plugin import FILES, write_project


def test_the_space_is_named_after_the_directory(osp_command, tmp_path):
    result = osp_command("new-plugin", str(tmp_path / "osp-night-sky"))
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) >= len(FILES)
    assert "osp check night_sky" in result.stdout
    assert "class NightSky(" in (tmp_path / "osp-night-sky" / "osp_night_sky" / "space.py").read_text()


def test_the_project_passes_its_own_tests_once_its_entry_point_is_installed(tmp_path):
    project = tmp_path / "osp-stars"
    write_project(project)
    # What pip would install: the package and its entry point, without asking an index for a build back end.
    info = project / "osp_stars-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: osp-stars\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[osp]\nstars = osp_stars\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(project)],
        capture_output=True,
        text=True,
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


def test_the_pyproject_declares_the_entry_point_and_the_package(tmp_path):
    import tomllib

    write_project(tmp_path / "osp-stars")
    document = tomllib.loads((tmp_path / "osp-stars" / "pyproject.toml").read_text())
    assert document["project"]["name"] == "osp-stars"
    assert document["project"]["entry-points"]["osp"] == {"stars": "osp_stars"}
    assert document["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["osp_stars"]
    assert "online-structured-prediction" in document["project"]["dependencies"]


def test_an_empty_directory_is_filled_and_a_full_one_left_alone(tmp_path):
    empty, full = tmp_path / "osp-empty", tmp_path / "osp-full"
    empty.mkdir()
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    assert write_project(empty)
    with pytest.raises(osp.InvalidInputError, match="not an empty directory"):
        write_project(full)
    assert [path.name for path in full.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["osp-simplex", "osp-2stars", "osp-class", "ösp stars", "osp-"])
def test_names_that_are_taken_or_unusable_are_refused(tmp_path, name):
    with pytest.raises(osp.InvalidInputError):
        write_project(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_names_need_no_prefix(tmp_path):
    assert (tmp_path / "stars" / "osp_stars" / "space.py") in write_project(tmp_path / "stars")
