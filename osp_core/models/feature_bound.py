"""Inputs held to the feature bound C, up to the rounding of the format they come in.

Vectors that were normalised in float32 are often longer than 1 by a few of its last digits. They are not
refused, but shortened to norm C in float64: what is learned from then obeys ‖x_t‖ ≤ C, the premise of every
bound, and differs from what was given by less than its format can tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from osp_core.errors import FLOAT64, InvalidInputError
from osp_core.models.base import Model, is_sparse

ROOM = 1e-9  # relative; what computing a norm in float64 may add to it
UNITS = 8.0  # in the last place: what normalising in a shorter format may


def read_within(model: Model, x: Any, dim: int, bound: float) -> Any:
    """Read an input of norm at most `bound`; shorten one that only rounding made longer, refuse others."""
    read = model.read(x, dim)
    size = model.size(read)
    if size <= bound * (1 + ROOM):
        return read
    if not size <= bound * (1 + _rounding(x.dtype if is_sparse(x) else np.asarray(x).dtype)):
        raise InvalidInputError(
            f"x has norm {size:.10g}, above the feature bound {bound:.10g}. Scale the inputs, or state a "
            "larger feature_bound=… when the predictor is made."
        )
    full = x.astype(np.float64) if is_sparse(x) else np.asarray(x, dtype=np.float64)
    return model.read(full * (bound / size), dim)


def rows_within(X: Any, bound: float) -> Any:
    """Shorten the rows of a matrix that only rounding made longer than `bound`; leave the others alone.

    None for a matrix with masked entries, which are no numbers.
    """
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        return None
    dtype = getattr(X, "dtype", FLOAT64)
    if getattr(X, "ndim", 0) != 2 or _rounding(dtype) <= ROOM or getattr(X, "format", "csr") != "csr":
        return X
    full = X.astype(np.float64)
    squares = full.multiply(full) if is_sparse(full) else full * full
    for i in np.flatnonzero(np.asarray(squares.sum(axis=1)).ravel() > bound**2):
        row = full.data[full.indptr[i] : full.indptr[i + 1]] if is_sparse(full) else full[i]
        size = float(np.sqrt(row @ row))  # as LinearModel.size has it: `run` is `step` to the last bit
        if bound * (1 + ROOM) < size <= bound * (1 + _rounding(dtype)):
            row *= bound / size
    return full


def _rounding(dtype: Any) -> float:
    """How much longer, relatively, an input may be than it was before it was rounded to its format."""
    short = dtype.kind == "f" and dtype.itemsize < FLOAT64.itemsize
    return UNITS * float(np.finfo(dtype).eps) if short else ROOM
