"""Every python block of README.md and docs/ runs, file by file, from top to bottom."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A page that needs an optional package says so in a comment: <!-- needs: networkx -->
NEEDS = re.compile(r"<!-- needs: ([\w., ]+) -->")


def blocks(text):
    """The number of lines before each python block, and its source."""
    return [(text[: match.start(1)].count("\n"), match[1]) for match in BLOCK.finditer(text)]


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
    for lines_before, source in blocks(page.read_text(encoding="utf-8")):
        # Blank lines in front make tracebacks point at the line of the page.
        exec(compile("\n" * lines_before + source, str(page), "exec"), namespace)


def test_the_readme_and_the_pages_of_the_reference_are_among_them():
    names = {str(path.relative_to(ROOT)) for path in PAGES}
    assert {"README.md", "docs/index.md", "docs/contributing.md", "docs/reference/hooks.md"} <= names


def test_a_block_is_found_with_its_line_and_other_languages_are_not():
    text = "one\n```python\nx = 1\n```\n```sh\nls\n```\n```python\ny = 2\nz = 3\n```\n"
    assert blocks(text) == [(2, "x = 1\n"), (8, "y = 2\nz = 3\n")]


def test_a_page_that_needs_a_missing_package_is_not_collected():
    assert not runnable("<!-- needs: a_package_nobody_has -->\n```python\nx = 1\n```\n")
    assert runnable("<!-- needs: json -->\n```python\nx = 1\n```\n")
