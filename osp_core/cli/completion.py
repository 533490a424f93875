"""What a shell offers after the tab key: names of spaces, learners, streams, parameters and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from osp_core.errors import OspError

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def registered(kind: str) -> Completer:
    """Complete the names of a kind ("space", "learner", "stream"), each with its summary."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [
            CompletionItem(record.name, help=record.summary)
            for record in _records(kind)
            if record.name.startswith(incomplete)
        ]

    return complete


def listed(names: Callable[[], Iterable[str]]) -> Completer:
    """Complete names that are imported when asked for."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

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
            if name.startswith(incomplete)
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


def decoders() -> Iterable[str]:
    """The names of decoders."""
    from osp_core.runs.names import DECODERS

    return DECODERS


def targets() -> Iterable[str]:
    """The names of targets."""
    from osp_core.runs.names import TARGETS

    return TARGETS


def _records(kind: str) -> list[Any]:
    from osp_core.registry import registry

    lists = {
        "space": registry.list_spaces,
        "learner": registry.list_learners,
        "stream": registry.list_streams,
    }
    return [record for record in lists[kind]() if record.available]
