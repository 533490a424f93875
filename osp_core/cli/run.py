"""``osp run``: learn a file or a stream from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from osp_core.errors import InvalidInputError

EXAMPLES = """
\b
Examples:
  osp run --space simplex --data flowers.csv --label species --out flowers
  osp run --space hypercube --data mails.jsonl --label tags --learner parameter_free --out mails
  osp run --space permutahedron -p d=5 --stream linear_teacher --rounds 2000 --out ranks
  osp run --config flowers/run.toml --out again
"""


@click.command(epilog=EXAMPLES)
@click.option("--space", help="A registered space; see `osp spaces`.")
@click.option("-p", "--param", "params", multiple=True, metavar="KEY=VALUE", help="A parameter of the space.")
@click.option("--data", type=click.Path(path_type=Path), help="A .csv, .tsv, .jsonl, .npz or .parquet file.")
@click.option(
    "--label", help="The column of the labels (a number where there is no header).  [default: label]"
)
@click.option("--stream", help="A registered stream instead of a file.")
@click.option(
    "--stream-param", "stream_params", multiple=True, metavar="KEY=VALUE", help="A parameter of the stream."
)
@click.option("--learner", help="A registered learner.  [default: ogd]")
@click.option(
    "--learner-param", "learner_params", multiple=True, metavar="KEY=VALUE", help="One of its parameters."
)
@click.option("--rounds", type=click.IntRange(min=1), help="Stop after this many rounds.")
@click.option("--seed", type=int, help="Of the plays and of the stream.  [default: 0]")
@click.option("--feature-bound", type=float, help="A bound of every ‖x‖; found in the data otherwise.")
@click.option(
    "--intercept/--no-intercept", default=None, help="Add a constant feature to the data.  [default: yes]"
)
@click.option(
    "--on-error", type=click.Choice(["stop", "skip"]), help="What to do with bad rows.  [default: stop]"
)
@click.option(
    "--checkpoint-every", type=click.IntRange(min=1), help="Rounds between checkpoints.  [default: 1000]"
)
@click.option(
    "--checkpoint-seconds", type=float, help="Seconds between checkpoints, if those are over first."
)
@click.option("--keep", type=click.IntRange(min=1), help="How many checkpoints to keep.  [default: 3]")
@click.option(
    "--config", type=click.Path(path_type=Path), help="A TOML run file; options given here override it."
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Directory of the results."
)
@click.option(
    "--resume", is_flag=True, help="Continue from the last good checkpoint in --out, if there is one."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(config: Path | None, out: Path, resume: bool, as_json: bool, **options: Any) -> None:
    """Learn a file or a stream; write results, trace and checkpoints."""
    from osp_core.runs import RunConfig, execute

    values: dict[str, Any] = {key: value for key, value in options.items() if value not in (None, ())}
    for name in ("params", "stream_params", "learner_params"):
        if name in values:
            values[name] = dict(map(parse_param, values[name]))
    if "data" in values:
        values["data"] = str(values["data"])
    if config is not None:
        settings = RunConfig.from_toml(config, **values).beside(config.parent)
    else:
        settings = RunConfig.of(values)
    result = execute(
        settings, out, resume=resume, progress=not as_json, warn=lambda message: click.echo(message, err=True)
    )
    if as_json:
        click.echo(json.dumps(result.summary, indent=2))
    else:
        _show(result.summary, out)
    if not result.summary["finished"]:
        click.echo(f"interrupted; continue with: osp run … --out {out} --resume", err=True)
        raise SystemExit(130)


def parse_param(text: str) -> tuple[str, Any]:
    """Split KEY=VALUE; the value is read as JSON where it is JSON, and is text otherwise."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise InvalidInputError(f"A parameter is written KEY=VALUE, got {text!r}.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _show(summary: dict[str, Any], out: Path) -> None:
    played, expected, surrogate = (
        summary[name] / max(1, summary["rounds"])
        for name in ("target_loss", "expected_loss", "surrogate_loss")
    )
    click.echo(
        f"{summary['rounds']} rounds on {summary['space']} with {summary['learner']}: mean loss {played:.4f} "
        f"played, {expected:.4f} expected, {surrogate:.4f} surrogate."
    )
    if summary["skipped_rows"]:
        click.echo(f"{summary['skipped_rows']} bad rows were skipped.", err=True)
    click.echo(f"Results are in {out}: summary.json, trace.npz, run.toml, checkpoints.")
