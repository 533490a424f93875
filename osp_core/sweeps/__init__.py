"""Sweeps: many runs on all cores or on a cluster, each done once, with their results in one store."""

from osp_core.sweeps.grid import expand, read_grid
from osp_core.sweeps.schedulers import SweepError
from osp_core.sweeps.store import Store, StoreError
from osp_core.sweeps.sweep import SweepResult, run_many
from osp_core.sweeps.task import Task, perform

__all__ = [
    "Store",
    "StoreError",
    "SweepError",
    "SweepResult",
    "Task",
    "expand",
    "perform",
    "read_grid",
    "run_many",
]
