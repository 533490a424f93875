"""NDCG as an affine loss on permutation matrices."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError
from osp_core.targets.affine import AffineLoss, always, lipschitz_constant

if TYPE_CHECKING:
    from osp_core.spaces import OutputSpace


class NormalizedGain(AffineLoss):
    """1 − DCG/IDCG for y an n×n permutation matrix (rows are items, columns positions), flattened.

    The item that the true ranking puts at position j has gain `gains[j]`; a played ranking collects
    each item's gain times the discount of the position it plays it at. That is linear in the played matrix.

    Parameters
    ----------
    gains : array of shape (n,), optional
        Non-increasing and non-negative; n, n−1, …, 1 when not given.
    discounts : array of shape (n,), optional
        Non-increasing and non-negative; 1/log₂(2 + position) when not given.
    """

    def __init__(self, gains: ArrayLike | None = None, discounts: ArrayLike | None = None) -> None:
        super().__init__(self._cost, functools.partial(always, 1.0), name="ndcg")
        self.gains = None if gains is None else _non_increasing(gains, "gains")
        self.discounts = None if discounts is None else _non_increasing(discounts, "discounts")

    def _weights(self, dim: int) -> tuple[int, Array, Array]:
        n = math.isqrt(dim)
        if n * n != dim:
            raise InvalidInputError(f"ndcg needs n×n permutation matrices, got vectors of length {dim}.")
        gains = np.arange(n, 0, -1.0) if self.gains is None else self.gains
        discounts = 1.0 / np.log2(2.0 + np.arange(n)) if self.discounts is None else self.discounts
        if len(gains) != n or len(discounts) != n:
            raise InvalidInputError(f"ndcg over {n} items needs {n} gains and {n} discounts.")
        return n, gains, discounts

    def _cost(self, y: Array) -> Array:
        n, gains, discounts = self._weights(y.size)
        item_gains = y.reshape(n, n) @ gains
        return -np.outer(item_gains, discounts).ravel() / float(gains @ discounts)

    def holds_by_form(self, space: OutputSpace) -> bool:
        self._weights(space.dim)  # refuses outputs that are no n×n matrices
        return False

    def gamma(self, space: OutputSpace) -> float:
        # Another true ranking only permutes the rows of the cost, and so leaves every norm used alone.
        n, _, _ = self._weights(space.dim)
        return lipschitz_constant(space, self._cost(np.eye(n).ravel()))


ndcg = NormalizedGain()
"""1 − NDCG with linear gains and logarithmic discounts, on Birkhoff outputs."""


def _non_increasing(values: ArrayLike, name: str) -> Array:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or not np.isfinite(vector).all() or (vector < 0).any() or (np.diff(vector) > 0).any():
        raise InvalidInputError(f"{name} must be a vector of finite, non-negative, non-increasing numbers.")
    if not vector.any():
        raise InvalidInputError(f"{name} must not all be zero.")
    return vector
