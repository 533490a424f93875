"""Whatever users can name has a page: names, hooks, spaces, learners, streams, commands, experiments."""

import dataclasses
import importlib
import importlib.util
import re
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import osp_core as osp
from osp_core import experiments
from osp_core.cli import main
from osp_core.hooks import Hooks
from osp_core.runs import RunConfig, execute

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = set(PROJECT["entry-points"]["osp"])


def page(path):
    return (DOCS / path).read_text(encoding="utf-8")


API = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((DOCS / "reference" / "api").glob("*.md"))
)
DIRECTIVES = re.findall(r"^::: ([\w.]+)$", API, re.MULTILINE)
HEADINGS = re.findall(r"^#+ (.*)$", API, re.MULTILINE)
COMMANDS = main.list_commands(click.Context(main))


def ours(records):
    """The names that come with this distribution, foreign plugins left out."""
    return sorted(record.name for record in records if record.plugin in OURS)


def documented(name, directives=DIRECTIVES, headings=HEADINGS):
    """Whether the reference describes `osp_core.name`, by its docstring or under a heading of its own."""
    return f"osp_core.{name}" in directives or any(f"`{name}`" in heading for heading in headings)


def importable(directive):
    """Whether the optional package that a part of the reference needs is there."""
    needs = re.match(r"osp_core\.adapters\.(sklearn|river|torch)|osp_(polytope)", directive)
    return needs is None or importlib.util.find_spec(needs[1] or "cvxpy") is not None


def split(directive):
    """The module of a dotted name, and the attributes that lead on from it."""
    parts = directive.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.util.find_spec(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        if found is not None:
            return ".".join(parts[:length]), parts[length:]
    raise AssertionError(f"{directive} is nowhere to be found")


@pytest.mark.parametrize("name", osp.__all__)
def test_every_public_name_is_in_the_reference(name):
    assert documented(name) or f"osp_core.frank_wolfe.{name}" in DIRECTIVES


@pytest.mark.parametrize("name", osp.frank_wolfe.__all__)
def test_every_name_of_the_engine_is_in_the_reference(name):
    assert f"osp_core.frank_wolfe.{name}" in DIRECTIVES


@pytest.mark.parametrize("hook", [name for name in vars(Hooks) if name.startswith("osp_")])
def test_every_hook_is_in_the_reference_and_in_the_how_to(hook):
    assert f"`{hook}()`" in page("reference/hooks.md")
    assert hook in page("how_to/write_a_plugin.md") + page("how_to/streams.md") + page(
        "how_to/learners/index.md"
    )


@pytest.mark.parametrize("space", ours(osp.list_spaces()))
def test_every_space_has_a_page_with_a_drawing_that_exists(space):
    text = page(f"how_to/spaces/{space}.md")
    drawings = re.findall(r"!\[[^\]]+\]\(([^)]+\.svg)\)", text)
    assert drawings
    assert all((DOCS / "how_to" / "spaces" / drawing).exists() for drawing in drawings)
    assert f"`{space}`" in text.splitlines()[0]
    assert f"({space}.md)" in page("how_to/spaces/index.md")


@pytest.mark.parametrize("learner", ours(osp.list_learners()))
def test_every_learner_has_a_page_that_names_its_parameters(learner):
    text = page(f"how_to/learners/{learner}.md")
    assert f"`{learner}`" in text.splitlines()[0]
    parameters = next(record.parameters for record in osp.list_learners() if record.name == learner)
    assert all(f"| `{parameter}` |" in text for parameter in parameters)
    assert f"({learner}.md)" in page("how_to/learners/index.md")


@pytest.mark.parametrize("stream", ours(osp.list_streams()))
def test_every_stream_is_described(stream):
    assert f"| `{stream}` |" in page("how_to/streams.md")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_section_and_its_help(command):
    text = page("reference/cli.md")
    assert f"## `osp {command}`" in text
    assert f"<!-- help: osp {command} -->" in text


@pytest.mark.parametrize("setting", [field.name for field in dataclasses.fields(RunConfig)])
def test_every_setting_of_a_run_file_is_described(setting):
    rows = [line.split("|")[1] for line in page("reference/file_formats.md").splitlines() if "|" in line]
    assert any(f"`{setting}`" in row or f"`[{setting}]`" in row for row in rows)


def test_every_result_of_a_run_is_described(tmp_path):
    config = RunConfig(space="simplex", params={"d": 3}, stream="linear_teacher", rounds=20)
    summary = execute(config, tmp_path / "out").summary
    text = page("reference/file_formats.md")
    assert [key for key in summary if f"`{key}`" not in text] == []
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert [name for name in names if f"`{name}`" not in text and f"`{name}/" not in text] == []


@pytest.mark.parametrize("experiment", experiments.list_experiments())
def test_every_experiment_has_a_page_with_its_figure_in_the_gallery(experiment):
    assert f"({experiment}.svg)" in page(f"gallery/{experiment}.md")
    assert f"({experiment}.md)" in page("gallery/index.md")


@pytest.mark.parametrize("extra", PROJECT["optional-dependencies"])
def test_every_extra_is_in_the_readme(extra):
    assert f"`{extra}`" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("directive", [directive for directive in DIRECTIVES if importable(directive)])
def test_what_the_reference_names_exists(directive):
    module, names = split(directive)
    found = importlib.import_module(module)
    for name in names:
        found = getattr(found, name)


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert pages - set(re.findall(r"[\w/]+\.md", navigation)) == set()


def test_a_name_without_a_page_is_noticed():
    assert not documented("a_name_nobody_wrote_about")
    assert documented("OnlinePredictor")
    assert not documented("OGD", directives=[], headings=["The OGD learner"])


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_help_of_a_command_has_no_control_characters(command):
    """A paragraph that click shall not rewrap begins with a backspace; further down it would be printed."""
    result = CliRunner().invoke(main, [command, "--help"] if command else ["--help"])
    assert result.exit_code == 0
    assert "\b" not in result.output
