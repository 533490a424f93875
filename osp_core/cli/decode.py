"""``osp decode``: scores or inputs in, outputs out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from osp_core.cli import completion
from osp_core.cli.run import parse_param
from osp_core.errors import InvalidInputError

EXAMPLES = """
\b
Examples:
  echo '[2.0, 0.1, -1]' | osp decode --space simplex -p d=3 --law
  osp decode --space simplex -p 'classes=["cat","dog"]' --file scores.txt
  osp decode --space permutahedron -p d=4 --file scores.csv
  osp decode --model flowers --file new.csv --deterministic --output labelled.csv
  osp decode --model flowers --file new.parquet --law --output labelled.parquet

A model is a checkpoint, or the directory of a run, whose newest sound checkpoint is taken. The features are
found by name in files with a header or keys; other columns are carried along to --output.

Lines on standard input (or in a file with any other ending) are numbers separated by commas, a JSON list,
or for a model a JSON object. Without --output there is one line of JSON for each.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--space",
    help="A registered space; the rows are then score vectors.",
    shell_complete=completion.registered("space"),
)
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the space; the value is JSON or text.",
    shell_complete=completion.parameters("space"),
)
@click.option(
    "--decoder",
    help="With --space: randomized, blockwise, nearest, sampling, uniform, or one of a plugin.  "
    "[default: what fits]",
    shell_complete=completion.registered("decoder"),
)
@click.option(
    "--decoder-param",
    "decoder_params",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the decoder; the value is JSON or text.",
    shell_complete=completion.parameters("decoder"),
)
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="A checkpoint or the directory of a run; the rows are then inputs x.",
)
@click.option(
    "--file",
    type=click.Path(path_type=Path, readable=False),
    help="Where to read the rows: .csv, .tsv, .jsonl, .npz, .parquet or lines; standard input otherwise.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the rows with their outputs to this .csv, .tsv, .jsonl or .parquet file.",
)
@click.option("--column", default="prediction", show_default=True, help="The name of their column there.")
@click.option(
    "--raw",
    is_flag=True,
    help="Write .csv and .tsv cells as they are, also those that a spreadsheet would take for formulas.",
)
@click.option("--overwrite", is_flag=True, help="Replace --output if it exists.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random outputs."
)
@click.option("--deterministic", is_flag=True, help="The nearest output instead of a random one.")
@click.option("--law", is_flag=True, help="Add p, the nearest output, and the mean of the law.")
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with bad rows.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, which is what happens anyway.")
def command(
    space: str | None,
    params: tuple[str, ...],
    decoder: str | None,
    decoder_params: tuple[str, ...],
    model: Path | None,
    file: Path | None,
    output: Path | None,
    raw: bool,
    overwrite: bool,
    on_error: str,
    as_json: bool,
    **how: Any,
) -> None:
    """Turn scores, or inputs of a saved model, into outputs."""
    from osp_core.runs.decode_rows import ModelSource, ScoreSource, decode_rows
    from osp_core.runs.labels import plain_label
    from osp_core.runs.write_rows import write_rows

    if (space is None) == (model is None):
        raise InvalidInputError("Give either --space, to decode scores, or --model, to decode inputs.")
    if raw and output is None:
        raise InvalidInputError("--raw says how --output is written; give that, or leave --raw out.")
    source: ModelSource | ScoreSource
    if model is not None:
        if params or decoder_params or decoder is not None:
            raise InvalidInputError("A model has its space and its decoder; leave --param and --decoder out.")
        source = ModelSource(model)
    else:
        given, of_decoder = dict(map(parse_param, params)), dict(map(parse_param, decoder_params))
        source = ScoreSource(str(space), given, decoder, of_decoder)
    decoded = decode_rows(source, file, skip_bad=on_error == "skip", **_known(how))
    if output is not None:
        text, column = output.suffix.lower() in (".csv", ".tsv"), how["column"]
        rows = (row.labelled(column) if text else row.typed(column) for row in decoded)
        count = write_rows(output, rows, overwrite=overwrite, raw=raw)
        click.echo(f"{count} rows are in {output}.", err=True)
        return
    for row in decoded:
        click.echo(json.dumps({k: plain_label(v) for k, v in row.answer().items()}, ensure_ascii=False))


def _known(how: dict[str, Any]) -> dict[str, Any]:
    return {key: how[key] for key in ("seed", "deterministic", "law")}
