"""PyEPO's SPO+ as an online baseline of the two examples, where PyEPO and torch are installed."""

from __future__ import annotations

import importlib.util

import numpy as np

MISSING = [name for name in ("torch", "pyepo") if importlib.util.find_spec(name) is None]
REASON = f"not compared with PyEPO: {' and '.join(MISSING)} not installed" if MISSING else ""


class SpoPlus:
    """One gradient step on the SPO+ loss a round, for costs linear in the features, with our oracle."""

    def __init__(self, n_features, step_size=0.1):
        import torch

        self.weights = torch.zeros(n_features, dtype=torch.float64, requires_grad=True)
        self.optimizer = torch.optim.SGD([self.weights], lr=step_size)
        self._losses = {}

    def play(self, space, features):
        return space.lmo(features @ self.weights.detach().numpy())

    def learn(self, space, features, costs):
        import torch

        best = space.lmo(costs)
        predicted = torch.from_numpy(features) @ self.weights
        loss = self._loss(space)(
            predicted.reshape(1, -1),
            torch.from_numpy(costs).reshape(1, -1),
            torch.from_numpy(best).reshape(1, -1),
            torch.tensor([[float(costs @ best)]], dtype=torch.float64),
        )
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def _loss(self, space):
        if id(space) not in self._losses:
            from pyepo.func import SPOPlus

            self._losses[id(space)] = SPOPlus(_model_class()(space))
        return self._losses[id(space)]


def _model_class():
    from pyepo import EPO
    from pyepo.model.opt import optModel

    class OracleModel(optModel):
        """A PyEPO model whose solver is the linear oracle of a space."""

        def __init__(self, space):
            self.space, self.cost = space, np.zeros(space.dim)
            super().__init__()
            self.modelSense = EPO.MINIMIZE

        def _getModel(self):
            return None, list(range(self.space.dim))

        def setObj(self, c):
            self.cost = np.asarray(c, dtype=np.float64).reshape(-1)

        def solve(self):
            solution = self.space.lmo(self.cost)
            return solution, float(self.cost @ solution)

    return OracleModel
