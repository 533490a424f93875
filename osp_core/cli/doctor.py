"""``osp doctor``: what is installed, what serves, what is disabled and why."""

from __future__ import annotations

import platform
from importlib import metadata

import click

from osp_core import kernels
from osp_core.cli.tables import show_table
from osp_core.errors import OspError
from osp_core.registry import Record, list_learners, list_spaces, list_streams

CORE = ("online-structured-prediction", "numpy", "scipy", "pluggy", "click")
OPTIONAL = (
    "networkx",
    "cvxpy",
    "highspy",
    "numba",
    "rich",
    "matplotlib",
    "scikit-learn",
    "river",
    "torch",
    "joblib",
    "dask",
    "distributed",
)


@click.command()
def command() -> None:
    """Show versions, plugins and kernels, and what is disabled and why."""
    versions = [["python", platform.python_version()]]
    versions += [[package, _version(package)] for package in (*CORE, *OPTIONAL)]
    show_table("Versions", ("package", "version"), versions)
    offered = {"spaces": list_spaces(), "learners": list_learners(), "streams": list_streams()}
    click.echo()
    show_table("Plugins", ("plugin", *offered), _plugins(offered))
    click.echo(f"\nKernels: {_kernels()}")
    troubles = [record for records in offered.values() for record in records if record.reason]
    click.echo("\nDisabled:" if troubles else "\nNothing is disabled.")
    for record in troubles:
        state = "partly" if record.available else "wholly"
        click.echo(f"  {record.name} ({state}): {record.reason}")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _plugins(offered: dict[str, list[Record]]) -> list[list[str]]:
    plugins = sorted({record.plugin for records in offered.values() for record in records})
    return [
        [
            plugin,
            *(
                ", ".join(record.name for record in records if record.plugin == plugin)
                for records in offered.values()
            ),
        ]
        for plugin in plugins
    ]


def _kernels() -> str:
    try:
        return f"{kernels.selected()} (set OSP_KERNELS to one of {', '.join(kernels.CHOICES)} to choose)"
    except OspError as error:
        return f"none: {error}"
