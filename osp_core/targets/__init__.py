"""Target losses L(y′; y): affine in the played output y′, [SBTO24, Assumption 1]."""

from osp_core.targets.affine import AffineLoss, RoundLoss, lipschitz_constant
from osp_core.targets.decision import DecisionRegret, decision_regret
from osp_core.targets.named import (
    ProportionalLoss,
    TableLoss,
    absolute,
    alignment,
    hamming,
    mismatch,
    table,
    zero_one,
)
from osp_core.targets.ndcg import NormalizedGain, ndcg

__all__ = [
    "AffineLoss",
    "DecisionRegret",
    "NormalizedGain",
    "ProportionalLoss",
    "RoundLoss",
    "TableLoss",
    "absolute",
    "alignment",
    "decision_regret",
    "hamming",
    "lipschitz_constant",
    "mismatch",
    "ndcg",
    "table",
    "zero_one",
]
