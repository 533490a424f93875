"""The regularizers Ψ, one per file."""

from osp_core.regularizers.base import Regularizer
from osp_core.regularizers.binary_entropy import BinaryEntropy
from osp_core.regularizers.gibbs_entropy import GibbsEntropy
from osp_core.regularizers.negative_entropy import NegativeEntropy
from osp_core.regularizers.squared_norm import SquaredNorm

__all__ = ["BinaryEntropy", "GibbsEntropy", "NegativeEntropy", "Regularizer", "SquaredNorm"]
