"""The command ``osp``. Every subcommand is a module of its own, imported when it is called."""

from __future__ import annotations

import errno
import importlib
import io
import sys
from typing import Any

import click

import osp_core
from osp_core.errors import NumericalError, OracleError, OspError

COMMANDS = {
    "check": "Run the conformance kit on a space, by name or as module:object.",
    "decode": "Turn scores, or inputs of a saved model, into outputs.",
    "demo": "Learn seven kinds of structure online, check every guarantee, and write a report.",
    "doctor": "Show versions, plugins and kernels, and what is disabled and why.",
    "experiment": "Rerun an experiment of the theory, or all; without a NAME, list them.",
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
            raise Failure.of(error) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever read our output has seen enough
                raise
            raise Breakdown(error) from error
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            raise SystemExit(130) from None


class Failure(click.ClickException):
    """An error that the user can put right, on one line of standard error."""

    exit_code = 2

    def __init__(self, error: Exception) -> None:
        # Names come from files and may hold anything; a terminal gets what it can print.
        text = " ".join(str(error).split())
        super().__init__("".join(char if char.isprintable() else "?" for char in text))

    @classmethod
    def of(cls, error: OspError) -> Failure:
        """The failure of the right kind."""
        reason = getattr(error.__cause__, "errno", None)
        broken = isinstance(error, NumericalError | OracleError) or reason in _MACHINE
        return Breakdown(error) if broken else cls(error)


class Breakdown(Failure):
    """What went wrong although the input was right: numbers, an oracle that lied, a disk that is full."""

    exit_code = 1


_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG, errno.ENOMEM)
DETAILS = """
Exit codes: 0 all is well; 1 something failed while running; 2 bad input, with one line that says what to do;
130 interrupted with Ctrl-C (143 with SIGTERM).

\b
Completion of names and columns in bash (zsh and fish likewise):
  eval "$(_OSP_COMPLETE=bash_source osp)"
"""


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=DETAILS)
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
