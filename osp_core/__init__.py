"""Online structured prediction with guarantees, after Sakaue, Bao, Tsuchiya & Oki (COLT 2024)."""

import importlib
from typing import TYPE_CHECKING, Any

from osp_core import frank_wolfe
from osp_core.errors import (
    GuaranteeError,
    InvalidInputError,
    MissingConstantError,
    MissingDependencyError,
    NotAVertexError,
    NumericalError,
    OracleError,
    OspError,
    PluginError,
    UnknownNameError,
    UnsupportedError,
)
from osp_core.frank_wolfe import Status
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.guarantees import Bound, margin
from osp_core.hooks import Registration, hookimpl, hookspec
from osp_core.learners import OGD, AdaptiveOGD, OnlineLearner, ParameterFree, PolyakOGD, RunSummary
from osp_core.models import FeatureModel, LinearModel, Model
from osp_core.online.comparator import Comparator, best_comparator
from osp_core.online.predictor import OnlinePredictor, run
from osp_core.online.records import Play, Round
from osp_core.online.streams import AdversarialStream, Stream
from osp_core.online.trace import Trace
from osp_core.persistence.archive import CheckpointError, read_checkpoint
from osp_core.persistence.directory import Checkpoints
from osp_core.registry.guarded import PluginWarning, guarded
from osp_core.registry.registry import (
    list_decoders,
    list_formats,
    list_learners,
    list_spaces,
    list_streams,
    list_surrogates,
    list_targets,
    load_plugins,
    make_decoder,
    make_format,
    make_learner,
    make_space,
    make_stream,
    make_surrogate,
    make_target,
    register,
    unregister,
)
from osp_core.regularizers import BinaryEntropy, GibbsEntropy, NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import Block, OutputSpace, ZeroOneSpace
from osp_core.spaces.from_lmo import space_from_lmo
from osp_core.spaces.masked import InfeasibleMaskError, Masked
from osp_core.spaces.masked import Masked as masked
from osp_core.spaces.product import Product
from osp_core.spaces.product import Product as product
from osp_core.spaces.vertices import Vertices
from osp_core.spaces.vertices import Vertices as vertices
from osp_core.surrogates.a_and_b import scale_for_gap, surrogate_gap
from osp_core.surrogates.decoders import (
    BlockwiseDecoder,
    Decoder,
    NearestDecoder,
    RandomizedDecoder,
    SamplingDecoder,
    UniformExploration,
)
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.surrogates.laws import BlockwiseLaw, DecodingLaw
from osp_core.surrogates.surrogate_gap import SurrogateGap
from osp_core.targets import (
    AffineLoss,
    absolute,
    alignment,
    decision_regret,
    hamming,
    mismatch,
    ndcg,
    table,
    zero_one,
)

if TYPE_CHECKING:
    from osp_core.sweeps import run_many

__version__ = "0.1.0"

__all__ = [
    "OGD",
    "AdaptiveOGD",
    "AdversarialStream",
    "AffineLoss",
    "BinaryEntropy",
    "Block",
    "BlockwiseDecoder",
    "BlockwiseLaw",
    "Bound",
    "CheckpointError",
    "Checkpoints",
    "Comparator",
    "ConvexCombination",
    "Decoder",
    "DecodingLaw",
    "FeatureModel",
    "FenchelYoungLoss",
    "GibbsEntropy",
    "GuaranteeError",
    "InfeasibleMaskError",
    "InvalidInputError",
    "LinearModel",
    "Masked",
    "MissingConstantError",
    "MissingDependencyError",
    "Model",
    "NearestDecoder",
    "NegativeEntropy",
    "NotAVertexError",
    "NumericalError",
    "OnlineLearner",
    "OnlinePredictor",
    "OracleError",
    "OspError",
    "OutputSpace",
    "ParameterFree",
    "Play",
    "PluginError",
    "PluginWarning",
    "PolyakOGD",
    "Prediction",
    "Predictions",
    "Product",
    "RandomizedDecoder",
    "Registration",
    "Regularizer",
    "Round",
    "RunSummary",
    "SamplingDecoder",
    "SquaredNorm",
    "Status",
    "Stream",
    "SurrogateGap",
    "Trace",
    "UniformExploration",
    "UnknownNameError",
    "UnsupportedError",
    "Vertices",
    "ZeroOneSpace",
    "absolute",
    "alignment",
    "best_comparator",
    "decision_regret",
    "frank_wolfe",
    "guarded",
    "hamming",
    "hookimpl",
    "hookspec",
    "list_decoders",
    "list_formats",
    "list_learners",
    "list_spaces",
    "list_streams",
    "list_surrogates",
    "list_targets",
    "load_plugins",
    "make_decoder",
    "make_format",
    "make_learner",
    "make_space",
    "make_stream",
    "make_surrogate",
    "make_target",
    "margin",
    "masked",
    "mismatch",
    "ndcg",
    "product",
    "read_checkpoint",
    "register",
    "run",
    "run_many",
    "scale_for_gap",
    "space_from_lmo",
    "surrogate_gap",
    "table",
    "unregister",
    "vertices",
    "zero_one",
]

# Built on the framework, and imported only when somebody asks.
_LATER = {"run_many": "osp_core.sweeps"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)
