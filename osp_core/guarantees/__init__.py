"""The guarantees: a, b, step sizes and the bounds, each with its premises."""

from osp_core.guarantees.bound import Bound
from osp_core.guarantees.constants import scale_for_gap, surrogate_gap
from osp_core.guarantees.formulas import (
    deviation_rate,
    multiclass_regret_floor,
    parameter_free_regret,
    parameter_free_supremum,
    sqrt_log_supremum,
)
from osp_core.guarantees.gap import Constants, SurrogateGap
from osp_core.guarantees.margin import has_separation_margin, margin, separating_factor

__all__ = [
    "Bound",
    "Constants",
    "SurrogateGap",
    "deviation_rate",
    "has_separation_margin",
    "margin",
    "multiclass_regret_floor",
    "parameter_free_regret",
    "parameter_free_supremum",
    "scale_for_gap",
    "separating_factor",
    "sqrt_log_supremum",
    "surrogate_gap",
]
