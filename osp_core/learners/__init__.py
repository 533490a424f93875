"""Learners: online convex optimisers over the weights."""

from osp_core.learners.adaptive_ogd import AdaptiveOGD
from osp_core.learners.base import OnlineLearner, RunSummary
from osp_core.learners.ogd import OGD
from osp_core.learners.parameter_free import ParameterFree
from osp_core.learners.polyak_ogd import PolyakOGD

__all__ = ["OGD", "AdaptiveOGD", "OnlineLearner", "ParameterFree", "PolyakOGD", "RunSummary"]
