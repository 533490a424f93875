"""Everything against the peers that install, in one process.

python benchmarks/run.py [--short | --full] [--only birkhoff] …

The short form takes two minutes, the full one up to thirty. Writes one JSON file and one plot per family and
a table of everything, summary.md, into benchmarks/results (the short form: into its folder short).
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import harness  # sets the number of threads before numpy loads
import report

FAMILIES = (
    "stream",
    "birkhoff",
    "sorting",
    "matroids",
    "polytope",
    "frank_wolfe",
    "decode",
    "rounds",
    "sparse",
    "batch",
    "perturbed",
    "memory",
    "startup",
)


def main(families: tuple[str, ...] = FAMILIES) -> None:
    """Measure these families, or those chosen on the command line; print and write their tables."""
    arguments = _arguments()
    form = "short" if arguments.short else "full"
    texts, missed = [], []
    begin = time.perf_counter()
    for family in arguments.only or families:
        module = importlib.import_module(f"cases_{family}")
        rows: list[harness.Row] = []
        for row in harness.measure(module.cases(arguments.short), short=arguments.short):
            rows.append(row)
            note = "" if row.timings[0].seconds else f" — {row.timings[0].note}"
            print(f"{family}: {row.primitive} {row.size}: {row.ratio() or 0:.2f}×{note}", file=sys.stderr)
        facts = list(module.facts(rows, arguments.short)) if hasattr(module, "facts") else []
        texts.append(report.write(family, rows, facts, form))
        missed += [f"{row.primitive} {row.size}: {row.ratio() or 0:.2f}×" for row in rows if row.met is False]
        missed += [f"{fact.name}: {fact.value:.4g} {fact.unit}" for fact in facts if fact.met is False]
        print(f"\n{texts[-1]}\n", flush=True)
    minutes = (time.perf_counter() - begin) / 60
    verdict = (
        "\n".join(["Missed:", "", *(f"- {line}" for line in missed)]) if missed else "Every target is met."
    )
    print(verdict)
    if not arguments.only and families == FAMILIES:
        _write_summary(texts, verdict, form, minutes)


def _write_summary(texts: list[str], verdict: str, form: str, minutes: float) -> None:
    about = report.machine()
    head = (
        f"# Benchmark, {form} form\n\n"
        f"Python {about['python']} on {about['processor']}, {about['cores']} cores shared with other work, "
        f"one thread, {about['kernels']} kernels, {minutes:.0f} minutes. Times: {about['clock']}; quartiles "
        "and the largest error of the answers in brackets. A ratio says how many times faster we are.\n\n"
        f"{verdict}\n\n"
    )
    (report.folder(form) / "summary.md").write_text(head + "\n\n".join(texts) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true", help="fewer sizes and repeats: two minutes")
    form.add_argument("--full", action="store_true", help="everything: up to thirty minutes (the default)")
    parser.add_argument("--only", choices=FAMILIES, action="append", help="this family only; may be repeated")
    return parser.parse_args()


if __name__ == "__main__":
    main()
