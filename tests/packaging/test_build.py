"""Build the sdist, the wheel from it, install that, and use it. Slow: for ``pytest -m soak``."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = sorted(path.parent.name for path in (ROOT / "plugins").glob("*/__init__.py"))
pytestmark = pytest.mark.soak


def run(*command, cwd=None):
    # What is on the path of this process must not reach the new environment.
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The files of the working tree that git does not ignore, committed in a repository of their own."""
    folder = tmp_path_factory.mktemp("clone")
    for name in run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    run("git", "init", "-q", cwd=folder)
    run("git", "add", "-A", cwd=folder)
    identity = ("-c", "user.name=Tests", "-c", "user.email=tests@example.org")
    run("git", *identity, "commit", "-qm", "A clone", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def built(clone, tmp_path_factory):
    """sdist, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    tools = folder / "tools"
    run(sys.executable, "-m", "venv", tools)
    run(tools / "bin" / "pip", "install", "-q", "build")
    run(tools / "bin" / "python", "-m", "build", "--outdir", folder, clone)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture
def environment(tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    return tmp_path / "venv" / "bin"


def use(environment, cwd):
    assert "simplex" in run(environment / "osp", "spaces", cwd=cwd)
    assert "held in every round" in run(environment / "osp", "demo", "--rounds", "20", cwd=cwd)


def test_the_wheel_has_the_core_the_plugins_the_types_and_nothing_else(built):
    names = zipfile.ZipFile(built[1]).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"osp_core", *PLUGINS}
    assert "osp_core/py.typed" in names
    assert not [name for name in names if name.endswith((".pyc", ".nbc", ".nbi"))]


def test_the_sdist_has_what_is_needed_to_build_and_test(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "tox.ini", "mkdocs.yml", ".ci/run")
    assert {*wanted, "docs/index.md", "tests/conftest.py", "tests/external_plugin/pyproject.toml"} <= names
    assert not [name for name in names if name.endswith((".pyc", ".nbc", ".nbi"))]


def test_the_wheel_installs_and_works(built, environment, tmp_path):
    run(environment / "pip", "install", "-q", built[1])
    use(environment, tmp_path)


def test_the_sdist_installs_and_works(built, environment, tmp_path):
    run(environment / "pip", "install", "-q", built[0])
    use(environment, tmp_path)


@pytest.mark.parametrize("options", [["."], ["-e", "."], ["git+file://{clone}"]], ids=" ".join)
def test_pip_installs_from_the_clone_and_leaves_it_clean(clone, environment, tmp_path, options):
    run(environment / "pip", "install", "-q", *(o.format(clone=clone) for o in options), cwd=clone)
    use(environment, tmp_path)
    assert run("git", "status", "--porcelain", "--untracked-files=all", cwd=clone) == ""
