"""Learners: online convex optimisers over the weights."""

from osp_core.learners.base import OnlineLearner, RunSummary
from osp_core.learners.ogd import OGD

__all__ = ["OGD", "OnlineLearner", "RunSummary"]
