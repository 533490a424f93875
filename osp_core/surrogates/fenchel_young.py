"""Fenchel–Young losses: the surrogate that the learner descends, [SBTO24, Def. 2]."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, as_positive, as_rows, as_vector
from osp_core.geometry.predictions import Prediction
from osp_core.spaces import OutputSpace


class FenchelYoungLoss:
    """scale·S(θ; y) with S(θ; y) = Ω*(θ) + Ω(y) − ⟨θ, y⟩ and Ω = Ψ on conv(Y).

    The gradient is the residual scale·(ŷ(θ) − y), [SBTO24, Prop. 3]. Value and gradient share ŷ.

    Parameters
    ----------
    space : OutputSpace
        Y and Ψ.
    scale : float
        A positive factor; 1/ln 2 on the simplex gives the base-2 logistic loss.
    """

    def __init__(self, space: OutputSpace, scale: float = 1.0) -> None:
        if not isinstance(space, OutputSpace):
            raise InvalidInputError(f"A Fenchel–Young loss needs a space, got {space!r}.")
        self.space = space
        self.scale = as_positive(scale, "scale of the loss")

    def __repr__(self) -> str:
        return f"FenchelYoungLoss({self.space!r}, {self.space.psi!r}, scale={self.scale:.6g})"

    def value(self, theta: ArrayLike, y: Any) -> float:
        """Return scale·S(θ; y)."""
        return self.value_and_gradient(theta, y)[0]

    def gradient(self, theta: ArrayLike, y: Any) -> Array:
        """Return scale·(ŷ(θ) − y)."""
        return self.value_and_gradient(theta, y)[1]

    def value_and_gradient(self, theta: ArrayLike, y: Any) -> tuple[float, Array]:
        """Return the loss and its gradient in θ from one prediction; y is a vertex or a label."""
        scores = as_vector(theta, self.space.dim, "theta")
        vertex = self.space.as_vertex(y)
        return self.at(scores, self.space.predict(scores), vertex)

    def at(self, theta: Array, prediction: Prediction, y: Array) -> tuple[float, Array]:
        """Return the loss and its gradient when ŷ is known already.

        With an inexact ŷ of gap g the value is a lower bound of the loss, by at most scale·g, and the
        gradient the slope of an affine minorant: what the corrected theorems need.
        """
        value = self.space.psi.loss(self.space, theta, y, prediction)
        return self.scale * float(value), self.scale * (prediction.point - y)

    def values_and_gradients(self, thetas: ArrayLike, ys: Array) -> tuple[Array, Array]:
        """Return one loss and one gradient a row; every row of `ys` is a vertex."""
        scores = as_rows(thetas, self.space.dim, "thetas")
        predictions = self.space.predict_many(scores)
        values = self.space.psi.loss(self.space, scores, ys, predictions)
        return self.scale * np.asarray(values), self.scale * (predictions.point - ys)
