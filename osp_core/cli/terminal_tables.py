"""Tables for the terminal: rich where it is installed and somebody looks, plain aligned text otherwise."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from osp_core.errors import MissingDependencyError


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on standard output.

    Only a terminal gets the rich table: it wraps cells to fit the width of the window, which is of no use to
    ``grep`` and friends.
    """
    if sys.stdout.isatty():
        try:
            return show_rich(title, columns, rows)
        except MissingDependencyError:
            pass
    return show_plain(title, columns, rows)


def show_plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of aligned columns, one line per row."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    click.echo(title)
    for row in (columns, ["-" * width for width in widths], *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def show_rich(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], console: Any | None = None
) -> None:
    """Print a table with rich."""
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError as error:
        raise MissingDependencyError(
            "Rich tables need rich: pip install 'online-structured-prediction[rich]'."
        ) from error
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*map(Text, row))  # as text: "[fast]" in a message is no mark-up
    (console or Console()).print(table)
