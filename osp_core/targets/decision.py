"""Decision regret: the feedback is a cost vector, the loss what the played decision costs too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core.errors import Array, GuaranteeError, MissingConstantError, as_vector
from osp_core.targets.affine import AffineLoss, RoundLoss, lipschitz_constant

if TYPE_CHECKING:
    from osp_core.spaces import OutputSpace


class DecisionRegret(AffineLoss):
    """L = ⟨c_t, y′ − y_t⟩ where the round reveals the costs c_t and y_t = lmo(c_t) is best in hindsight.

    Parameters
    ----------
    space : OutputSpace
        Whose oracle decides.
    gamma : float, optional
        A bound of the Lipschitz constant of every round's loss in the norm of the space (in ℓ2: of
        ‖P c_t‖ with P the projector on span(Y − Y)). Every round is checked against it. Without it the
        learner runs, but no bound can be stated.
    """

    def __init__(self, space: OutputSpace, *, gamma: float | None = None) -> None:
        super().__init__(np.asarray, self._best_cost, gamma=gamma, name="decision_regret")
        self.space = space

    def _best_cost(self, cost: Array) -> float:
        return -float(cost @ self.space.lmo(cost))

    def reveal(self, space: OutputSpace, feedback: Any) -> tuple[Array, RoundLoss]:
        cost = as_vector(feedback, space.dim, "The cost vector of the round")
        if self._gamma is not None:
            steepness = lipschitz_constant(space, cost)
            if steepness > self._gamma * (1 + 1e-12):
                raise GuaranteeError(
                    f"A round's costs have Lipschitz constant {steepness:.6g}, above the stated gamma = "
                    f"{self._gamma:.6g}. Give a larger gamma, or scale the costs down."
                )
        y = space.lmo(cost)
        return y, RoundLoss(cost.copy(), -float(cost @ y), self.name)

    def holds_by_form(self, space: OutputSpace) -> bool:
        """No output is cheaper than y_t, which the oracle of the space chose."""
        return type(self) is DecisionRegret

    def gamma(self, space: OutputSpace) -> float:
        if self._gamma is None:
            raise MissingConstantError(
                "decision_regret does not know how large costs can be; give decision_regret(space, gamma=…)."
            )
        return self._gamma


decision_regret = DecisionRegret
