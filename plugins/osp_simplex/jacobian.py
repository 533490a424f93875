"""The derivatives of the softmax and of the sparsemax, in closed form; rows of `y` are predictions."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array


def softmax_product(y: Array, directions: Array) -> Array:
    """(diag(y) − yyᵀ)v."""
    return np.asarray(y * (directions - (y * directions).sum(axis=1, keepdims=True)))


def sparsemax_product(y: Array, directions: Array) -> Array:
    """v less its mean on the support of y, and 0 elsewhere."""
    support = y > 0
    means = (directions * support).sum(axis=1, keepdims=True) / support.sum(axis=1, keepdims=True)
    return np.asarray(np.where(support, directions - means, 0.0))
