"""``osp sweep``: a grid of runs on all cores or on a cluster, each done once."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from osp_core.cli.terminal_tables import show_table
from osp_core.persistence.atomic import clear_leftovers, inside, sole_use

MOST_ROWS = 60  # in a table for the eye
NUMBERS = ("target_loss", "expected_loss", "surrogate_loss", "regret", "bound")

EXAMPLES = """
\b
Examples:
  osp sweep grid.toml --out sweep
  osp sweep grid.toml --out sweep --scheduler tcp://10.0.0.1:8786

\b
A grid file has the settings of a run file, and axes:
  stream = "linear_teacher"
  rounds = 1000
  repeats = 5
  [grid]
  learner = ["ogd", "parameter_free"]
  "stream_params.noise" = [0.0, 0.3]
  problem = [{space = "simplex", params = {d = 5}}, {space = "ordinal", params = {d = 5}}]

The same command again does what is left, and tries failed runs again. The exit code is 0 when all runs are
done, 1 when some failed, 130 after an interrupt.
"""


@click.command(epilog=EXAMPLES)
@click.argument("grid", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Directory of the results."
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for one per core.")
@click.option("--scheduler", metavar="ADDRESS", help="Do the runs on the cluster of this Dask scheduler.")
@click.option("--regret", is_flag=True, help="Also find the best comparator, and record regret and bound.")
@click.option("--parquet", is_flag=True, help="Write results.parquet as well, in the end.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.pass_context
def command(
    ctx: click.Context, /, grid: Path, out: Path, jobs: int, scheduler: str | None, regret: bool, **show: bool
) -> None:
    """Do a grid of runs on all cores or on a cluster, each once."""
    from osp_core.sweeps import run_many

    try:
        result = run_many(
            grid,
            store=out,
            n_jobs=jobs,
            scheduler=scheduler,
            regret=regret,
            plugins=(ctx.parent or ctx).params.get("plugins", ()),
            progress=not show["as_json"],
            warn=lambda message: click.echo(message, err=True),
        )
    except KeyboardInterrupt:
        click.echo(f"interrupted; continue with: osp sweep {grid} --out {out}", err=True)
        raise SystemExit(130) from None
    if show["parquet"]:
        with sole_use(out):
            clear_leftovers(out)
            result.to_parquet(inside(out, "results.parquet"))
    _show(result, out, show["as_json"])
    if result.failures:
        raise SystemExit(1)


def _show(result: Any, out: Path, as_json: bool) -> None:
    failures = [
        {
            "key": row["key"],
            "space": row["config"]["space"],
            "learner": row["config"]["learner"],
            **row["error"],
        }
        for row in result.failures
    ]
    counts = {"runs": len(result.rows), "ran": result.ran, "skipped": result.skipped, "failed": len(failures)}
    if as_json:
        click.echo(
            json.dumps({**counts, "store": str(out / "results.jsonl"), "failures": failures}, indent=2)
        )
        return
    for failure in failures[:10]:
        click.echo("failed: {key:.12} ({space}, {learner}): {type}: {message}".format(**failure), err=True)
    if len(failures) > 10:
        click.echo(f"… and {len(failures) - 10} more; the errors are in the store.", err=True)
    _table([row for row in result.rows if row["status"] == "done"])
    click.echo(
        "{runs} runs: {ran} done now, {skipped} before, {failed} failed.".format(**counts)
        + f" Results are in {out / 'results.jsonl'}."
    )


def _table(rows: Sequence[dict[str, Any]]) -> None:
    """The means over the seeds of every point of the grid, with the settings in which they differ."""
    points: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        points.setdefault(json.dumps({**row["config"], "seed": None}, sort_keys=True), []).append(row)
    settings = [json.loads(point) for point in points]
    varying = [name for name in (settings or [{}])[0] if len({json.dumps(s[name]) for s in settings}) > 1]
    kept = [name for name in NUMBERS if any(row["summary"].get(name) is not None for row in rows)]
    lines = [
        [*(_cell(setting[name]) for name in varying), str(len(same)), *(_mean(same, name) for name in kept)]
        for setting, same in zip(settings, points.values(), strict=True)
    ]
    if lines:
        names = [name.replace("_", " ") for name in (*varying, "runs", *kept)]
        show_table("Totals, means over the runs", names, lines[:MOST_ROWS])
        if len(lines) > MOST_ROWS:
            click.echo(f"… and {len(lines) - MOST_ROWS} more; all are in the store.")
        click.echo()


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "–" if value is None else json.dumps(value)


def _mean(rows: Sequence[dict[str, Any]], name: str) -> str:
    values = [row["summary"][name] for row in rows if row["summary"].get(name) is not None]
    return f"{statistics.fmean(values):.4g}" if values else "–"
