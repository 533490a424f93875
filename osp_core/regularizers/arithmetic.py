"""Sums and differences that lose no digits: what the losses of all Ψ are computed with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from osp_core.errors import Array, NumericalError
from osp_core.geometry.predictions import Prediction

ROUNDING = 1e-12  # of a loss, relative to the numbers it was computed from


def rescaled(prediction: Prediction, scale: float) -> Prediction:
    """The same prediction with its gap on another scale; what needs no change is not copied."""
    if prediction.gap == 0.0 or scale == 1.0:
        return prediction
    return replace(prediction, gap=scale * prediction.gap)


def nonnegative(value: Array, size: Array, gap: float | Array = 0.0) -> Array:
    """Clip a loss that is negative by rounding, or by no more than the gap of its prediction, to 0.

    `size` bounds the numbers it was computed from. An inexact ŷ gives S − δ with 0 ≤ δ ≤ gap.
    """
    tolerance = ROUNDING * (1.0 + size) + gap
    if np.any(value < -tolerance) or not np.all(np.isfinite(value)):
        raise NumericalError(
            f"A Fenchel–Young loss came out as {np.min(value)}; it must be at least 0. The prediction it was "
            "computed from is not optimal for these scores, or the scores are too large for float64."
        )
    return np.asarray(np.maximum(value, 0.0))
