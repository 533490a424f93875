"""Where the runs of a sweep are done: in this process, on the cores of this machine, on a Dask cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from osp_core.errors import InvalidInputError, MissingDependencyError, OspError
from osp_core.sweeps.task import Task, lost, perform

Row = dict[str, Any]
PATIENCE = 20.0  # seconds that a scheduler has to answer
_EXTRA = "pip install 'online-structured-prediction[distributed]'"


class SweepError(OspError, RuntimeError):
    """A sweep cannot go on; what is finished is in the store."""


def on_local_cores(tasks: Sequence[Task], n_jobs: int) -> Iterator[Row]:
    """Do the tasks in `n_jobs` processes (−1: one per core); one alone needs no other process."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or (n_jobs < 1 and n_jobs != -1):
        raise InvalidInputError(f"The number of jobs must be a positive whole number, or -1, got {n_jobs!r}.")
    if n_jobs == 1:
        return _here(tasks)
    try:
        import joblib
    except ImportError:
        raise MissingDependencyError(
            f"More than one job at a time needs joblib: {_EXTRA}, or use one job (--jobs 1)."
        ) from None
    workers = joblib.cpu_count() if n_jobs == -1 else n_jobs
    return _here(tasks) if workers == 1 else _with_joblib(tasks, workers)


def _with_joblib(tasks: Sequence[Task], workers: int) -> Iterator[Row]:
    """Do the tasks in a pool; when a process dies, those under way are done again, each alone."""
    waiting = {task.key: task for task in tasks}
    while waiting:
        under_way: dict[str, Task] = {}
        for row in _pool(waiting, under_way, workers):
            del waiting[row["key"]], under_way[row["key"]]
            yield row
        # Only after a death is anything left here. Alone, the culprit is known by its second death.
        for task in under_way.values():
            (row,) = tuple(_pool({task.key: task}, {}, 2)) or (lost(task, _died()),)
            del waiting[row["key"]]
            yield row


def _pool(waiting: dict[str, Task], under_way: dict[str, Task], workers: int) -> Iterator[Row]:
    """Yield rows until all are done, or until the pool is broken by the death of a process."""
    from concurrent.futures.process import BrokenProcessPool

    import joblib

    def started() -> Iterator[Any]:
        for task in list(waiting.values()):
            under_way[task.key] = task
            yield joblib.delayed(perform)(task)

    # One thread each for linear algebra; one task at a time, so that a result is stored when it is there.
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(
            n_jobs=workers, return_as="generator_unordered", batch_size=1, pre_dispatch=2 * workers
        )
        rows = parallel(started())
    with contextlib.suppress(BrokenProcessPool):
        yield from rows


def _died() -> SweepError:
    return SweepError("The process of this run died twice, the second time alone: was it out of memory?")


def on_dask(tasks: Sequence[Task], scheduler: Any) -> Iterator[Row]:
    """Do the tasks on a Dask cluster, which does those of a lost worker again.

    Parameters
    ----------
    tasks : sequence of Task
    scheduler : str or distributed.Client
        An address such as ``tcp://10.0.0.1:8786`` or ``tls://…``, for which certificates come from Dask's own
        configuration.
    """
    try:
        import distributed as library
    except ImportError:
        raise MissingDependencyError(f"A Dask cluster needs distributed: {_EXTRA}.") from None
    distributed: Any = library  # untyped
    with contextlib.ExitStack() as stack:
        client = scheduler
        if isinstance(scheduler, str):
            client = stack.enter_context(_connect(distributed, scheduler))
        elif not isinstance(scheduler, distributed.Client):
            raise InvalidInputError(f"scheduler must be an address or a Dask client, got {scheduler!r}.")
        # pure=False: a key of the cluster's own, so that nothing of an earlier sweep is taken for a result.
        futures = client.map(_on_worker, list(tasks), pure=False)
        task_of = {future.key: task for future, task in zip(futures, tasks, strict=True)}
        for future in distributed.as_completed(futures):
            if future.status in ("cancelled", "lost"):
                raise SweepError("The Dask scheduler was lost; repeat the sweep to do what is left.")
            error = future.exception()  # errors of a run are in its row: this one is of the cluster
            yield future.result() if error is None else lost(task_of[future.key], error)
            future.release()


def _on_worker(task: Task) -> Row:
    """Do a task in a process that does nothing else but runs."""
    limit_threads()
    return perform(task)


def _here(tasks: Sequence[Task]) -> Iterator[Row]:
    """Do the tasks in this process, which gets its threads back in the end."""
    with limit_threads():
        yield from map(perform, tasks)


def _connect(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise SweepError(f"No Dask scheduler answers at {address!r}: {error}.") from error


def limit_threads() -> AbstractContextManager[Any]:
    """One thread for linear algebra: sums are then added in the same order however many workers there are."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return contextlib.nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits
