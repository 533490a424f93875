"""Models: from an input x and weights to scores θ, and from a score gradient back to the weights."""

from osp_core.models.base import FeatureModel, Gradient, LinearModel, Model

__all__ = ["FeatureModel", "Gradient", "LinearModel", "Model"]
