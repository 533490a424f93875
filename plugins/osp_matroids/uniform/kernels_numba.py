"""Projections and Gibbs sums of k-subsets, compiled; see `kernels_numpy` for the contracts."""

from __future__ import annotations

import numpy as np
from numba import njit

from osp_core.errors import LARGEST, Array

_LARGE = 2.0**50  # beyond, subtracting 1 from a score is lost in rounding


@njit(cache=True)
def project(theta: Array, k: int) -> Array:
    # The sum of clip(θ − τ, 0, 1) falls with τ and is linear between the breakpoints θᵢ and θᵢ − 1. A bracket
    # of τ is narrowed, by Newton's method with bisection as a fallback, until no breakpoint is inside.
    if not _acceptable(theta):
        return np.empty(0)
    low, high = theta.min() - 1.0, theta.max()
    if low < -_LARGE or high > _LARGE:
        theta = _around_the_pivot(theta, k)
        low, high = theta.min() - 1.0, theta.max()
    open_scores, still_open = theta.copy(), theta.size
    certain, inside, inside_sum, origin = 0, 0, 0.0, 0.0
    tau, passes = (theta.sum() - k) / theta.size, 0
    while still_open > 0:
        if passes % 4 == 3 or not low < tau < high:
            tau = 0.5 * low + 0.5 * high
            if tau <= low or tau >= high:
                break  # neighbours in floating point: nothing is between them
        passes += 1
        excess, slope = _excess(open_scores, still_open, tau)
        excess += certain + (inside_sum - inside * (tau - origin)) - k
        slope += inside
        low, high = max(low, tau) if excess >= 0.0 else low, min(high, tau) if excess <= 0.0 else high
        if inside == 0:
            origin = low  # entries are found inside only once the bracket is shorter than 1
        kept = 0
        for index in range(still_open):
            # Without branches: which way a score goes cannot be predicted.
            score = open_scores[index]
            one = score - 1.0 >= high
            linear = (score >= high) & (score - 1.0 <= low) & (score > low)
            certain += one
            inside += linear
            inside_sum += score - origin if linear else 0.0
            open_scores[kept] = score
            kept += not (one | linear | (score <= low))
        still_open = kept
        if slope > 0:
            tau += excess / slope
    return _clip(theta, k, low, high)


@njit(cache=True)
def _acceptable(values: Array) -> bool:
    # A NaN compares false; counting has no branches.
    count = 0
    for value in values:
        count += abs(value) <= LARGEST
    return count == values.size


@njit(cache=True)
def _around_the_pivot(theta: Array, k: int) -> Array:
    """Scores relative to the k-th largest, where those farther away than any τ keep only their side."""
    pivot = np.sort(theta)[theta.size - k]
    shifted = np.empty(theta.size)
    for index in range(theta.size):
        shifted[index] = min(4.0, max(-4.0, theta[index] - pivot))
    return shifted


@njit(cache=True, fastmath={"reassoc"})
def _excess(scores: Array, size: int, tau: float) -> tuple[float, int]:
    """Σ clip(score − τ, 0, 1) and the number of its terms strictly between 0 and 1."""
    total, slope = 0.0, 0
    for index in range(size):
        above = scores[index] - tau
        total += min(1.0, max(0.0, above))
        slope += (above > 0.0) & (above < 1.0)
    return total, slope


@njit(cache=True, fastmath={"reassoc"})
def _clip(theta: Array, k: int, low: float, high: float) -> Array:
    """The projection, given a bracket of τ without breakpoints inside."""
    certain, inside, inside_sum = 0, 0, 0.0
    for index in range(theta.size):
        score = theta[index]
        one = score - 1.0 >= high
        linear = (score > low) & (not one)
        certain += one
        inside += linear
        inside_sum += score - low if linear else 0.0
    shift = (inside_sum + certain - k) / inside if inside > 0 else 0.0
    shift = min(max(shift, 0.0), high - low)
    projected = np.empty(theta.size)
    for index in range(theta.size):
        score = theta[index]
        entry = min(1.0, max(0.0, (score - low) - shift))
        entry = 1.0 if score - 1.0 >= high else entry
        projected[index] = 0.0 if score <= low else entry
    return projected


@njit(cache=True)
def project_many(thetas: Array, k: int) -> Array:
    projected = np.empty(thetas.shape)
    for row in range(thetas.shape[0]):
        projected[row] = project(thetas[row], k)
    return projected


@njit(cache=True)
def log_factors(ordered: Array, k: int) -> Array:
    factors = np.empty(ordered.shape[0])
    tails = np.empty(ordered.shape[1])
    for row in range(ordered.shape[0]):
        total, top = 0.0, ordered[row, -1]
        for index in range(ordered.shape[1] - 1, -1, -1):
            total = total * np.exp(top - ordered[row, index]) + 1.0
            top = ordered[row, index]
            tails[index] = np.log(total)
        for capped in range(k):
            factor = np.log(k - capped) - tails[capped]
            if factor <= 0.0 or capped == k - 1:
                factors[row] = factor - ordered[row, capped]
                break
    return factors


@njit(cache=True)
def log_symmetric(theta: Array, k: int) -> float:
    logs = np.full(k + 1, -np.inf)
    logs[0] = 0.0
    for score in theta:
        for size in range(k, 0, -1):
            logs[size] = _log_add(logs[size], logs[size - 1] + score)
    return logs[k]


@njit(cache=True)
def inclusion(theta: Array, k: int) -> Array:
    dim = theta.size
    logs = np.full((dim + 1, k + 1), -np.inf)
    logs[dim, 0] = 0.0
    for item in range(dim - 1, -1, -1):
        logs[item, 0] = 0.0
        for size in range(1, k + 1):
            logs[item, size] = _log_add(logs[item + 1, size], logs[item + 1, size - 1] + theta[item])
    marginals = np.zeros(dim)
    left = np.zeros(k + 2)
    left[k] = 1.0
    for item in range(dim):
        for size in range(1, k + 1):
            if left[size] == 0.0:
                continue
            taken = left[size] * np.exp(theta[item] + logs[item + 1, size - 1] - logs[item, size])
            marginals[item] += taken
            left[size - 1] += taken
            left[size] *= np.exp(logs[item + 1, size] - logs[item, size])
    return marginals


@njit(cache=True)
def _log_add(a: float, b: float) -> float:
    """log(eᵃ + eᵇ)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))
