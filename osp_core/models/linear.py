"""θ = Wx."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, as_count, as_vector
from osp_core.models.base import Model, is_sparse
from osp_core.models.gradients import Gradient, OuterGradient


@dataclass(frozen=True)
class LinearModel(Model):
    """θ = Wx with W of shape (d, n_features); x is a vector or a scipy.sparse row, and C bounds ‖x‖₂."""

    n_features: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_features", as_count(self.n_features, "n_features"))

    def shape(self, dim: int) -> tuple[int, ...]:
        return (dim, self.n_features)

    def read(self, x: Any, dim: int) -> tuple[Array, Any]:
        if not is_sparse(x):
            # A copy: feedback may come late, and the caller may have reused the buffer by then.
            return as_vector(x, self.n_features, "x").copy(), None
        row = x.tocsr() if x.ndim == 2 else x.tocoo().reshape((1, -1)).tocsr()
        if row.shape != (1, self.n_features):
            raise InvalidInputError(f"x must be one row of {self.n_features} features, got shape {x.shape}.")
        if not row.has_canonical_format:
            row = row.copy()
            row.sum_duplicates()
        return as_vector(row.data, None, "x").copy(), row.indices.copy()

    def size(self, x: tuple[Array, Any]) -> float:
        return float(np.sqrt(x[0] @ x[0]))

    def scores(self, weights: Array, x: tuple[Array, Any]) -> Array:
        values, columns = x
        return np.asarray(weights @ values if columns is None else weights[:, columns] @ values)

    def gradient(self, score_gradient: Array, x: tuple[Array, Any]) -> Gradient:
        return OuterGradient(score_gradient, x[0], x[1], self.n_features)
