"""Batches: one answer for every row, in a loop. A space overrides what it can do for all rows at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, as_rows
from osp_core.geometry.predictions import Predictions

if TYPE_CHECKING:
    from osp_core.spaces.base import OutputSpace


def lmo_many(self: OutputSpace, costs: ArrayLike) -> Array:
    """Return `lmo` of every row."""
    return _rows(self, self.lmo, as_rows(costs, self.dim, "costs"))


def nearest_vertex_many(self: OutputSpace, points: ArrayLike) -> Array:
    """Return `nearest_vertex` of every row."""
    return _rows(self, self.nearest_vertex, as_rows(points, self.dim, "points"))


def sample_many(self: OutputSpace, points: ArrayLike, rng: np.random.Generator) -> Array:
    """Return one random vertex for every row, independently, each with the row as its mean."""
    return _rows(self, lambda point: self.sample_vertex(point, rng), as_rows(points, self.dim, "points"))


def predict_many(self: OutputSpace, thetas: ArrayLike) -> Predictions:
    """Return `predict` of every row."""
    return self.psi.predict_many(self, as_rows(thetas, self.dim, "thetas"))


def project_many(self: OutputSpace, points: ArrayLike) -> Predictions:
    """Return `project` of every row."""
    return Predictions.gather(map(self.project, as_rows(points, self.dim, "points")), self.dim)


def kl_project_many(self: OutputSpace, log_weights: ArrayLike) -> Predictions:
    """Return `kl_project` of every row."""
    return Predictions.gather(map(self.kl_project, as_rows(log_weights, self.dim, "log_weights")), self.dim)


def binary_kl_project_many(self: OutputSpace, log_odds: ArrayLike) -> Predictions:
    """Return `binary_kl_project` of every row."""
    return Predictions.gather(map(self.binary_kl_project, as_rows(log_odds, self.dim, "log_odds")), self.dim)


def _rows(space: OutputSpace, function: Callable[[Array], Array], rows: Array) -> Array:
    return np.array([function(row) for row in rows]).reshape(len(rows), space.dim)
