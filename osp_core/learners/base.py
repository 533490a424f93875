"""What a learner owes: weights, an update, its state, and the bound that holds for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.guarantees import Bound, SurrogateGap
from osp_core.models import Gradient


@dataclass(frozen=True)
class RunSummary:
    """What a learner must know of a run to state its bound.

    Attributes
    ----------
    rounds : int
        Rounds that were learned from.
    delay : int
        The greatest number of rounds that feedback was late, or of plays that waited for it.
    total_gap : float
        Σ of the certified gaps of the predictions, on the scale of the loss.
    certified : bool
        Whether the law of every round was certified.
    """

    rounds: int
    delay: int = 0
    total_gap: float = 0.0
    certified: bool = True


class OnlineLearner(ABC):
    """An online convex optimiser over the weights of a model, starting at W₁ = 0."""

    _weights: Array
    _drift: Array
    rounds: int = 0

    def start(self, shape: tuple[int, ...], *, gap: SurrogateGap | None = None) -> None:
        """Begin anew with zero weights; `gap` has the constants that default steps are made of."""
        self._weights = np.zeros(shape)
        self._drift = np.zeros(shape)
        self.rounds = 0

    @property
    def weights(self) -> Array:
        """W_t, the weights of the coming round. Read-only: a view that cannot be written to."""
        view = self._weights.view()
        view.flags.writeable = False
        return view

    @property
    def average_weights(self) -> Array:
        """W̄ = (W₁ + … + W_T)/T over the T rounds learned from, [SBTO24, Thm 11]."""
        if self.rounds == 0:
            return self._weights.copy()
        return np.asarray(self._weights - self._drift / self.rounds)

    @abstractmethod
    def update(self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None) -> None:
        """Move from W_t to W_{t+1}, given ∇S_t(W_t), S_t(W_t) and E_t L_t."""

    def bound(self, gap: SurrogateGap, run: RunSummary, norm_U: float) -> Bound | None:
        """The bound on Σ E L − ΣS(U) that holds for what ran; None where no theorem is known."""
        return None

    def state(self) -> dict[str, Any]:
        """Everything that later rounds depend on, as arrays and numbers."""
        return {"weights": self._weights.copy(), "drift": self._drift.copy(), "rounds": self.rounds}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` returned."""
        weights, drift = np.array(state["weights"], dtype=np.float64), np.array(state["drift"], dtype=np.float64)
        if weights.shape != self._weights.shape or drift.shape != weights.shape:
            raise InvalidInputError(
                f"The state has weights of shape {weights.shape}; this learner was started with {self._weights.shape}."
            )
        self._weights, self._drift, self.rounds = weights, drift, int(state["rounds"])

    def _move(self, gradient: Gradient, factor: float) -> None:
        """W += factor·gradient, keeping Σ t·ΔW_t, from which W̄ follows without touching idle columns."""
        gradient.add_to(self._weights, factor)
        gradient.add_to(self._drift, self.rounds * factor)

    def _shrink_to_ball(self, radius: float) -> None:
        """Project W on the Frobenius ball of this radius."""
        norm = float(np.linalg.norm(self._weights))
        if norm > radius:
            change = (radius / norm - 1.0) * self._weights
            self._weights += change
            self._drift += self.rounds * change
