"""What a shell offers after the tab key: registered names, parameters and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from osp_core.errors import OspError

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def registered(kind: str) -> Completer:
    """Complete the names of a kind ("space", "decoder", …), each with its summary."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [
            CompletionItem(record.name, help=record.summary)
            for record in _records(kind)
            if record.name.startswith(incomplete)
        ]

    return complete


def parameters(kind: str) -> Completer:
    """Complete the parameters, as KEY=, of what the option ``--KIND`` names."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        chosen = ctx.params.get(kind)
        return [
            CompletionItem(f"{name}=")
            for record in _records(kind)
            if record.name == chosen
            for name in record.parameters
            # Nobody writes a space on a command line, and all but spaces get that of the run.
            if name.startswith(incomplete) and not (name == "space" and kind != "space")
        ]

    return complete


def columns(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the columns of the file that ``--data`` names."""
    from osp_core.runs import open_table

    try:
        names = open_table(ctx.params["data"], None).names
    except (OspError, KeyError, TypeError):
        return []  # no file, or none that can be read: nothing to offer, and no place for a message
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _records(kind: str) -> list[Any]:
    from osp_core.registry import list_of

    return [record for record in list_of(kind) if record.available]
