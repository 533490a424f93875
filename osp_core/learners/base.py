"""What a learner owes: weights, an update, its state, and the bounds that hold for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from osp_core.errors import Array
from osp_core.guarantees import Bound
from osp_core.learners.states import count
from osp_core.learners.weights import LazyWeights
from osp_core.models import Gradient, Model
from osp_core.surrogates.surrogate_gap import SurrogateGap


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
    """An online convex optimiser over the weights of a model, starting at W₁ = 0.

    The weights are `multiplier` times a `LazyWeights` array. In `update`, a subclass calls `_begin_round`, so
    that W_t enters the average, and then moves the array.
    """

    _array: LazyWeights
    rounds: int = 0
    bounded: bool = False
    """Whether the learner projects on a ball, for which the norm of the array must be tracked."""
    made_with: tuple[str, dict[str, Any]] | None = None
    """The name and parameters given to `make_learner`, where the learner was made so."""

    def start(self, shape: tuple[int, ...], *, certificate: SurrogateGap | None = None) -> None:
        """Begin anew with zero weights; `gap` has the constants that default steps are made of."""
        self._array = LazyWeights(shape, track_norm=self.bounded)
        self.rounds = 0

    @property
    def multiplier(self) -> float:
        """The number the array is multiplied with to give W_t."""
        return 1.0

    @property
    def weights(self) -> Array:
        """W_t, the weights of the coming round, read-only."""
        factor, dense = self.multiplier, self._array.dense()
        view = dense.view() if factor == 1.0 else factor * dense
        view.flags.writeable = False
        return view

    def scores(self, model: Model, x: Any) -> Array:
        """θ = the scores of W_t for a read input, without writing W_t out."""
        factor = self.multiplier * self._array.factor
        scores = model.scores(self._array.core, x)
        return scores if factor == 1.0 else factor * scores

    @property
    def average_weights(self) -> Array:
        """W̄ = (W₁ + … + W_T)/T over the T rounds learned from, [SBTO24, Thm 11]."""
        return self._array.total() / max(1, self.rounds)

    def admit(  # noqa: B027 — most learners take every gradient
        self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None
    ) -> None:
        """Raise an error where `update` with these arguments would, without changing anything."""

    @abstractmethod
    def update(
        self, gradient: Gradient, *, loss: float | None = None, expected_loss: float | None = None
    ) -> None:
        """Move from W_t to W_{t+1}, given ∇S_t(W_t), S_t(W_t) and E_t L_t."""

    def bound(self, certificate: SurrogateGap, run: RunSummary, norm_U: float) -> Bound | None:
        """The bound on Σ E L − ΣS(U) that holds for what ran; None where no theorem is known."""
        return None

    def high_probability_bound(
        self, certificate: SurrogateGap, run: RunSummary, norm_U: float, delta: float
    ) -> Bound | None:
        """The bound on ΣL − ΣS(U) that holds with probability 1 − delta; None where no theorem is known."""
        return None

    def online_to_batch_bound(
        self, certificate: SurrogateGap, run: RunSummary, norm_U: float
    ) -> Bound | None:
        """The bound on the risk of W̄ over that of U; None where no theorem is known."""
        return None

    def nonstationary_bound(
        self, certificate: SurrogateGap, run: RunSummary, norm_U: float, path_length: float
    ) -> Bound | None:
        """The bound on Σ E L − ΣS_t(U_t) for comparators that move; None where no theorem is known."""
        return None

    def state(self) -> dict[str, Any]:
        """Everything that later rounds depend on, as arrays and numbers."""
        return {**self._array.state(), "rounds": self.rounds}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` returned; refuse, with nothing changed, what it cannot have returned.

        A subclass looks at all its own entries before it calls this.
        """
        rounds = count(state, "rounds")
        self._array.load_state(state)
        self.rounds = rounds

    def _begin_round(self) -> None:
        """Count the round, and let W_t enter the average."""
        self._array.accumulate(self.multiplier)
        self.rounds += 1
