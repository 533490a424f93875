"""The weights of the ranks, as people give them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, as_count, as_vector
from osp_core.spaces.label_names import MOST_COORDINATES


def descending_weights(d: int | None, weights: ArrayLike | None) -> Array:
    """Return the weights from high to low: those given, or d, …, 1."""
    if (d is None) == (weights is None):
        raise InvalidInputError(
            "permutahedron takes either d, the number of items (or items), or weights, the ranks' values."
        )
    if weights is None:
        return np.arange(as_count(d, "d", most=MOST_COORDINATES), 0, -1.0)  # type: ignore[arg-type]
    vector = as_vector(weights, None, "weights")
    as_count(vector.size, "the number of weights")
    return np.sort(vector + 0.0)[::-1].copy()  # + 0.0: no −0.0 among the entries of vertices
