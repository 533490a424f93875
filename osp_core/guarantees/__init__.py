"""The guarantees: bounds with their premises, and the formulas behind them."""

from osp_core.guarantees.bound import Bound
from osp_core.guarantees.formulas import (
    deviation_rate,
    multiclass_regret_floor,
    parameter_free_regret,
    parameter_free_supremum,
    sqrt_log_supremum,
)
from osp_core.guarantees.margin import has_separation_margin, margin, separating_factor

__all__ = [
    "Bound",
    "deviation_rate",
    "has_separation_margin",
    "margin",
    "multiclass_regret_floor",
    "parameter_free_regret",
    "parameter_free_supremum",
    "separating_factor",
    "sqrt_log_supremum",
]
