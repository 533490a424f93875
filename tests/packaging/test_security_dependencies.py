"""What we depend on and what we ship: nothing that nobody decided on."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = "online-structured-prediction"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Who may be asked for: a new dependency is a decision, and is made here.
CORE = {"numpy", "scipy", "pluggy", "click"}
OPTIONAL = {
    "networkx",
    "cvxpy",
    "highspy",
    "numba",
    "rich",
    "matplotlib",
    "scikit-learn",
    "river",
    "torch",
    "joblib",
    "dask",
    "distributed",
    "pandas",
    "polars",
    "pyarrow",
    "filelock",
}
TOOLS = {"pytest", "hypothesis", "pytest-xdist", "mkdocs-material", "mkdocstrings"}
BUILD = {"hatchling"}
# A name, extras, one lower bound: no address, no path, no marker, no option of pip.
PLAIN = re.compile(r"([a-z][a-z0-9.-]*)(\[[a-z,]+\])?>=\d+(\.\d+)*")
SHIPPED = re.compile(r".*\.(py|typed)|osp_core/cli/templates/.*\.txt")


def requirements():
    project = PROJECT["project"]
    yield from (("core", one) for one in project["dependencies"])
    yield from (("build", one) for one in PROJECT["build-system"]["requires"])
    for extra, listed in project["optional-dependencies"].items():
        yield from ((extra, one) for one in listed if not one.startswith(NAME))


@pytest.mark.parametrize(("extra", "requirement"), list(requirements()))
def test_every_requirement_is_a_known_name_with_a_lower_bound(extra, requirement):
    match = PLAIN.fullmatch(requirement)
    assert match, f"{requirement!r} is no plain requirement"
    allowed = {"core": CORE, "build": BUILD, "test": TOOLS, "docs": TOOLS}.get(extra, OPTIONAL)
    assert match[1] in allowed


def test_the_installed_distribution_asks_for_the_same():
    asked = {re.match(r"[A-Za-z0-9.-]+", one)[0].lower() for one in metadata.requires(NAME)}
    assert asked <= CORE | OPTIONAL | TOOLS | {NAME}


def test_the_packages_hold_source_and_templates_only():
    files = [
        path.relative_to(root)
        for root in (ROOT, ROOT / "plugins")
        for package in root.glob("osp_*")
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert len(files) > 120
    assert [str(path) for path in files if not SHIPPED.fullmatch(path.as_posix())] == []
    assert [str(path) for path in files if (ROOT / path).is_symlink()] == []


def test_the_installed_distribution_has_no_other_files():
    """An editable installation lists its link instead of the packages."""
    strange = []
    for file in metadata.files(NAME):
        path = file.as_posix()
        ours = SHIPPED.fullmatch(path) and path.startswith("osp_")
        administration = ".dist-info/" in path or re.fullmatch(r"_\w+\.(pth|py)", path)
        if not (
            ours or administration or re.search(r"(^|/)bin/osp$|\.pyc$|\.nb[ci]$|Scripts/osp\.exe$", path)
        ):
            strange.append(path)
    assert strange == []


def test_the_advisories_are_asked_for_in_ci():
    assert "[testenv:audit]" in (ROOT / "tox.ini").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "tox run -e audit" in workflow
    assert "schedule:" in workflow
