"""One run per seed, each in a directory of its own, and what they have in common."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError
from osp_core.persistence.atomic import clear_leftovers, inside, make_directory, sole_use, write_text
from osp_core.runs.config import RunConfig
from osp_core.runs.execute import SUMMARY, RunResult, execute, refuse_used
from osp_core.runs.prepare import prepare
from osp_core.runs.resume import CONFIG, continued

AVERAGED = ("target_loss", "expected_loss", "surrogate_loss", "mean_p", "seconds")


@dataclass(frozen=True, eq=False)
class SeedsResult:
    """The outcome of several runs that differ in their seed."""

    results: list[RunResult]
    summary: dict[str, Any]


def execute_seeds(
    config: RunConfig,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
) -> SeedsResult:
    """Run a configuration once per seed, into ``out/seed-N``; ``out/summary.json`` has mean and spread.

    Parameters are those of `execute`. An interrupt ends the run it hits, and those after it do not begin.
    """
    directory, places = Path(out), {f"seed-{seed}": seed for seed in config.seeds}
    if not config.seeds:
        raise InvalidInputError("execute_seeds needs the seeds in the configuration.")
    if resume:
        for name in (CONFIG, SUMMARY, *places):
            inside(directory, name)
    else:
        refuse_used(directory)
    single = replace(continued(config, directory) if resume else config, seed=config.seeds[0], seeds=())
    resolved = prepare(single).config  # what is found in the data is the same for all
    whole = replace(resolved, seeds=config.seeds, seed=config.seed).seen_from(directory).to_toml()
    make_directory(directory)
    with sole_use(directory):
        if not resume:
            refuse_used(directory)
        clear_leftovers(directory)
        write_text(inside(directory, CONFIG), whole)
        results: list[RunResult] = []
        for name, seed in places.items():
            place, one = inside(directory, name), replace(resolved, seed=seed)
            results.append(execute(one, place, resume=resume, progress=progress, warn=warn))
            if results[-1].interrupted is not None:
                break
        summary = summarize([result.summary for result in results], config.seeds)
        write_text(inside(directory, SUMMARY), json.dumps(summary, indent=2) + "\n")
    return SeedsResult(results, summary)


def summarize(summaries: Sequence[dict[str, Any]], seeds: Sequence[int]) -> dict[str, Any]:
    """The mean of every total, its standard deviation over the seeds, and the runs one by one."""
    first = summaries[0]
    totals = {name: np.array([summary[name] for summary in summaries], dtype=np.float64) for name in AVERAGED}
    spread = {
        name: float(values.std(ddof=1)) if len(values) > 1 else math.nan for name, values in totals.items()
    }
    return {
        "finished": len(summaries) == len(seeds) and all(summary["finished"] for summary in summaries),
        "space": first["space"],
        "learner": first["learner"],
        "seeds": list(seeds),
        "rounds": first["rounds"],
        **{name: float(values.mean()) for name, values in totals.items()},
        "standard_deviation": {name: None if math.isnan(value) else value for name, value in spread.items()},
        "skipped_rows": first["skipped_rows"],
        "weights_sha256": [summary["weights_sha256"] for summary in summaries],
        "runs": list(summaries),
    }
