"""``osp spaces``: what there is to learn over."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from osp_core.cli.terminal_tables import show_table
from osp_core.errors import OspError
from osp_core.registry.registry import list_spaces, load_factory
from osp_core.registry.table import Record

EXAMPLES = """
\b
Examples:
  osp spaces
  osp spaces --json | jq '.[] | select(.available) | .name'

Ψ and norm are the defaults of the space, ν and the target those of its first example: ν may depend on the
size and the weights of a space, the target can be chosen. What needs a package stays without them.
"""


@click.command(epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(as_json: bool) -> None:
    """List the spaces, with the reason for those that cannot be used."""
    entries = [{**asdict(record), **_defaults(record)} for record in list_spaces()]
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    columns = ("name", "outputs", "Ψ", "norm", "ν", "target", "needs")
    show_table(f"{len(entries)} spaces", columns, [_row(entry) for entry in entries])


def _defaults(record: Record) -> dict[str, Any]:
    """Ψ and norm as the class of the space declares them, ν and target of an example; None if not known."""
    known: dict[str, Any] = dict.fromkeys(("psi", "norm", "nu", "target", "example"))
    try:
        factory = load_factory("space", record.name)
    except OspError:
        return known
    psi, norm = getattr(factory, "psi", None), getattr(factory, "norm", None)
    known["psi"] = None if psi is None or isinstance(psi, property) else repr(psi)
    known["norm"] = f"ℓ{norm:g}" if isinstance(norm, int | float) else None
    if record.needs:  # an example would import the package, which may take seconds
        return known
    try:
        example = factory.examples()[0]
    except Exception:  # a function rather than a class, or a stranger's code
        return known
    known |= {"example": repr(example), "psi": repr(example.psi), "norm": f"ℓ{example.norm:g}"}
    for name, ask in (("nu", lambda: float(example.nu)), ("target", lambda: example.target_loss().name)):
        try:
            known[name] = ask()
        except OspError:
            continue
    return known


def _row(entry: dict[str, Any]) -> list[str]:
    needs = entry["reason"] or ", ".join(entry["needs"])
    return [
        entry["name"],
        entry["summary"],
        entry["psi"] or "",
        entry["norm"] or "",
        "" if entry["nu"] is None else f"{entry['nu']:.4g}",
        entry["target"] or "",
        needs,
    ]
