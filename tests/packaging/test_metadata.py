"""What the installed distribution says of itself, against pyproject.toml and the tree."""

import importlib
import re
import tomllib
from importlib import metadata, resources
from pathlib import Path

import osp_core as osp
from osp_core.registry import list_of
from osp_core.registry.kinds import HOOK_OF

ROOT = Path(__file__).resolve().parents[2]
NAME = "online-structured-prediction"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
OPTIONAL = {"networkx", "cvxpy", "fast", "rich", "plot", "sklearn", "river", "torch", "distributed"}
PLUGIN_PACKAGES = {path.parent.name for path in (ROOT / "plugins").glob("*/__init__.py")}


def packages_of(requirements):
    return {re.match(r"[A-Za-z0-9_.-]+", requirement)[0].lower() for requirement in requirements}


def test_the_version_is_the_same_everywhere():
    assert osp.__version__ == PROJECT["version"] == metadata.version(NAME)


def test_the_core_needs_four_packages_and_no_more():
    assert packages_of(PROJECT["dependencies"]) == {"numpy", "scipy", "pluggy", "click"}
    unconditional = [r for r in metadata.requires(NAME) if "extra ==" not in r]
    assert packages_of(unconditional) == {"numpy", "scipy", "pluggy", "click"}


def test_the_extras_are_those_documented():
    assert set(EXTRAS) == OPTIONAL | {"all", "test", "docs"}
    assert set(metadata.metadata(NAME).get_all("Provides-Extra")) == set(EXTRAS)


def test_all_is_everything_but_torch_and_the_tools_of_the_docs():
    extras, *others = EXTRAS["all"]
    included = set(re.fullmatch(rf"{NAME}\[(.*)\]", extras)[1].split(","))
    assert included == set(EXTRAS) - {"all", "torch", "docs"}
    assert packages_of(others) == {"pandas", "polars", "pyarrow", "filelock"}


def test_every_requirement_has_a_lower_bound():
    requirements = [*PROJECT["dependencies"], *(r for extra in EXTRAS.values() for r in extra)]
    assert [r for r in requirements if ">=" not in r and not r.startswith(NAME)] == []


def test_every_plugin_has_an_entry_point_and_is_shipped():
    entry_points = PROJECT["entry-points"]["osp"]
    modules = set(entry_points.values())
    assert {module for module in modules if not module.startswith("osp_core.")} == PLUGIN_PACKAGES
    shipped = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert set(shipped) == {"osp_core", *(f"plugins/{package}" for package in PLUGIN_PACKAGES)}
    installed = {e.name: e.value for e in metadata.entry_points(group="osp") if e.dist.name == NAME}
    assert installed == entry_points


def test_no_plugin_of_ours_is_broken_and_every_one_offers_something():
    records = [record for kind in HOOK_OF for record in list_of(kind)]
    broken = [f"{r.name}: {r.reason}" for r in records if "Error" in r.reason or "claimed" in r.reason]
    assert broken == []
    assert set(PROJECT["entry-points"]["osp"]) <= {record.plugin for record in records}


def test_the_command_is_installed():
    (script,) = metadata.entry_points(group="console_scripts", name="osp")
    assert script.load() is importlib.import_module("osp_core.cli").main


def test_the_types_are_shipped():
    assert resources.files("osp_core").joinpath("py.typed").is_file()


def test_the_licence_is_named_and_shipped():
    assert PROJECT["license"] == "MIT"
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert any(file.name == "LICENSE" for file in metadata.files(NAME))
