"""``osp run``: learn a file or a stream from the command line."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from osp_core.cli import completion
from osp_core.errors import InvalidInputError
from osp_core.persistence.atomic import read_json

EXAMPLES = """
\b
Examples:
  osp run --space simplex --data flowers.csv --label species --out flowers
  osp run --space hypercube --data mails.jsonl --label tags --out mails
  osp run --space ordinal --data stars.csv --learner parameter_free --out stars
  osp run --space permutahedron -p d=5 --stream separable --rounds 999 --out ranks
  osp run --stream digits --seeds 0-4 --out digits
  osp run --space simplex --data d.csv --classes a,b,c --on-error skip --out abc
  osp run --config flowers/run.toml --out again
  osp run --out flowers --resume

Labels in files: a class name; labels of a set as a;b;c; a ranking as first>second>third; edges of a
matching or a tree as u-v;v-w (u--v where names have hyphens). In JSON also lists.

Classes: those of --classes, in that order. Without it, the file is read once to collect them. A label that
the space does not have (also one in rows that were appended to the file before --resume) is a bad row.

Bad rows end the run before it begins (exit code 2, with file and line), or are counted and left out with
--on-error skip. A file whose quotes do not match is an error in any case: where its rows begin is anybody's
guess. Every row is checked first; no file is held in memory.

Ctrl-C (or SIGTERM) ends the run after its round with a checkpoint and results; --resume continues it, bit
for bit. The data must then begin with the rows that were learned, in any format, with columns in any order.
"""


Command = TypeVar("Command", bound=Callable[..., Any])


def _params(name: str, kind: str, short: str | None = None) -> Callable[[Command], Command]:
    flags = [f"--{name}", *([short] if short else [])]
    return click.option(
        *flags,
        f"{name.replace('-', '_')}s",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"A parameter of the {kind}; the value is JSON or text.",
        shell_complete=completion.parameters(kind),
    )


@click.command(epilog=EXAMPLES)
@click.option(
    "--space", help="A registered space; see `osp spaces`.", shell_complete=completion.registered("space")
)
@_params("param", "space", "-p")
@click.option("--classes", metavar="A,B,…", help="The classes, labels, items or elements, in this order.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, readable=False),
    help="A .csv, .tsv, .jsonl, .npz or .parquet file, or one that a plugin reads.",
)
@click.option(
    "--label",
    help="The column of the labels (a number where there is no header).  [default: label]",
    shell_complete=completion.columns,
)
@click.option(
    "--features",
    metavar="A,B,…",
    help="The feature columns.  [default: all others]",
    shell_complete=completion.columns,
)
@click.option(
    "--drop", metavar="A,B,…", help="Columns that are no features.", shell_complete=completion.columns
)
@click.option(
    "--stream",
    help="A registered stream instead of a file.",
    shell_complete=completion.registered("stream"),
)
@_params("stream-param", "stream")
@click.option(
    "--learner",
    help="A registered learner.  [default: ogd]",
    shell_complete=completion.registered("learner"),
)
@_params("learner-param", "learner")
@click.option(
    "--decoder",
    help="randomized, blockwise, nearest, sampling, uniform, or one of a plugin.  [default: what space and "
    "target allow]",
    shell_complete=completion.registered("decoder"),
)
@_params("decoder-param", "decoder")
@click.option(
    "--target",
    help="zero_one, hamming, absolute, mismatch, alignment, ndcg, table, decision_regret, or one of a "
    "plugin.  [default: that of the space]",
    shell_complete=completion.registered("target"),
)
@_params("target-param", "target")
@click.option("--rounds", type=click.IntRange(min=1), help="Stop after this many rounds.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the plays and of the stream.  [default: 0]")
@click.option("--seeds", metavar="0-4|1,5,9", help="Several seeds: a run each, with mean and spread.")
@click.option("--feature-bound", type=float, help="A bound of every ‖x‖; found in the data otherwise.")
@click.option(
    "--intercept/--no-intercept", default=None, help="Add a constant feature to the data.  [default: yes]"
)
@click.option(
    "--scale",
    type=click.Choice(["standard", "none"]),
    help="Shift and scale the features of a file to mean 0 and deviation 1.  [default: standard]",
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
@click.option("--no-report", is_flag=True, help="Write no report.html.")
@click.option("--figures", is_flag=True, help="Also write the figures as .svg and .png (needs matplotlib).")
@click.option("--quiet", is_flag=True, help="Say nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    config: Path | None,
    out: Path,
    resume: bool,
    no_report: bool,
    figures: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn a file or a stream; write results, trace and checkpoints."""
    from osp_core.report import write_run_report
    from osp_core.runs import execute, execute_seeds

    settings = _settings(config, out, resume, options)
    progress = sys.stderr.isatty() and not (quiet or as_json)
    if settings.seeds:
        several = execute_seeds(settings, out, resume=resume, progress=progress, warn=_warn)
        summary, results = several.summary, several.results
    else:
        results = [execute(settings, out, resume=resume, progress=progress, warn=_warn)]
        summary = results[0].summary
    if figures or not no_report:
        if progress:
            click.echo("fitting the best model in hindsight and writing the report …", err=True)
        write_run_report(out, *results, figures=figures)
    if as_json:
        click.echo(json.dumps(summary, indent=2))
    elif not quiet:
        _show(summary, out)
    last = results[-1]
    if last.interrupted is not None and not summary["finished"]:
        click.echo(f"interrupted; continue with: osp run --out {out} --resume", err=True)
        raise SystemExit(128 + last.interrupted)


def _warn(message: str) -> None:
    click.echo(message, err=True)


def _settings(config: Path | None, out: Path, resume: bool, options: dict[str, Any]) -> Any:
    """The configuration: from the options, over a run file where there is one."""
    from osp_core.runs import RunConfig

    values = {key: value for key, value in options.items() if value not in (None, ())}
    for name in ("params", "stream_params", "learner_params", "decoder_params", "target_params"):
        if name in values:
            values[name] = dict(map(parse_param, values[name]))
    for name in ("classes", "features", "drop"):
        if name in values:
            values[name] = split_names(values[name])
    if "seeds" in values:
        values["seeds"] = parse_seeds(values["seeds"])
    if config is None and resume and "space" not in values and (out / "run.toml").exists():
        config = out / "run.toml"
    if config is None and resume and not {"space", "data", "stream"} & set(values):
        raise InvalidInputError(f"There is no run in {out} to resume; start one with --space and --data.")
    if "data" in values:  # from where the command is given, not from where the run file is
        values["data"] = str(values["data"] if config is None else values["data"].absolute())
    if config is None:
        return RunConfig.of(values)
    return RunConfig.from_toml(config, **values).beside(config.absolute().parent)


def parse_param(text: str) -> tuple[str, Any]:
    """Split KEY=VALUE; the value is read as JSON where it is JSON, and is text otherwise."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise InvalidInputError(f"A parameter is written KEY=VALUE, got {text!r}.")
    try:
        return key, read_json(value)
    except InvalidInputError as error:
        raise InvalidInputError(f"{key}: {error}.") from None
    except (ValueError, RecursionError):
        return key, value


def split_names(text: str) -> list[str]:
    """Names separated by commas, quoted as in a CSV file where they contain some."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def parse_seeds(text: str) -> list[int]:
    """Seeds as 1,5,9, or as a range 0-4 with both ends."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise InvalidInputError(f"Seeds are written 0-4 or 1,5,9; got {text!r}.")
        seeds += range(int(first), int(last if dash else first) + 1)
    return seeds


def _show(summary: dict[str, Any], out: Path) -> None:
    rounds = max(1, summary["rounds"])
    spread = summary.get("standard_deviation", {})

    def mean(name: str) -> str:
        deviation = f" ± {spread[name] / rounds:.4f}" if spread.get(name) is not None else ""
        return f"{summary[name] / rounds:.4f}{deviation}"

    seeds = f" and {len(summary['seeds'])} seeds" if "seeds" in summary else ""
    click.echo(
        f"{summary['rounds']} rounds on {summary['space']} with {summary['learner']}{seeds}: mean loss "
        f"{mean('target_loss')} played, {mean('expected_loss')} expected, {mean('surrogate_loss')} surrogate."
    )
    if summary["skipped_rows"]:
        click.echo(f"{summary['skipped_rows']} bad rows were skipped.", err=True)
    written = sorted(path.name for path in out.iterdir() if not path.name.startswith("."))
    click.echo(f"Results are in {out}: {', '.join(written)}.")
    if "seeds" not in summary:
        click.echo(f"Use the model: osp decode --model {out} --file NEW.csv")
