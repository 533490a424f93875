"""The reports of ``osp run`` and ``osp demo``."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from osp_core.persistence.atomic import clear_leftovers, inside, make_directory, sole_use
from osp_core.report.document import Code, Report, Section, Text
from osp_core.report.evidence import Evidence, gather
from osp_core.report.files import save_figures, write_text
from osp_core.report.sections import (
    Outcome,
    configuration,
    example_parts,
    guarantee_parts,
    number,
    outcome_table,
    plot_parts,
    timings,
    verdict,
    versions,
)

if TYPE_CHECKING:
    from osp_core.runs import RunResult


@dataclass(frozen=True, eq=False)
class Subject:
    """The runs on one space, one per seed."""

    title: str
    note: str
    runs: tuple[Evidence, ...]

    @property
    def anchor(self) -> str:
        """A name for links: letters, digits and dashes."""
        words = "".join(letter if letter.isalnum() and letter.isascii() else " " for letter in self.title)
        return "-".join(words.lower().split()) or "runs"

    @property
    def outcome(self) -> Outcome:
        """Totals and verdicts."""
        return Outcome.of(self.title, self.runs)


def write_run_report(
    directory: str | os.PathLike[str], *results: RunResult, figures: bool = False
) -> list[Path]:
    """Write ``report.html`` into the directory of a run.

    Parameters
    ----------
    directory : path
    *results : RunResult
        What `execute` returned, whole or interrupted; several of one configuration with different seeds
        become bands.
    figures : bool
        Also write the figures as files to ``figures/``, which takes matplotlib and a few seconds.
    """
    folder = Path(directory)
    report = run_report([_evidence(result) for result in results], results)
    make_directory(folder)
    with sole_use(folder):
        clear_leftovers(folder)
        written = [write_text(inside(folder, "report.html"), report.html())]
        if figures:
            pictures = inside(folder, "figures")
            make_directory(pictures)
            clear_leftovers(pictures)
            written += save_figures(report, pictures)
    return written


def run_report(runs: Sequence[Evidence], results: Sequence[RunResult]) -> Report:
    """The page of a run."""
    first = results[0]
    name, rounds = str(first.summary["space"]), min(len(run.trace) for run in runs)
    finished = all(result.summary["finished"] for result in results)
    outcome = Outcome.of(name, runs)
    lead = f"{rounds} rounds with {first.summary['learner']}." + (
        "" if finished else " The run was interrupted: this is a partial report."
    )
    sections = [
        Section("Result", "result", (Text(_headline(outcome)), outcome_table([outcome]))),
        Section("Curves", "curves", tuple(plot_parts(runs))),
        Section("Predictions", "predictions", tuple(example_parts(runs[0]))),
        Section("Guarantees", "guarantees", tuple(guarantee_parts(runs))),
        Section(
            "Configuration",
            "configuration",
            (configuration(runs[0]), Text("The run file:"), Code(first.prepared.config.to_toml())),
        ),
        Section("Timings", "timings", (timings((name, run) for run in runs), versions())),
    ]
    return Report(f"Online learning on {name}", lead, tuple(section for section in sections if section.parts))


def demo_report(subjects: Sequence[Subject]) -> Report:
    """The page of several spaces side by side."""
    outcomes = [subject.outcome for subject in subjects]
    summary = Section(
        "Summary",
        "summary",
        (
            outcome_table(outcomes, [subject.anchor for subject in subjects]),
            Text(
                "Losses are totals over the rounds, means over the seeds. The comparator U is the best "
                "linear model in hindsight; regret = ΣE L − ΣS(U), and the bound holds for every stream and "
                "every number of rounds. Lemma 4: E L ≤ (1 − a)·S in every single round."
            ),
        ),
    )
    sections = [summary, *(_subject_section(subject) for subject in subjects)]
    listed = [(subject.title, run) for subject in subjects for run in subject.runs]
    sections.append(Section("Timings", "timings", (timings(listed), versions())))
    seeds = max(len(subject.runs) for subject in subjects)
    lead = f"{len(subjects)} kinds of structure learned online, {seeds} seed{'s' * (seeds > 1)} each."
    return Report("Online structured prediction with guarantees", lead, tuple(sections))


def _subject_section(subject: Subject) -> Section:
    runs = subject.runs
    parts = (
        Text(subject.note),
        *plot_parts(runs),
        *example_parts(runs[0]),
        *guarantee_parts(runs),
        configuration(runs[0]),
    )
    return Section(subject.title, subject.anchor, parts)


def _headline(outcome: Outcome) -> str:
    if outcome.regret is None or outcome.bound is None:
        return (
            "No bound is stated for this run; the guarantees below say why. "
            f"Lemma 4: {verdict(outcome.lemma_4)}."
        )
    return (
        f"The regret against the best linear model in hindsight was {number(outcome.regret)}; the bound is "
        f"{number(outcome.bound)}, and it {verdict(outcome.regret_bound)} after every round. Lemma 4 "
        f"{verdict(outcome.lemma_4)} in every round."
    )


def _evidence(result: RunResult) -> Evidence:
    prepared = result.prepared
    return gather(
        result.predictor,
        result.trace,
        lambda: itertools.islice(prepared.rounds(), len(result.trace)),
        seed=prepared.config.seed,
        seconds=float(result.summary["seconds"]),
        # Who stopped a run does not want to wait for its report.
        time_limit=10.0 if result.summary["finished"] else 2.0,
    )
