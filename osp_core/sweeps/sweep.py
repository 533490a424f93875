"""The sweep itself: what is not in the store yet is run, and every result is stored as it comes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osp_core.errors import InvalidInputError
from osp_core.online.progress import progress_bar
from osp_core.runs import RunConfig
from osp_core.sweeps.grid import expand, read_grid
from osp_core.sweeps.schedulers import Row, on_dask, on_local_cores
from osp_core.sweeps.store import Store, write_parquet
from osp_core.sweeps.task import Task, make_tasks


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The rows of a sweep, in the order of its configurations.

    Attributes
    ----------
    rows : list of dict
        One per run: ``key``, ``status`` ("done" or "failed"), the resolved ``config``, the ``summary``, the
        ``error`` of a failed one, ``versions`` and ``seconds``.
    ran, skipped : int
        How many runs were done now, and how many were in the store already.
    """

    rows: list[Row]
    ran: int
    skipped: int

    @property
    def failures(self) -> list[Row]:
        """The rows of the runs that failed."""
        return [row for row in self.rows if row["status"] != "done"]

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as a table, one column per setting and per number of the summary."""
        write_parquet(self.rows, path)


def run_many(
    configs: str | os.PathLike[str] | Mapping[str, Any] | Sequence[RunConfig | Mapping[str, Any]],
    *,
    store: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    scheduler: Any = None,
    regret: bool = False,
    plugins: Sequence[str] = (),
    progress: bool = False,
    callback: Callable[[int, Row], None] | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> SweepResult:
    """Run many configurations, each once, on all cores or on a cluster.

    Parameters
    ----------
    configs : path, mapping or sequence
        A grid (a TOML file or the same as a mapping; see `expand`), or a list of configurations.
    store : path, optional
        A directory whose ``results.jsonl`` gets a row for every run as soon as it is done. A run that is in
        it is not run again: the same call continues a sweep that was killed. Failed runs are tried again.
    n_jobs : int
        Processes on this machine; −1 for one per core. More than one needs joblib.
    scheduler : str or distributed.Client, optional
        The address of a Dask scheduler, whose workers do the runs instead.
    regret : bool
        Also find the comparator that makes the bound tightest, and record the regret against it.
    plugins : sequence of str
        Directories with single-file plugins that every worker loads.
    progress : bool
        Show a progress bar on standard error.
    callback : callable
        Called with the number of runs done now and the row of the last.
    warn : callable
        Told of what was recovered in the store.

    Notes
    -----
    A run is determined by its configuration and the contents of its data: the results are the same with any
    number of workers, in any order, and after any number of restarts. A run that fails is a row with its
    error and stops no other; one whose worker is lost is run again.
    """
    tasks = make_tasks(_configurations(configs), regret=regret, plugins=plugins)
    with contextlib.ExitStack() as stack:
        opened = None if store is None else stack.enter_context(Store(Path(store), warn=warn))
        known: dict[str, Row] = {} if opened is None else opened.done()
        waiting = [task for task in tasks if task.key not in known]
        rows = _dispatch(waiting, n_jobs, scheduler) if waiting else iter(())
        ran = 0
        for row in progress_bar(rows, len(waiting), enabled=progress, description="runs"):
            if opened is not None:
                opened.append(row)
            known[row["key"]] = row
            ran += 1
            if callback is not None:
                callback(ran, row)
    return SweepResult([known[task.key] for task in tasks], ran, len(tasks) - len(waiting))


def _configurations(configs: Any) -> list[RunConfig]:
    if isinstance(configs, str | os.PathLike):
        return read_grid(configs)
    if isinstance(configs, Mapping):
        return expand(configs)
    if isinstance(configs, RunConfig) or not isinstance(configs, Sequence):
        raise InvalidInputError(
            f"A sweep needs a grid (a path or a mapping) or a list of configurations, got {configs!r}."
        )
    return [one if isinstance(one, RunConfig) else expand(one)[0] for one in configs]


def _dispatch(tasks: list[Task], n_jobs: int, scheduler: Any) -> Iterator[Row]:
    if scheduler is not None:
        return on_dask(tasks, scheduler)
    return on_local_cores(tasks, n_jobs)
