"""``osp demo``: seven kinds of structure are learned, and their regret compared with its bound."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osp_core.cli.terminal_tables import show_table

if TYPE_CHECKING:
    from osp_core.report import Evidence, Subject
    from osp_core.spaces import OutputSpace

N_FEATURES = 8
COMPARATOR_STEPS = 6
EXAMPLES = """
\b
Examples:
  osp demo
  osp demo --rounds 100 --seeds 1 --no-report
  osp demo --json --out demo.html | jq '.[].regret'
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--rounds", default=300, show_default=True, type=click.IntRange(min=1), help="Length of the streams."
)
@click.option(
    "--seeds", default=3, show_default=True, type=click.IntRange(min=1), help="How many streams per space."
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="The first of the seeds."
)
@click.option(
    "--out",
    default="osp-demo.html",
    show_default=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the report.",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write the figures as .svg and .png to this directory (needs matplotlib).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(
    rounds: int, seeds: int, seed: int, out: Path, no_report: bool, figures: Path | None, as_json: bool
) -> None:
    """Learn seven kinds of structure online, check every guarantee, and write a report."""
    from osp_core.cli.demo_spaces import demo_spaces
    from osp_core.report import Subject, demo_report, save_figures, write_report

    subjects = []
    with _progress(len(demo_spaces()) * seeds * rounds) as show:
        for title, note, space in demo_spaces():
            runs = tuple(play(title, space, rounds, one, show) for one in range(seed, seed + seeds))
            subjects.append(Subject(title, note, runs))
    report = demo_report(subjects)
    if not no_report:
        write_report(report, out)
    if figures is not None:
        save_figures(report, figures)
    outcomes = [subject.outcome for subject in subjects]
    if as_json:
        click.echo(json.dumps([asdict(outcome) for outcome in outcomes], indent=2))
    else:
        _show(subjects, None if no_report else out)
    if any(outcome.violated for outcome in outcomes):
        raise click.ClickException("A guarantee was violated. This is a bug: please report it with the seed.")


def play(title: str, space: OutputSpace, rounds: int, seed: int, show: Any) -> Evidence:
    """Learn one stream and look at it from behind."""
    from osp_core.online.predictor import OnlinePredictor, run
    from osp_core.registry.registry import make_stream
    from osp_core.report import gather

    stream = make_stream("linear_teacher", space=space, rounds=rounds, n_features=N_FEATURES, seed=seed)
    predictor = OnlinePredictor(space, N_FEATURES, feature_bound=stream.feature_bound, seed=seed)
    total = 0.0

    def watch(number: int, record: Any) -> None:
        nonlocal total
        total += record.expected_loss
        show(f"{title}, seed {seed}", total / number)

    began = time.monotonic()
    trace = run(predictor, stream, callback=watch)
    seconds = time.monotonic() - began
    # Few iterations find U to three digits; a limit in seconds would depend on the machine.
    return gather(
        predictor,
        trace,
        lambda: iter(stream),
        seed=seed,
        seconds=seconds,
        time_limit=60.0,
        max_iter=COMPARATOR_STEPS,
    )


def _show(subjects: list[Subject], out: Path | None) -> None:
    from osp_core.report.sections import outcome_table

    table = outcome_table([subject.outcome for subject in subjects])
    show_table("Online learning against the best linear model in hindsight", table.columns, table.rows)
    seeds = len(subjects[0].runs)
    click.echo(
        f"\nTotals over the rounds, means over {seeds} seed{'s' * (seeds > 1)}. regret = expected target loss"
        "\n− surrogate loss of the comparator; [SBTO24, Thm 7] promises regret ≤ bound for every stream and"
        "\nevery length, Lemma 4 that E L ≤ (1 − a)·S in every round."
    )
    click.echo(f"\nThe report is in {out}." if out is not None else "")
    click.echo("Next: osp run --help, osp spaces, osp experiment.")


@contextmanager
def _progress(total: int) -> Iterator[Any]:
    """Yield a function that is told the space and the mean loss so far; silent when nobody looks."""
    from osp_core.online.progress import live_progress

    with live_progress(total) as advance:
        yield lambda title, loss: advance(f"{title}: mean expected loss {loss:.3f}")
