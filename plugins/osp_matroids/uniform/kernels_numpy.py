"""Projections and Gibbs sums of k-subsets, in plain numpy; 0 < k < d everywhere."""

from __future__ import annotations

import numpy as np

from osp_core.errors import LARGEST, Array


def project(theta: Array, k: int) -> Array:
    """Return the point of {0 ≤ y ≤ 1, Σy = k} nearest to `theta`: clip(θ − τ, 0, 1) with the right τ.

    An empty array says that `theta` is not finite, or too large.
    """
    if not (np.abs(theta) <= LARGEST).all():
        return np.empty(0)
    return project_many(theta[np.newaxis], k)[0]


def project_many(thetas: Array, k: int) -> Array:
    """Return `project` of every row: the linear piece that contains τ, among all breakpoints in order."""
    # τ is less than 1 below, and not above, the k-th largest score; clipped, the others keep their place.
    pivots = -np.partition(-thetas, k - 1, axis=1)[:, k - 1 : k]
    scores = np.clip(thetas - pivots, -4.0, 4.0)
    breakpoints = np.hstack([scores, scores - 1.0])
    slopes = np.hstack([np.ones(scores.shape), -np.ones(scores.shape)])
    order = np.argsort(-breakpoints, axis=1, kind="stable")
    breakpoints = np.take_along_axis(breakpoints, order, axis=1)
    slopes = np.take_along_axis(slopes, order, axis=1)
    totals = np.cumsum(slopes * breakpoints, axis=1) - np.cumsum(slopes, axis=1) * breakpoints
    # The first breakpoint at which the sum reaches k ends the piece; the one before begins it.
    end = np.argmax(totals >= k - 1e-12 * (1 + k), axis=1)[:, np.newaxis]
    high = np.take_along_axis(breakpoints, np.maximum(end - 1, 0), axis=1)
    low = np.take_along_axis(breakpoints, end, axis=1)
    return _clip(scores, k, low, high)


def _clip(scores: Array, k: int, low: Array, high: Array) -> Array:
    """The projection of every row, given a bracket of its τ without breakpoints inside."""
    ones = scores - 1.0 >= high
    inside = (scores > low) & ~ones
    counts = inside.sum(axis=1, keepdims=True)
    sums = np.where(inside, scores, 0.0).sum(axis=1, keepdims=True) + ones.sum(axis=1, keepdims=True) - k
    tau = np.clip(sums / np.maximum(counts, 1), low, high)
    return np.where(ones, 1.0, np.where(inside, np.clip(scores - tau, 0.0, 1.0), 0.0))


def log_factors(ordered: Array, k: int) -> Array:
    """Return log c for every row of decreasing log weights, with Σ min(1, c·exp(log weight)) = k.

    With the m largest capped at 1, c is (k − m)/Σ of the others; the least m for which that caps no more.
    """
    tails = np.logaddexp.accumulate(ordered[:, ::-1], axis=1)[:, ::-1][:, :k]
    factors = np.log(np.arange(k, 0, -1)) - tails
    capped = np.argmax(factors + ordered[:, :k] <= 0, axis=1)
    none = (factors + ordered[:, :k] > 0).all(axis=1)
    capped[none] = k - 1
    return np.take_along_axis(factors, capped[:, np.newaxis], axis=1)[:, 0]


def log_symmetric(theta: Array, k: int) -> float:
    """Return the log of the elementary symmetric polynomial of degree k in exp(theta): O(dk)."""
    logs = np.full(k + 1, -np.inf)
    logs[0] = 0.0
    for score in theta:
        logs[1:] = np.logaddexp(logs[1:], logs[:-1] + score)
    return float(logs[k])


def inclusion(theta: Array, k: int) -> Array:
    """Return P(i in S) for a k-subset S of probability ∝ exp Σ_{i in S} theta[i]: O(dk) time and memory.

    The table holds the log polynomials of every tail of `theta`; then the elements are decided in order, with
    the distribution of how many are left to take. Only positive numbers are added.
    """
    dim = theta.size
    logs = np.full((dim + 1, k + 1), -np.inf)
    logs[:, 0] = 0.0
    for item in range(dim - 1, -1, -1):
        logs[item, 1:] = np.logaddexp(logs[item + 1, 1:], logs[item + 1, :-1] + theta[item])
    marginals = np.zeros(dim)
    left = np.zeros(k + 1)
    left[k] = 1.0
    for item in range(dim):
        possible = np.flatnonzero(left[1:]) + 1
        base = logs[item, possible]
        taken = left[possible] * np.exp(theta[item] + logs[item + 1, possible - 1] - base)
        left[possible] *= np.exp(logs[item + 1, possible] - base)
        left[possible - 1] += taken
        marginals[item] = taken.sum()
    return marginals
