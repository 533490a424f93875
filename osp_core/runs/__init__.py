"""Runs from files: data in, checkpoints and results out, reproducible from one configuration."""

from osp_core.runs.config import RunConfig
from osp_core.runs.data import DataError, Table, open_table
from osp_core.runs.execute import RunResult, execute

__all__ = ["DataError", "RunConfig", "RunResult", "Table", "execute", "open_table"]
