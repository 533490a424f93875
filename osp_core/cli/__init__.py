"""The command ``osp``. Every subcommand is a module of its own, imported when it is called."""

from __future__ import annotations

import importlib
import io
import sys
from typing import Any

import click

import osp_core
from osp_core.errors import OspError

COMMANDS = {
    "check": "Run the conformance kit on a space, by name or as module:object.",
    "decode": "Turn scores, or inputs of a saved model, into outputs.",
    "demo": "Learn seven kinds of structure online, check every guarantee, and write a report.",
    "doctor": "Show versions, plugins and kernels, and what is disabled and why.",
    "new-plugin": "Write a plugin project that installs and passes its own tests.",
    "run": "Learn a file or a stream; write results, trace and checkpoints.",
    "spaces": "List the spaces, with the reason for those that cannot be used.",
    "sweep": "Do a grid of runs on all cores or on a cluster, each once.",
}


class LazyGroup(click.Group):
    """Finds ``osp NAME`` in the module ``osp_core.cli.NAME``, and shows our errors as one line.

    The one-line helps are in a table here: asking the commands would import them all for ``osp --help``.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"osp_core.cli.{name.replace('-', '_')}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OspError as error:
            raise Failure(error) from error


class Failure(click.ClickException):
    """An error of ours, on one line of standard error, with exit code 2."""

    exit_code = 2

    def __init__(self, error: OspError) -> None:
        super().__init__(" ".join(str(error).split()))


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(osp_core.__version__, prog_name="osp")
@click.option(
    "--plugins",
    multiple=True,
    metavar="DIR",
    help="Also load the single-file plugins of this directory (as does the variable OSP_PLUGINS).",
)
def main(plugins: tuple[str, ...]) -> None:
    """Online structured prediction with guarantees."""
    for directory in plugins:
        osp_core.load_plugins(directory)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show Ψ or ℓ gets a question mark, not a traceback.
            stream.reconfigure(errors="replace")
