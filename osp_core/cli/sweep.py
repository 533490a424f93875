"""``osp sweep``: a grid of runs on all cores or on a cluster, each done once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

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
        result.to_parquet(out / "results.parquet")
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
    click.echo(
        "{runs} runs: {ran} done now, {skipped} before, {failed} failed.".format(**counts)
        + f" Results are in {out / 'results.jsonl'}."
    )
