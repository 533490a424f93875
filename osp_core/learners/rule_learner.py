"""Learners that add a multiple of the gradient and may project on a ball: all of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.learners.base import OnlineLearner
from osp_core.learners.step_sizes import Rule
from osp_core.models import Gradient


class RuleLearner(OnlineLearner):
    """W ← projection of W + amount·∇S, where a scalar rule finds the amount.

    Such a learner is run by the compiled rounds too: they call the same rule on the same numbers. The class
    that declares the `rule` says so for itself alone: one that inherits it runs step by step.
    """

    rule: Rule
    _numbers: Array
    """What the rule remembers; see its functions for the meaning of the entries."""

    @property
    def ball(self) -> float:
        """The radius of the ball the array is kept in; infinite where there is none."""
        return math.inf

    @property
    def multiplier(self) -> float:
        return self.rule.multiplier(self._numbers)

    def update(
        self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None
    ) -> None:
        self.admit(gradient, loss=loss, expected_loss=expected_loss)
        self._begin_round()
        array = self._array
        inner = gradient.inner(array.core) if self.bounded else 0.0
        amount = self.rule.amount(
            self._numbers,
            gradient.squared_norm,
            array.factor * inner,
            np.nan if loss is None else loss,
            np.nan if expected_loss is None else expected_loss,
        )
        array.add(gradient, amount, inner)
        if self.bounded:
            array.shrink_to(self.ball)

    def load_state(self, state: Mapping[str, Any]) -> None:
        numbers = self._read_numbers(state)
        super().load_state(state)
        self._numbers = np.array(numbers)

    def _read_numbers(self, state: Mapping[str, Any]) -> list[float]:
        """What the rule remembers in a state; an error where no run could have led to it."""
        return list(self._numbers)
