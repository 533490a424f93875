"""The two separable entropies: their values, slopes and curvatures, and where they are defined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from osp_core.errors import Array


@dataclass(frozen=True)
class Entropy:
    """Σ yᵢ ln yᵢ, with Σ (1 − yᵢ) ln(1 − yᵢ) on top where `binary`."""

    binary: bool

    @property
    def high(self) -> float:
        """The upper end of the domain; the lower one is 0."""
        return 1.0 if self.binary else np.inf

    def slope(self, y: Array, rest: Array) -> Array:
        """The derivative at y; `rest` is 1 − y, computed without the loss of its small values."""
        return np.log(y) - np.log(rest) if self.binary else np.log(y) + 1.0

    def curvature(self, y: Array, rest: Array) -> Array:
        return 1.0 / y + (1.0 / rest if self.binary else 0.0)

    def value(self, y: Array, rest: Array) -> float:
        total = float((y * np.log(y)).sum())
        return total + float((rest * np.log(rest)).sum()) if self.binary else total


NEGATIVE, BINARY = Entropy(binary=False), Entropy(binary=True)
SMALLEST = 1e-300
"""Entries are not taken to be smaller than this, so that logarithms stay finite."""
