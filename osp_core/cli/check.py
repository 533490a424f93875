"""``osp check``: the conformance kit from the shell."""

from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import asdict
from typing import Any

import click

from osp_core.cli.terminal_tables import show_table
from osp_core.errors import InvalidInputError
from osp_core.spaces import OutputSpace

DETAILS = """
\b
Examples:
  osp check simplex
  osp check my_module:MySpace --json

A NAME stands for all examples of a registered space. MODULE:OBJECT is a space, a class of spaces with
examples() or without required parameters, or a function that returns a space; the module is looked for in
the current directory too. The exit code is 0 when all checks passed and 1 when one failed.
"""


@click.command(epilog=DETAILS)
@click.argument("subject", metavar="NAME|MODULE:OBJECT")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--seed", default=0, show_default=True, help="Of everything the checks draw.")
@click.option("--verbose", "-v", is_flag=True, help="Also list the checks that passed.")
def command(subject: str, as_json: bool, seed: int, verbose: bool) -> None:
    """Run the conformance kit on a space, by name or as module:object."""
    from osp_core.testing import examine_space

    reports = [(title, examine_space(space, seed=seed)) for title, space in spaces_of(subject)]
    if as_json:
        document = [
            {
                "name": title,
                "subject": report.subject,
                "ok": report.ok,
                "checks": [asdict(r) for r in report.results],
            }
            for title, report in reports
        ]
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _show(reports, verbose)
    if not all(report.ok for _, report in reports):
        sys.exit(1)


def spaces_of(subject: str) -> list[tuple[str, OutputSpace]]:
    """The instances to check, each with a title."""
    if ":" in subject:
        return _of_object(subject)
    from osp_core.registry.registry import list_spaces
    from osp_core.testing.registered import space_examples

    record = next((record for record in list_spaces() if record.name == subject), None)
    if record is not None and not record.available:
        raise InvalidInputError(f"The space {subject!r} cannot be used: {record.reason}.")
    return [(str(example), example.make()) for example in space_examples(subject)]


def _of_object(subject: str) -> list[tuple[str, OutputSpace]]:
    module_name, _, attribute = subject.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # the installed command does not look there by itself
    try:
        found: Any = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInputError(f"{subject!r} cannot be imported: {error}.") from error
    if isinstance(found, OutputSpace):
        return [(attribute, found)]
    examples = found.examples() if hasattr(found, "examples") else ()
    made = list(examples) or [_call(subject, found)]
    for space in made:
        if not isinstance(space, OutputSpace):
            raise InvalidInputError(f"{subject!r} gives {type(space).__name__}, not an OutputSpace.")
    return [(f"{attribute}-{number}", space) for number, space in enumerate(made)]


def _call(subject: str, found: Any) -> Any:
    try:
        return found()
    except TypeError as error:
        raise InvalidInputError(
            f"{subject!r} has no examples() and cannot be made without arguments: {error}. Add a classmethod "
            "examples(), or name an instance."
        ) from error


def _show(reports: list[tuple[str, Any]], verbose: bool) -> None:
    outcomes = ("passed", "failed", "not applicable")
    rows = []
    for title, report in reports:
        counts = [sum(result.outcome == outcome for result in report.results) for outcome in outcomes]
        verdict = "ok" if report.ok else "FAILED"
        rows.append([title, verdict, *map(str, counts), f"{report.seconds:.1f} s", report.subject])
    show_table("Conformance", ("example", "verdict", *outcomes, "time", "space"), rows)
    for title, report in reports:
        shown = [result for result in report.results if verbose or not result.ok]
        for result in shown:
            click.echo(f"\n{title}: {result.outcome.upper()} {result.name}")
            if result.message:
                click.echo("    " + result.message.replace("\n", "\n    "))
