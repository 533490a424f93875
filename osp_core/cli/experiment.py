"""``osp experiment``: the experiments of the theory, from the shell."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osp_core.cli.terminal_tables import show_table
from osp_core.persistence.atomic import inside, whole_file

if TYPE_CHECKING:
    from osp_core.experiments import ExperimentResult

MOST_ROWS = 60  # in a table for the eye

EXAMPLES = """
\b
Examples:
  osp experiment
  osp experiment tightness
  osp experiment regret_vs_bound --quick --out results
  osp experiment all --quick --json

\b
The exit code is 0 when every inequality held and 1 when one failed.
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--quick", is_flag=True, help="Fewer rounds and seeds: seconds instead of minutes.")
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of everything random in it."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the table (.csv, .md) and, with matplotlib, the figure (.svg, .png) to this directory.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(name: str | None, quick: bool, seed: int, out: Path | None, as_json: bool) -> None:
    """Rerun an experiment of the theory, or all; without a NAME, list them."""
    from osp_core import experiments
    from osp_core.errors import UnknownNameError

    known = experiments.list_experiments()
    if name is None:
        return _list(known, as_json)
    if name != "all" and name not in known:
        raise UnknownNameError(f"There is no experiment {name!r}; there are: all, {', '.join(known)}.")
    documents, failed = [], []
    for one in known if name == "all" else [name]:
        began = time.monotonic()
        with _waiting(f"{one}: {known[one]}"):
            result = experiments.run(one, quick=quick, seed=seed)
        written = _save(result, out) if out is not None else []
        documents.append(_document(result, time.monotonic() - began, written))
        if not as_json:
            _show(result, written)
        if not result.holds:
            failed.append(one)
    if as_json:
        click.echo(json.dumps(documents if name == "all" else documents[0], indent=2, ensure_ascii=False))
    if failed:
        raise click.ClickException(f"An inequality did not hold in {', '.join(failed)}.")
    return None


def _list(known: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(known, indent=2, ensure_ascii=False))
    else:
        show_table("Experiments", ("name", "question"), list(known.items()))
        click.echo("\nRun one with: osp experiment NAME [--quick] [--out DIR]")


def _save(result: ExperimentResult, out: Path) -> list[Path]:
    """What `ExperimentResult.save` writes, and the figure as .png."""
    from osp_core.errors import MissingDependencyError

    written = result.save(out)
    try:
        figure = result.figure()
    except MissingDependencyError:
        return written
    picture = inside(out, f"{result.name}.png")
    with whole_file(picture, "wb") as file:
        figure.savefig(file, format="png", dpi=150)
    return [*written, picture]


def _document(result: ExperimentResult, seconds: float, written: Sequence[Path]) -> dict[str, Any]:
    return {
        "name": result.name,
        "title": result.title,
        "holds": result.holds,
        "seconds": round(seconds, 3),
        "rows": [{key: _plain(value) for key, value in row.items()} for row in result.rows],
        "files": [str(path) for path in written],
    }


def _show(result: ExperimentResult, written: Sequence[Path]) -> None:
    # A curve has hundreds of points: enough of them to see its course, and all that fail.
    step = -(-len(result.rows) // MOST_ROWS)
    shown = [row for i, row in enumerate(result.rows) if i % step == 0 or not row.get("holds", True)]
    rows = [[_cell(row.get(column, "")) for column in result.columns] for row in shown]
    show_table(result.title, result.columns, rows)
    if len(shown) < len(result.rows):
        click.echo(f"\n{len(shown)} of {len(result.rows)} rows; --json and the files of --out have all.")
    if any("holds" in row for row in result.rows):
        click.echo("\nEvery inequality held." if result.holds else "\nAN INEQUALITY DID NOT HOLD.")
    for path in written:
        click.echo(f"wrote {path}")
    click.echo()


def _cell(value: Any) -> str:
    plain = _plain(value)
    if plain is None:
        return "–"
    if isinstance(plain, bool):
        return "yes" if plain else "NO"
    return f"{plain:.4g}" if isinstance(plain, float) else str(plain)


def _plain(value: Any) -> Any:
    """A value as JSON has it: numpy's numbers become Python's, and what is no number becomes null."""
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


@contextmanager
def _waiting(text: str) -> Iterator[None]:
    """Say what is going on while it lasts, if somebody looks."""
    if not sys.stderr.isatty():
        yield
        return
    try:
        from rich.console import Console
    except ImportError:
        click.echo(f"{text} …", err=True)
        yield
        return
    with Console(stderr=True).status(text):
        yield
