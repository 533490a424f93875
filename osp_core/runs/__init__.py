"""Runs from files: data in, checkpoints and results out, reproducible from one configuration."""

from osp_core.runs.config import RunConfig
from osp_core.runs.data import open_table
from osp_core.runs.execute import RunResult, execute
from osp_core.runs.model import SavedModel, label_frame, load_model
from osp_core.runs.seeds import SeedsResult, execute_seeds
from osp_core.runs.tables import DataError, Table

__all__ = [
    "DataError",
    "RunConfig",
    "RunResult",
    "SavedModel",
    "SeedsResult",
    "Table",
    "execute",
    "execute_seeds",
    "label_frame",
    "load_model",
    "open_table",
]
