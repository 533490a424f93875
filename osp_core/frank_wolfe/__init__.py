"""The Frank–Wolfe engine: a linear oracle in, a certified point and its vertices out.

The engine knows a linear oracle and an objective, nothing else. `minimize` is the entry point; methods
and step rules are objects.
"""

from osp_core.frank_wolfe.active_set import ActiveSet
from osp_core.frank_wolfe.away_step import AwayStep
from osp_core.frank_wolfe.blended_pairwise import BlendedPairwise
from osp_core.frank_wolfe.min_norm_point import MinNormPoint
from osp_core.frank_wolfe.minimize import Method, minimize
from osp_core.frank_wolfe.nearest_extreme_point import NearestExtremePoint
from osp_core.frank_wolfe.objectives import Objective, Quadratic, Smooth
from osp_core.frank_wolfe.oracle import Oracle, VertexCache
from osp_core.frank_wolfe.pairwise import Pairwise
from osp_core.frank_wolfe.result import Result
from osp_core.frank_wolfe.search import Progress
from osp_core.frank_wolfe.step_rules import Backtracking, ExactStep, OpenLoop, SecantStep, ShortStep, StepRule
from osp_core.frank_wolfe.vanilla import Vanilla
from osp_core.geometry.status import Status

__all__ = [
    "ActiveSet",
    "AwayStep",
    "Backtracking",
    "BlendedPairwise",
    "ExactStep",
    "Method",
    "MinNormPoint",
    "NearestExtremePoint",
    "Objective",
    "OpenLoop",
    "Oracle",
    "Pairwise",
    "Progress",
    "Quadratic",
    "Result",
    "SecantStep",
    "ShortStep",
    "Smooth",
    "Status",
    "StepRule",
    "Vanilla",
    "VertexCache",
    "minimize",
]
