"""Models: from an input x and weights to scores θ, and from a score gradient back to the weights."""

from osp_core.models.base import Model
from osp_core.models.features import FeatureModel
from osp_core.models.gradients import Gradient
from osp_core.models.linear import LinearModel

__all__ = ["FeatureModel", "Gradient", "LinearModel", "Model"]
