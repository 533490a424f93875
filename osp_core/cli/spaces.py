"""``osp spaces``: what there is to learn over."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from osp_core.cli.tables import show_table
from osp_core.errors import OspError
from osp_core.registry import Record, list_spaces, load_factory


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(as_json: bool) -> None:
    """List the spaces, with the reason for those that cannot be used."""
    entries = [{**asdict(record), **_defaults(record)} for record in list_spaces()]
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    columns = ("name", "outputs", "plugin", "Ψ", "norm", "back ends", "not available")
    show_table(f"{len(entries)} spaces", columns, [_row(entry) for entry in entries])


def _defaults(record: Record) -> dict[str, str]:
    """The default Ψ and norm, as the class of the space declares them; empty where that is not known."""
    try:
        factory = load_factory("space", record.name)
    except OspError:
        return {"psi": "", "norm": ""}
    psi, norm = getattr(factory, "psi", None), getattr(factory, "norm", None)
    return {
        "psi": "" if psi is None or isinstance(psi, property) else repr(psi),
        "norm": f"ℓ{norm:g}" if isinstance(norm, int | float) else "",
    }


def _row(entry: dict[str, Any]) -> list[str]:
    return [
        entry["name"],
        entry["summary"],
        entry["plugin"],
        entry["psi"],
        entry["norm"],
        ", ".join(entry["backends"]),
        entry["reason"],
    ]
