"""Which predictors play compiled rounds: those whose parts are exactly what these rounds stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core import targets
from osp_core.compiled.parts import SpaceParts
from osp_core.learners.rule_learner import RuleLearner
from osp_core.models import LinearModel
from osp_core.spaces import OutputSpace
from osp_core.surrogates.decoders import BlockwiseDecoder, Decoder, RandomizedDecoder
from osp_core.surrogates.fenchel_young import FenchelYoungLoss

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor

TARGETS = {kind for kind in vars(targets).values() if isinstance(kind, type)}
"""Our own targets, which tell the same of a label every time: labels are remembered, and revealed ahead."""


def parts_for(predictor: OnlinePredictor) -> SpaceParts | None:
    """Return the functions of a predictor's space where compiled rounds do what its parts do; else None.

    A compiled round stands for methods of all of them, and would pass over one that is overridden. So classes
    are compared exactly. A space declares its compiled form by `compiled_parts`, a learner by `rule`, in the
    very class of the object: who inherits from such a class declares anew, or plays plain rounds.
    """
    space, learner, decoder = predictor.space, predictor.learner, predictor.decoder
    exact = (
        "compiled_parts" in vars(type(space))
        and _keeps_to_its_rule(learner)
        and type(predictor.model) is LinearModel
        and type(predictor.loss) is FenchelYoungLoss
        and type(predictor.target) in TARGETS
    )
    used = (space, learner, decoder, predictor.loss, predictor.target)
    if not exact or predictor.verify or not all(map(_has_the_methods_of_its_class, used)):
        return None
    return space.compiled_parts() if _is_fit(decoder, space) else None


def _keeps_to_its_rule(learner: Any) -> bool:
    """Whether the rule that the learner's class declares is all there is to its updates."""
    kind = type(learner)
    replaced = ("update", "scores", "multiplier")
    return (
        isinstance(learner, RuleLearner)
        and "rule" in vars(kind)
        and all(getattr(kind, name) is getattr(RuleLearner, name) for name in replaced)
    )


def _has_the_methods_of_its_class(thing: Any) -> bool:
    return not any(callable(getattr(type(thing), name, None)) for name in vars(thing))


def _is_fit(decoder: Decoder, space: OutputSpace) -> bool:
    """Whether the laws of a decoder are those of compiled rounds, and certified."""
    if type(decoder) is RandomizedDecoder:
        return decoder.nu is not None and space.nearest_is_exact
    if type(decoder) is not BlockwiseDecoder or len(decoder.blocks) != 1:
        return False
    block = decoder.blocks[0]
    every = np.arange(space.dim)[:, np.newaxis]
    return (
        np.array_equal(block.coordinates, every)
        and block.space.zero_one
        and block.space.nearest_is_exact
        and RandomizedDecoder(block.space).nu is not None
    )
