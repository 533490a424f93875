"""Spaces of 0/1 outputs: one oracle call finds the nearest vertex."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import (
    Array,
)
from osp_core.spaces.base import OutputSpace
from osp_core.spaces.derived import derived
from osp_core.targets import AffineLoss, hamming


class ZeroOneSpace(OutputSpace):
    """A space whose outputs are 0/1 vectors: one oracle call finds the nearest vertex, [SBTO24, Prop. 5]."""

    zero_one = True
    min_entry = 0.0
    max_entry = 1.0

    def nearest_vertex(self, point: Array) -> Array:
        return nearest_zero_one(self.lmo, point, self.norm)

    @derived
    def nearest_is_exact(self) -> bool:
        return not np.isinf(self.norm)

    def least_distance(self, point: Array) -> float:
        """The distance from the nearest 0/1 vector, an output or not."""
        return float(np.linalg.norm(np.minimum(point, 1.0 - point), ord=self.norm))

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        if vector.shape != (self.dim,) or not ((vector == 0) | (vector == 1)).all():
            return False
        # Among 0/1 points, y alone minimises ⟨1 − 2y, ·⟩.
        return bool(np.array_equal(self.lmo(1.0 - 2.0 * vector), vector))

    def vertices(self) -> Array:
        """Return all outputs by trying every 0/1 point; up to dimension 12."""
        if self.dim > 12:
            return super().vertices()
        cube = np.array(list(itertools.product([0.0, 1.0], repeat=self.dim)))
        return np.array([y for y in cube if self.is_vertex(y)])

    @derived
    def nu1(self) -> float:
        """The least number of entries in which two outputs differ: 1, or 2 when all have the same mass."""
        return 2.0 if self.constant_mass else 1.0

    @derived
    def diameter1(self) -> float:
        """The greatest number of entries in which two outputs differ, never too small."""
        if self.constant_mass:
            return 2.0 * min(self.max_mass, self.dim - self.max_mass)
        return min(float(self.dim), 2.0 * self.max_mass)

    @derived
    def nu(self) -> float:
        """ν₁^(1/p): differing entries of 0/1 vectors differ by 1."""
        return float(self.nu1 ** (1.0 / self.norm))

    def diameter_in(self, p: float) -> float:
        return float(self.diameter1 ** (1.0 / p))

    @derived
    def max_square(self) -> float:
        return self.max_mass

    def target_loss(self) -> AffineLoss:
        return hamming


def nearest_zero_one(lmo: Callable[[Array], Array], point: Array, p: float) -> Array:
    """Return the 0/1 output nearest to a point of the hull in ℓp, by one oracle call, [SBTO24, Prop. 5]."""
    if p in (1.0, 2.0) or np.isinf(p):
        # ℓ∞ is a bottleneck problem: no linear cost. The ℓ2 answer is a candidate.
        return lmo(1.0 - 2.0 * point)
    inside = np.clip(point, 0.0, 1.0)
    return lmo((1.0 - inside) ** p - inside**p)
