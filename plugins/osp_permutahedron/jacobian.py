"""The derivative of the Euclidean projection, from the blocks that were pooled."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array

TIGHT = 1e-9


def projection_product(points: Array, weights: Array, directions: Array) -> Array:
    """The derivative at every projection in `points`, times the same row of `directions`."""
    rows = zip(points, directions, strict=True)
    return np.array([_centred_in_blocks(y, weights, v) for y, v in rows]).reshape(directions.shape)


def _centred_in_blocks(y: Array, weights: Array, direction: Array) -> Array:
    """Subtract the mean of every block between tight partial sums; `weights` are from high to low."""
    order = np.argsort(-y, kind="stable")
    excess = np.abs(np.cumsum(y[order] - weights))
    ends = excess <= TIGHT * (1.0 + float(np.abs(weights).max()) * len(weights))
    blocks = np.concatenate([[0], np.cumsum(ends[:-1])])
    means = np.bincount(blocks, direction[order]) / np.bincount(blocks)
    centred = np.empty_like(direction)
    centred[order] = direction[order] - means[blocks]
    return centred
