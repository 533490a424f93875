"""Compare the Frank–Wolfe methods of this package with one another and with copt.

Run ``python benchmarks/frank_wolfe.py``; set OMP_NUM_THREADS=1 for steady times. Prints a Markdown table,
writes ``frank_wolfe.json`` and one plot per problem into ``benchmarks/results``. Counts and times are those
at which a certified gap of 1e−6 is first reached, means over the seeds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import frank_wolfe_copt
import numpy as np
from frank_wolfe_problems import PROBLEMS, Problem

from osp_core import kernels
from osp_core.frank_wolfe import (
    AwayStep,
    BlendedPairwise,
    Method,
    MinNormPoint,
    NearestExtremePoint,
    Pairwise,
    Quadratic,
    Vanilla,
    minimize,
)

GAP = 1e-6
METHODS: dict[str, Method] = {
    "MinNormPoint": MinNormPoint(),
    "BlendedPairwise": BlendedPairwise(),
    "BlendedPairwise, not lazy": BlendedPairwise(lazy=False),
    "Pairwise": Pairwise(),
    "AwayStep": AwayStep(),
    "NearestExtremePoint": NearestExtremePoint(),
    "Vanilla": Vanilla(),
}
DEFAULT = "MinNormPoint"


def main() -> None:
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    copt_runs = importlib.util.find_spec("copt") is not None
    if not copt_runs:
        print("copt is not installed (pip install copt): its rows are left out.\n")
    for method in METHODS.values():  # compile and warm up
        minimize(PROBLEMS[0].lmo, Quadratic(PROBLEMS[0].centre(0)), method=method, max_iter=20)
    report = []
    for problem in PROBLEMS:
        rows = [_measure(problem, name, arguments) for name in METHODS]
        if copt_runs:
            rows += [_measure_copt(problem, variant, arguments) for variant in frank_wolfe_copt.VARIANTS]
        _print_table(problem, rows)
        _plot(problem, rows, arguments.out)
        report.append({"problem": problem.name, "reference_lmo_calls": problem.reference, "methods": rows})
    _print_verdict(report)
    machine = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "kernels": kernels.selected(),
    }
    target = arguments.out / "frank_wolfe.json"
    target.write_text(json.dumps({"gap": GAP, "machine": machine, "problems": report}, indent=1))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds per run")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


def _measure(problem: Problem, name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    limit = arguments.time_limit
    runs = [_fastest(partial(_run, problem, seed, name, limit)) for seed in range(arguments.seeds)]
    return _summary(name, runs)


def _measure_copt(problem: Problem, variant: str, arguments: argparse.Namespace) -> dict[str, Any]:
    run, limit = frank_wolfe_copt.run, arguments.time_limit
    runs = [_fastest(partial(run, problem, seed, variant, GAP, limit)) for seed in range(arguments.seeds)]
    return _summary(f"copt, {variant}", runs)


def _run(problem: Problem, seed: int, name: str, time_limit: float) -> dict[str, Any]:
    result = minimize(
        problem.lmo,
        Quadratic(problem.centre(seed)),
        method=METHODS[name],
        tol=GAP / 20,  # relative to 1 + ½‖y‖², which is below 20 here
        time_limit=time_limit,
        trajectory=True,
    )
    return {"trajectory": result.trajectory, "active": len(result.combination)}


def _fastest(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Repeat a short run and keep the fastest: other programs can only make it slower."""
    best = run()
    for _ in range(4):
        if best["trajectory"][-1][2] > 0.5:
            break
        best = min(best, run(), key=lambda each: each["trajectory"][-1][2])
    return best


def _summary(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Average over the seeds; runs that did not get there count with all their calls."""
    ends = [
        next((step for step in run["trajectory"] if step[3] <= GAP), run["trajectory"][-1]) for run in runs
    ]
    return {
        "method": name,
        "reached": all(step[3] <= GAP for step in ends),
        "lmo_calls": float(np.mean([step[1] for step in ends])),
        "active": float(np.mean([run["active"] for run in runs])),
        "milliseconds": 1e3 * float(np.mean([step[2] for step in ends])),
        "gap": max(step[3] for step in ends),
        "trajectory": [step[1:] for step in runs[0]["trajectory"]],
    }


def _print_table(problem: Problem, rows: list[dict[str, Any]]) -> None:
    best = next(row for row in rows if row["method"] == DEFAULT)
    reference = "" if problem.reference is None else f" (reference: {problem.reference} LMO calls)"
    print(f"### {problem.name}{reference}\n")
    print("| method | LMO calls | × | active | ms | × | gap |\n|---|---|---|---|---|---|---|")
    for row in rows:
        more = "" if row["reached"] else ">"
        print(
            f"| {row['method']} | {more}{row['lmo_calls']:.0f} | {row['lmo_calls'] / best['lmo_calls']:.1f} "
            f"| {row['active']:.0f} | {more}{row['milliseconds']:.1f} "
            f"| {row['milliseconds'] / best['milliseconds']:.1f} | {row['gap']:.0e} |"
        )
    print(flush=True)


def _print_verdict(report: list[dict[str, Any]]) -> None:
    print("### Against the targets\n")
    for entry in report:
        rows = {row["method"]: row for row in entry["methods"]}
        ours = rows[DEFAULT]
        if entry["reference_lmo_calls"] is not None:
            ratio = ours["lmo_calls"] / entry["reference_lmo_calls"]
            print(f"- {entry['problem']}: {ratio:.2f} × the reference LMO calls (target: at most 1.3)")
        peers = [row for name, row in rows.items() if name.startswith("copt") and row["reached"]]
        if peers:
            fewest, fastest = (min(peers, key=lambda row: row[key]) for key in ("lmo_calls", "milliseconds"))
            print(
                f"- {entry['problem']}: {fewest['lmo_calls'] / ours['lmo_calls']:.1f} × fewer LMO calls and "
                f"{fastest['milliseconds'] / ours['milliseconds']:.1f} × faster than copt at its best"
            )


def _plot(problem: Problem, rows: list[dict[str, Any]], out: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
    for number, row in enumerate(rows):
        calls, seconds, gaps = (np.array(column) for column in zip(*row["trajectory"], strict=True))
        style = {"color": f"C{number}", "lw": 2.2 if row["method"] == DEFAULT else 1.2}
        style["ls"] = "--" if row["method"].startswith("copt") else "-"
        # The running minimum: the best certificate so far is the one a user would keep.
        for axis, abscissa in zip(axes, (calls, 1e3 * seconds), strict=True):
            axis.loglog(
                abscissa, np.minimum.accumulate(np.maximum(gaps, 1e-16)), label=row["method"], **style
            )
    for axis, label in zip(axes, ("LMO calls", "milliseconds"), strict=True):
        axis.axhline(GAP, color="0.6", lw=0.8, ls=":")
        axis.set(xlabel=label, ylim=(1e-9, None))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("smallest Frank–Wolfe gap so far")
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=8, loc="outside right center")
    figure.suptitle(f"Projection on {problem.name}")
    slug = "".join(letter if letter.isalnum() else "_" for letter in problem.name)
    figure.savefig(out / f"frank_wolfe_{slug}.png", dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
