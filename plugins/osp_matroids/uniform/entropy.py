"""Entropic predictions and Gibbs distributions over k-subsets, 0 < k < d."""

from __future__ import annotations

import numpy as np

from osp_core import kernels
from osp_core.errors import Array, UnsupportedError

LARGEST_TABLE = 10**8  # entries of the table of the Gibbs marginals: 800 MB
_FAR = 700.0  # e^−700 is nothing beside 1, and e^700 is still finite


def scaled_softmax(log_weights: Array, k: int) -> Array:
    """Return min(1, c·exp(log weight)) with the c that makes every row sum to k."""
    scores = _around_the_pivot(log_weights, k)
    ordered = -np.sort(-scores, axis=1)
    log_c = kernels.load("osp_matroids.uniform").log_factors(ordered, k)
    return np.exp(np.minimum(scores + log_c[:, np.newaxis], 0.0))


def scaled_sigmoid(log_odds: Array, k: int) -> Array:
    """Return sigmoid(log odds − τ) with the τ that makes every row sum to k."""
    scores = _around_the_pivot(log_odds, k)
    # The k-th largest entry is at least 1/d, the next one at most 1 − 1/d: that brackets τ.
    width = np.log(scores.shape[1]) + 1.0
    following = -np.partition(-scores, k, axis=1)[:, k]
    low, high = following - width, np.full(len(scores), width)
    tau = 0.5 * (low + high)
    for _ in range(200):
        entries = _sigmoid(scores - tau[:, np.newaxis])
        excess = entries.sum(axis=1) - k
        low, high = np.where(excess >= 0, tau, low), np.where(excess <= 0, tau, high)
        slope = (entries * (1.0 - entries)).sum(axis=1)
        step = tau + excess / np.where(slope > 0, slope, np.inf)
        inside = (low < step) & (step < high)
        following_tau = np.where(inside, step, 0.5 * (low + high))
        if (np.abs(following_tau - tau) <= 1e-15 * (1.0 + np.abs(tau))).all():
            break
        tau = following_tau
    return _sigmoid(scores - tau[:, np.newaxis])


def gibbs_marginals(theta: Array, k: int) -> Array:
    """Return P(i in S) for a k-subset S drawn with probability ∝ exp Σ_{i in S} θᵢ."""
    dim = theta.size
    if 2 * k > dim:  # the elements left out are a Gibbs sample too, and a smaller one
        return 1.0 - gibbs_marginals(-theta, dim - k)
    if (dim + 1) * (k + 1) > LARGEST_TABLE:
        raise UnsupportedError(
            f"Gibbs marginals of {k}-subsets of {dim} need a table of {dim + 1} × {k + 1} numbers. "
            "Use psi=SquaredNorm() or NegativeEntropy(), whose predictions need O(d) memory."
        )
    scores = _around_the_pivot(theta[np.newaxis], k)[0]
    return np.clip(kernels.load("osp_matroids.uniform").inclusion(scores, k), 0.0, 1.0)


def gibbs_log_partition(theta: Array, k: int) -> float:
    """Return log Σ_S exp Σ_{i in S} θᵢ over all k-subsets S."""
    dim = theta.size
    if 2 * k > dim:
        return float(theta.sum()) + gibbs_log_partition(-theta, dim - k)
    pivot = float(_pivots(theta[np.newaxis], k)[0, 0])
    scores = _around_the_pivot(theta[np.newaxis], k)[0]
    # An element so far above the k-th is in every set that counts: what was clipped comes back as it is.
    beyond = float(np.maximum(theta - pivot - _FAR, 0.0).sum())
    return float(kernels.load("osp_matroids.uniform").log_symmetric(scores, k)) + k * pivot + beyond


def _around_the_pivot(rows: Array, k: int) -> Array:
    """Scores relative to the k-th largest of their row; those that are far away keep only their side."""
    # In C order whatever the order of the rows: sums then round the same way.
    return np.ascontiguousarray(np.clip(rows - _pivots(rows, k), -_FAR, _FAR))


def _pivots(rows: Array, k: int) -> Array:
    """The k-th largest entry of every row, as a column."""
    return -np.partition(-rows, k - 1, axis=1)[:, k - 1 : k]


def _sigmoid(scores: Array) -> Array:
    return np.asarray(np.exp(-np.logaddexp(0.0, -scores)))
