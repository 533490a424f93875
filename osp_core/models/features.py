"""θ = Φw: features per edge, item or cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, as_count, as_rows, as_vector
from osp_core.models.base import Model, is_sparse
from osp_core.models.gradients import Gradient, VectorGradient


@dataclass(frozen=True)
class FeatureModel(Model):
    """θ = Φw with Φ of shape (d_t, n_features): features per edge, item or cell.

    C bounds the operator norm of Φ.

    The weights do not depend on the dimension of the space, so the instance may change every round.
    """

    n_features: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_features", as_count(self.n_features, "n_features"))

    def shape(self, dim: int) -> tuple[int, ...]:
        return (self.n_features,)

    def read(self, x: Any, dim: int) -> Any:
        if is_sparse(x):
            features = x.tocsr().copy()
            features.data = as_vector(features.data, None, "x")
        else:
            features = as_rows(x, self.n_features, "x").copy()  # see LinearModel
        if features.shape != (dim, self.n_features):
            raise InvalidInputError(
                f"x must be a matrix of shape {(dim, self.n_features)}, got {features.shape}."
            )
        return features

    def size(self, x: Any) -> float:
        largest = float(np.abs(x.data if is_sparse(x) else x).max(initial=0.0))
        if not 0.0 < largest < np.inf:  # zero, infinite, or no number
            return largest
        unit = x / largest  # so that no square is too large or too small
        # The singular values are those of the smaller Gram matrix.
        gram = unit.T @ unit if x.shape[0] >= x.shape[1] else unit @ unit.T
        gram = gram.toarray() if is_sparse(gram) else gram
        return largest * float(np.sqrt(np.linalg.eigvalsh(gram)[-1]))

    def scores(self, weights: Array, x: Any) -> Array:
        return np.asarray(x @ weights)

    def gradient(self, score_gradient: Array, x: Any) -> Gradient:
        if not is_sparse(x):
            return VectorGradient(x.T @ score_gradient, None, self.n_features)
        columns = np.unique(x.indices)
        values = np.zeros(len(columns))
        rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        np.add.at(values, np.searchsorted(columns, x.indices), x.data * score_gradient[rows])
        return VectorGradient(values, columns, self.n_features)
