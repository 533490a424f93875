"""Convex combinations of vertices: what the decoder samples from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError


@dataclass(frozen=True, eq=False)
class ConvexCombination:
    """A point written as a weighted mean of vertices.

    Attributes
    ----------
    atoms : array or scipy.sparse matrix of shape (k, d)
        The vertices, one a row, in the most compact form at hand.
    weights : array of shape (k,)
        Non-negative, summing to 1.
    """

    atoms: Any
    weights: Array

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if (
            weights.ndim != 1
            or self.atoms.ndim != 2
            or self.atoms.shape[0] != weights.size
            or not weights.size
        ):
            raise InvalidInputError(
                "A convex combination needs at least one vertex and one weight per vertex; got vertices of "
                f"shape {self.atoms.shape} and weights of shape {weights.shape}."
            )
        total = weights.sum()
        if not (weights.min() >= 0 and abs(total - 1.0) <= 1e-9):
            raise InvalidInputError(
                f"Weights must be non-negative and sum to 1; the least is {weights.min()}, the sum {total}."
            )
        object.__setattr__(self, "weights", weights / total)

    def __len__(self) -> int:
        return int(self.weights.size)

    @cached_property
    def vertices(self) -> Array:
        """The vertices as a dense (k, d) array."""
        dense = self.atoms if isinstance(self.atoms, np.ndarray) else self.atoms.toarray()
        return np.asarray(dense, dtype=np.float64)

    @cached_property
    def mean(self) -> Array:
        """Σ wᵢ vᵢ, recomputed from the atoms."""
        return np.asarray(self.weights @ self.atoms, dtype=np.float64)

    @cached_property
    def _thresholds(self) -> Array:
        thresholds = np.cumsum(self.weights)
        thresholds[-1] = 1.0  # rounding must not leave a sliver of [0, 1) without a vertex
        return thresholds

    def sample(self, rng: np.random.Generator) -> Array:
        """Draw one vertex with probability equal to its weight, so that E = mean."""
        index = int(np.searchsorted(self._thresholds, rng.random(), side="right"))
        return self.vertex(index)

    def vertex(self, index: int) -> Array:
        """One vertex as a fresh dense vector."""
        row = self.atoms[[index]]
        dense = row if isinstance(row, np.ndarray) else row.toarray()
        return np.asarray(dense, dtype=np.float64).reshape(-1).copy()
