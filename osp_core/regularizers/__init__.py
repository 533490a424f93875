"""The regularizers Ψ: each knows its prediction, its Fenchel–Young loss and its strong convexity."""

from osp_core.regularizers.base import BinaryEntropy, GibbsEntropy, NegativeEntropy, Regularizer, SquaredNorm

__all__ = ["BinaryEntropy", "GibbsEntropy", "NegativeEntropy", "Regularizer", "SquaredNorm"]
