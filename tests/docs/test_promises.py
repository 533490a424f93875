"""What the documentation says of commands, hooks and files is so."""

import configparser
import dataclasses
import importlib
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from osp_core import MissingDependencyError, OutputSpace, Registration
from osp_core.hooks import API_VERSION, Hooks

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
HOOKS = (ROOT / "docs" / "reference" / "hooks.md").read_text(encoding="utf-8")


def commands_of_the_readme():
    return [block.strip() for block in re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)]


def test_the_readme_has_two_set_up_commands_of_one_line_each():
    demo, tests = commands_of_the_readme()
    assert "\n" not in demo
    assert demo.startswith("python3 -m venv ")
    assert demo.endswith("/osp demo")
    assert "\n" not in tests
    assert tests.startswith("python3 -m venv ")
    assert "/pytest" in tests


def test_the_script_of_the_ci_calls_the_test_command_of_the_readme():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert commands_of_the_readme()[1] in script.splitlines()


@pytest.mark.parametrize("hook", [name for name in vars(Hooks) if name.startswith("osp_")])
def test_every_hook_is_documented(hook):
    assert f"`{hook}()`" in HOOKS


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Registration)])
def test_every_field_of_a_registration_is_documented(field):
    assert f"| `{field}` |" in HOOKS


def test_the_version_of_the_plugin_api_is_documented():
    assert f"the present version is {API_VERSION}" in HOOKS


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_folders_that_a_page_names_exist(page):
    found = re.findall(
        r"`((?:osp_core|plugins|tests|docs|benchmarks)/[\w./-]*)`", page.read_text(encoding="utf-8")
    )
    written_later = {"benchmarks/results"}
    assert [path for path in found if not (ROOT / path).exists() and path not in written_later] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_that_a_page_names_exist(page):
    found = re.findall(r"\bosp_core(?:\.[A-Za-z]\w*)+", page.read_text(encoding="utf-8"))
    assert [name for name in found if not exists(name)] == []


def exists(dotted):
    """Whether a dotted name is a module or leads on from one; what needs a missing package is believed."""
    module, names = dotted, []
    try:
        while not is_module(module):
            module, _, name = module.rpartition(".")
            names.insert(0, name)
        found = importlib.import_module(module)
    except MissingDependencyError:
        return True
    for name in names:
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


def is_module(dotted):
    try:
        return importlib.util.find_spec(dotted) is not None
    except ModuleNotFoundError:  # what stands before the last dot is no package
        return False


def test_a_module_that_moved_is_noticed():
    assert exists("osp_core.online.run.run")
    assert exists("osp_core.make_space")
    assert not exists("osp_core.protocol")
    assert not exists("osp_core.online.protocol.step")


def test_what_the_tutorial_says_a_space_may_give_can_be_given():
    tutorial = (ROOT / "docs" / "tutorials" / "your_own_space.md").read_text(encoding="utf-8")
    table = tutorial.partition("| give | when | otherwise |")[2].partition("\n\n")[0]
    given = [name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split(" | ")[0])]
    assert {"nu", "project", "examples"} <= set(given)
    assert [name for name in given if not hasattr(OutputSpace, name)] == []


def test_the_rows_of_the_lowest_versions_pin_every_lower_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    optional = [r for extra in set(extras) - {"torch", "docs"} for r in extras[extra] if "[" not in r]
    floors = {requirement.replace(">=", "==") for requirement in (*project["dependencies"], *optional)}
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    rows = ("testenv:lowest", "testenv:lowest-river")
    pins = {full_version(pin) for row in rows for pin in tox[row]["deps"].split()}
    assert pins - {full_version("pyparsing==3.1.0")} == {full_version(floor) for floor in floors}


@pytest.mark.parametrize("package", ["networkx", "cvxpy", "numba"])
def test_the_rows_of_a_back_end_run_every_test_that_needs_it(package):
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    listed = tox["tests"]["of_back_ends"] + " " + tox["tests"].get(f"of_{package}", "")
    roots = [ROOT / path for path in listed.split()]
    needing = sorted((ROOT / "tests").rglob(f"*_{package}.py"))
    assert needing
    assert [path for path in needing if not any(path.is_relative_to(root) for root in roots)] == []


def full_version(pin):
    """numpy==1.26 and numpy==1.26.0 are the same."""
    name, _, version = pin.partition("==")
    return name, tuple(map(int, [*version.split("."), "0", "0"][:3]))
