"""The kinds of things that plugins offer, and how a factory is found that a registration only names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

HOOK_OF = {
    "space": "osp_spaces",
    "learner": "osp_learners",
    "stream": "osp_streams",
    "decoder": "osp_decoders",
    "target": "osp_targets",
    "surrogate": "osp_surrogates",
    "format": "osp_formats",
}
# By name, because streams and tables of data are built on the registry.
MADE = {
    "space": "osp_core.spaces.base:OutputSpace",
    "learner": "osp_core.learners.base:OnlineLearner",
    "stream": "osp_core.online.streams:Stream",
    "decoder": "osp_core.surrogates.decoders.base:Decoder",
    "target": "osp_core.targets.affine:AffineLoss",
    "surrogate": "osp_core.surrogates.fenchel_young:FenchelYoungLoss",
    "format": "osp_core.runs.tables:Table",
}


def resolve(factory: str | Callable[..., Any]) -> Any:
    """Return a factory that may be named as "module:object"."""
    if callable(factory):
        return factory
    module, _, attribute = factory.partition(":")
    resolved = getattr(importlib.import_module(module), attribute)
    if not callable(resolved):
        raise TypeError(f"{factory!r} is not callable")
    return resolved


def loaded(factory: str | Callable[..., Any]) -> Any:
    """The same, but None where nobody has imported its module yet: nothing of it can be in use."""
    if callable(factory):
        return factory
    module, _, attribute = factory.partition(":")
    return getattr(sys.modules.get(module), attribute, None)
