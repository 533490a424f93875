"""Every python block and every console command of README.md and docs/ runs, page by page, in order."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from osp_core.cli import main

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A page that needs an optional package says so in a comment: <!-- needs: networkx -->
NEEDS = re.compile(r"^<!-- needs: ([\w., ]+) -->$", re.MULTILINE)


def blocks(text):
    """The language, the number of lines before it, and the source of each block."""
    return [(match[1], text[: match.start(2)].count("\n"), match[2]) for match in BLOCK.finditer(text)]


def runnable(text):
    needs = [package.strip() for match in NEEDS.finditer(text) for package in match[1].split(",")]
    return bool(blocks(text)) and all(importlib.util.find_spec(package) for package in needs)


PAGES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if runnable(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_the_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": page.stem}
    for language, lines_before, source in blocks(page.read_text(encoding="utf-8")):
        if language == "python":
            # Blank lines in front make tracebacks point at the line of the page.
            exec(compile("\n" * lines_before + source, str(page), "exec"), namespace)
        else:
            type_in(source)


def type_in(console):
    """Give the commands of a console block, the lines after `$ osp `, to the command."""
    for line in console.splitlines():
        if line.startswith("$ osp "):
            result = CliRunner().invoke(main, shlex.split(line.removeprefix("$ osp ")))
            assert result.exit_code == 0, f"{line}\n{result.output}"


def test_the_readme_and_the_pages_of_the_reference_are_among_them():
    names = {str(path.relative_to(ROOT)) for path in PAGES}
    assert {
        "README.md",
        "docs/index.md",
        "docs/tutorials/your_own_space.md",
        "docs/reference/hooks.md",
    } <= names


def test_a_block_is_found_with_its_line_and_other_languages_are_not():
    text = "one\n```python\nx = 1\n```\n```sh\nls\n```\n```console\n$ osp spaces\n```\n"
    assert blocks(text) == [("python", 2, "x = 1\n"), ("console", 8, "$ osp spaces\n")]


def test_a_command_that_fails_is_noticed():
    type_in("$ osp --version\n")
    with pytest.raises(AssertionError, match="osp spices"):
        type_in("$ osp spices\n")


def test_a_page_that_needs_a_missing_package_is_not_collected():
    assert not runnable("<!-- needs: a_package_nobody_has -->\n```python\nx = 1\n```\n")
    assert runnable("<!-- needs: json -->\n```python\nx = 1\n```\n")
