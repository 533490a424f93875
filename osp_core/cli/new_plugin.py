"""``osp new-plugin``: a plugin project that installs, is found, and passes its own tests as written."""

from __future__ import annotations

import keyword
import re
from importlib import resources
from pathlib import Path
from string import Template

import click

from osp_core.errors import InvalidInputError
from osp_core.registry.registry import list_spaces

# The name of every file, and the template it is made from.
FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    ".gitignore": "gitignore.txt",
    "$package/__init__.py": "plugin.py.txt",
    "$package/space.py": "space.py.txt",
    "tests/test_$name.py": "tests.py.txt",
}


DETAILS = """
\b
Examples:
  osp new-plugin osp-stars
  pip install -e osp-stars && osp check stars

DIR must not exist, or be empty. The space is named after it without the prefix "osp-": "stars".
"""


@click.command(epilog=DETAILS)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def command(directory: Path) -> None:
    """Write a plugin project that installs and passes its own tests."""
    for path in write_project(directory):
        click.echo(f"wrote {path}")
    name = space_name(directory)
    click.echo(
        f"\nNext: pip install -e {directory}, then osp spaces, osp check {name} and pytest {directory}."
        f"\nThe space itself is {directory}/osp_{name}/space.py: replace its outputs by yours."
    )


def space_name(directory: Path) -> str:
    """The name of the space for a project directory."""
    name = re.sub(r"^osp[-_]", "", directory.resolve().name).replace("-", "_").lower()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise InvalidInputError(
            f"No space can be named after {directory.name!r}; use a name like osp-stars: letters, digits and "
            "hyphens, beginning with a letter."
        )
    return name


def write_project(directory: Path) -> list[Path]:
    """Write all files and return their paths; nothing is written unless everything can be."""
    name = space_name(directory)
    taken = {record.name: record.plugin for record in list_spaces()}
    if name in taken:
        raise InvalidInputError(
            f"There is a space {name!r} already, of the plugin {taken[name]!r}; use another name."
        )
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InvalidInputError(f"{str(directory)!r} exists and is not an empty directory.")
    words = {
        "name": name,
        "package": f"osp_{name}",
        "project": f"osp-{name.replace('_', '-')}",
        "Class": "".join(part.capitalize() for part in name.split("_")),
    }
    templates = resources.files("osp_core.cli") / "templates"
    texts = {
        directory / Template(target).substitute(words): Template(
            (templates / source).read_text(encoding="utf-8")
        ).substitute(words)
        for target, source in FILES.items()
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)
