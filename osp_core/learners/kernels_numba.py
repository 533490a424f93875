"""Columns that are behind, compiled."""

from numba import njit
from numba.extending import register_jitable

from osp_core.learners import columns

register_jitable(columns.catch_up)
settle_columns = njit(cache=True)(columns.settle_columns)
