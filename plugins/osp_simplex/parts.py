"""The simplex in compiled rounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Vector = Any


def softmax(theta: Vector, params: Vector, out: Vector) -> None:
    """exp(θ/scale), normalised."""
    largest, total = theta[0], 0.0
    for i in range(theta.size):
        largest = max(largest, theta[i])
    for i in range(theta.size):
        out[i] = math.exp((theta[i] - largest) / params[0])
        total += out[i]
    for i in range(theta.size):
        out[i] /= total


def sparsemax(theta: Vector, params: Vector, out: Vector) -> None:
    """The Euclidean projection of θ/scale: the threshold leaves a total of 1 above it."""
    largest, total, threshold = theta[0], 0.0, 0.0
    for i in range(theta.size):
        largest = max(largest, theta[i])
    for i in range(theta.size):
        out[i] = (theta[i] - largest) / params[0]
    ordered = np.sort(out)
    for k in range(1, out.size + 1):
        total += ordered[out.size - k]
        if ordered[out.size - k] <= (total - 1.0) / k:
            break
        threshold = (total - 1.0) / k
    total = 0.0
    for i in range(theta.size):
        out[i] = max(0.0, out[i] - threshold)
        total += out[i]
    for i in range(theta.size):
        out[i] /= total


def likeliest(y_hat: Vector, params: Vector, out: Vector) -> None:
    """The unit vector of the largest entry, the first of equal ones."""
    best = 0
    for i in range(y_hat.size):
        out[i] = 0.0
        if y_hat[i] > y_hat[best]:
            best = i
    out[best] = 1.0


def categorical(y_hat: Vector, params: Vector, rng: Any, out: Vector) -> None:
    """Class i with probability ŷᵢ, by one uniform number."""
    total, share, drawn = 0.0, 0.0, -1
    for i in range(y_hat.size):
        total += y_hat[i]
        out[i] = 0.0
    uniform = rng.random() * total
    for i in range(y_hat.size):
        share += y_hat[i]
        if drawn < 0 and uniform < share:
            drawn = i
    out[drawn] = 1.0  # the last class where rounding leaves none
