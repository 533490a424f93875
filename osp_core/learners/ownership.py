"""Which learners serve a predictor: each serves one, from its start on."""

from __future__ import annotations

import weakref

from osp_core.errors import InvalidInputError
from osp_core.learners.base import OnlineLearner

# Kept here and not in the learner, so that copies of a learner, however they are made, are free. By identity:
# learners need not be hashable.
_SERVING: weakref.WeakValueDictionary[int, OnlineLearner] = weakref.WeakValueDictionary()


def require_free(learner: OnlineLearner) -> None:
    """Refuse a learner that serves a predictor: to start it again would take that one's weights away."""
    if _SERVING.get(id(learner)) is learner:
        raise InvalidInputError(
            f"{learner!r} already serves another predictor. Give each predictor a learner of its own, or "
            "copy.deepcopy(learner), which begins anew."
        )


def enter_service(learner: OnlineLearner) -> None:
    """Let a free learner serve a predictor."""
    require_free(learner)
    _SERVING[id(learner)] = learner


def leave_service(learner: OnlineLearner) -> None:
    """Free a learner whose predictor came to nothing."""
    _SERVING.pop(id(learner), None)
