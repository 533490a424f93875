"""What the site is given when it is built: the help of every command, and places where long paths break."""

from __future__ import annotations

import re
from typing import Any

import click
from click.testing import CliRunner

MARKER = re.compile(r"^<!-- help: osp ?(?P<command>[\w-]*) -->$", re.MULTILINE)
PATH = re.compile(r"<code>[\w.]+(?:/[\w.]+)+</code>")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    return MARKER.sub(lambda marker: help_of(marker["command"]), markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Called by MkDocs for every page: a path may break after its slashes, where the style lets it."""
    return PATH.sub(lambda path: re.sub(r"(?<!<)/", "/<wbr>", path[0]), html)


def help_of(command: str) -> str:
    """What `osp COMMAND --help` prints, as a code block."""
    from osp_core.cli import main

    arguments = [command, "--help"] if command else ["--help"]
    result = CliRunner().invoke(main, arguments, prog_name="osp", terminal_width=96)
    if result.exit_code != 0:
        raise click.ClickException(f"osp {' '.join(arguments)} fails: {result.output}")
    return f"```text\n{result.output.rstrip()}\n```"
