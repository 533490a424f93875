"""``osp doctor``: what is installed, what serves, what is disabled and why."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from importlib import metadata
from typing import Any

import click

from osp_core import kernels
from osp_core.cli.terminal_tables import show_table
from osp_core.errors import OspError
from osp_core.registry.kinds import HOOK_OF
from osp_core.registry.registry import list_of
from osp_core.registry.table import Record

CORE = ("online-structured-prediction", "numpy", "scipy", "pluggy", "click")
# Package → the extra that brings it.
OPTIONAL = {
    "networkx": "networkx",
    "cvxpy": "cvxpy",
    "highspy": "cvxpy",
    "numba": "fast",
    "rich": "rich",
    "matplotlib": "plot",
    "scikit-learn": "sklearn",
    "river": "river",
    "torch": "torch",
    "pandas": "all",
    "polars": "all",
    "pyarrow": "all",
    "filelock": "all",
    "joblib": "distributed",
    "dask": "distributed",
    "distributed": "distributed",
}


EXAMPLES = """
\b
Examples:
  osp doctor
  osp doctor --json | jq .disabled
"""


@click.command(epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(as_json: bool) -> None:
    """Show versions, plugins and kernels, and what is disabled and why."""
    versions = {"python": platform.python_version()}
    versions |= {package: _version(package) for package in (*CORE, *OPTIONAL)}
    offered = {hook.removeprefix("osp_"): list_of(kind) for kind, hook in HOOK_OF.items()}
    troubles = [record for records in offered.values() for record in records if record.reason]
    if as_json:
        click.echo(json.dumps(_document(versions, offered, troubles), indent=2, ensure_ascii=False))
        return
    rows = [[package, version, OPTIONAL.get(package, "")] for package, version in versions.items()]
    show_table("Versions", ("package", "version", "extra"), rows)
    click.echo(f"An extra is installed with pip install '{CORE[0]}[extra]'.")
    click.echo()
    show_table("Plugins", ("plugin", "offers", "names"), _plugins(offered))
    click.echo(f"\nKernels: {_kernels()}")
    click.echo("\nDisabled:" if troubles else "\nNothing is disabled.")
    for record in troubles:
        state = "partly" if record.available else "wholly"
        click.echo(f"  {record.name} ({state}): {record.reason}")


def _document(
    versions: dict[str, str], offered: dict[str, list[Record]], troubles: list[Record]
) -> dict[str, Any]:
    return {
        "versions": versions,
        **{kind: [asdict(record) for record in records] for kind, records in offered.items()},
        "kernels": _kernels(),
        "disabled": {record.name: record.reason for record in troubles},
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _plugins(offered: dict[str, list[Record]]) -> list[list[str]]:
    names: dict[tuple[str, str], list[str]] = {}
    for kind, records in offered.items():
        for record in records:
            names.setdefault((record.plugin, kind), []).append(record.name)
    return [[plugin, kind, ", ".join(found)] for (plugin, kind), found in sorted(names.items())]


def _kernels() -> str:
    try:
        return f"{kernels.selected()} (set OSP_KERNELS to one of {', '.join(kernels.CHOICES)} to choose)"
    except OspError as error:
        return f"none: {error}"
