"""The comparator U of the regret: the one that makes the right-hand side of the bound smallest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_core.guarantees import Bound
from osp_core.models import LinearModel, Model
from osp_core.spaces import OutputSpace
from osp_core.surrogates.surrogate_gap import SurrogateGap


@dataclass(frozen=True, eq=False)
class Comparator:
    """Offline weights U with Σ S_t(U), and the bound on the regret against them.

    Any U is valid; this one approximately minimises ΣS_t(U) + coefficient·‖U‖².
    """

    weights: Array
    surrogate_loss: float
    bound: Bound

    @property
    def right_hand_side(self) -> float:
        """ΣS_t(U) + bound: what Σ E_t L_t is promised to stay below."""
        return self.surrogate_loss + self.bound.value


def best_comparator(
    space: OutputSpace,
    X: Any,
    Y: Sequence[Any],
    certificate: SurrogateGap,
    *,
    model: Model | None = None,
    time_limit: float | None = None,
    max_iter: int = 500,
) -> Comparator:
    """Minimise ΣS_t(U) + (coefficient of ‖U‖² in the bound)·‖U‖² over U by L-BFGS.

    Parameters
    ----------
    space : OutputSpace
    X, Y
        The stream: inputs as the model takes them, outputs as vertices or labels.
    certificate : SurrogateGap
        Whose Thm 7 bound is minimised.
    model : Model, optional
        LinearModel by default.
    time_limit : float, optional
        Stop after this many seconds with the best U so far.
    max_iter : int
        Iterations of L-BFGS.
    """
    from scipy.optimize import minimize

    if len(Y) == 0 or _rows(X) != len(Y):
        raise InvalidInputError(
            f"X and Y must be as long as each other and not empty; got {_rows(X)} and {len(Y)}."
        )
    truths = np.array([space.as_vertex(y) for y in Y])
    chosen: Model = (
        model if model is not None else LinearModel(X.shape[1] if hasattr(X, "shape") else len(X[0]))
    )
    objective = (
        _batched(space, X, truths, certificate)
        if isinstance(chosen, LinearModel)
        else _looped(X, truths, certificate, chosen)
    )
    shape, ridge = chosen.shape(space.dim), certificate.coefficient
    best: tuple[float, Array] = (np.inf, np.zeros(shape))
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit

    def regularised(flat: Array) -> tuple[float, Array]:
        nonlocal best
        U = flat.reshape(shape)
        value, gradient = objective(U)
        total = value + ridge * float(flat @ flat)
        if total < best[0]:
            best = (total, U.copy())
        return total, (gradient + 2.0 * ridge * U).ravel()

    def out_of_time(intermediate_result: Any) -> None:
        if time.monotonic() > deadline:
            raise StopIteration

    minimize(
        regularised,
        np.zeros(shape).ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=out_of_time,
        options={"maxiter": max_iter, "ftol": 1e-12, "gtol": 1e-8},
    )
    U = best[1]
    surrogate, _ = objective(U)
    return Comparator(U, surrogate, certificate.expected_bound(float(np.linalg.norm(U))))


def _batched(space: OutputSpace, X: Any, truths: Array, certificate: SurrogateGap) -> Any:
    inputs = X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)

    def objective(U: Array) -> tuple[float, Array]:
        values, gradients = certificate.loss.values_and_gradients(np.asarray(inputs @ U.T), truths)
        return float(values.sum()), np.asarray((inputs.T @ gradients).T)

    return objective


def _looped(X: Any, truths: Array, certificate: SurrogateGap, model: Model) -> Any:
    dim = certificate.space.dim
    inputs = [model.read(x, dim) for x in X]

    def objective(U: Array) -> tuple[float, Array]:
        total, gradient = 0.0, np.zeros_like(U)
        for x, y in zip(inputs, truths, strict=True):
            value, residual = certificate.loss.value_and_gradient(model.scores(U, x), y)
            model.gradient(residual, x).add_to(gradient, 1.0)
            total += value
        return total, gradient

    return objective


def _rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
