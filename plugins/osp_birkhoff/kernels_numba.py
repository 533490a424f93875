"""The inner loops of the Birkhoff family, compiled; see `kernels_numpy` for what the functions do."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from osp_core.errors import Array

TINY = 1e-300
LEAST_EXPONENT = -708.0
INVERSE_LN2 = 1.0 / np.log(2.0)
LN2_HIGH = 0.693147180369123816490  # its product with a small whole number is exact
LN2_LOW = 1.90821492927058770002e-10
ROUNDING = 1.5 * 2.0**52
T = tuple(1.0 / math.factorial(k) for k in range(14))


@njit(cache=True)
def sinkhorn(
    scores: Array, widest: float, cap: float, tol: float, max_sweeps: int
) -> tuple[Array, Array, Array, Array, NDArray[np.int64]]:
    batch, rows, columns = scores.shape
    factors = np.empty(scores.shape)
    left, right = np.ones((batch, rows)), np.ones((batch, columns))
    errors, sweeps = np.full(batch, np.inf), np.zeros(batch, np.int64)
    scratch = np.empty(columns)
    for item in range(batch):
        wild = 0
        for i in range(rows):
            row = scores[item, i]
            wild += exponentials(row, np.rint(largest_entry(row)), widest, factors[item, i], scratch)
        if wild == 0:
            errors[item], sweeps[item] = _sweep(
                factors[item], left[item], right[item], scratch, cap, tol, max_sweeps
            )
    return factors, left, right, errors, sweeps


@njit(cache=True, fastmath={"reassoc", "contract", "nnan", "nsz"})
def _sweep(
    kernel: Array, u: Array, v: Array, sums: Array, cap: float, tol: float, max_sweeps: int
) -> tuple[float, int]:
    rows, columns = kernel.shape
    previous, sweeps = np.inf, 0
    while True:
        sums[:] = 0.0
        for i in range(rows):
            total = 0.0
            for j in range(columns):
                total += kernel[i, j] * v[j]
            factor = 1.0 / total
            u[i] = factor
            for j in range(columns):
                sums[j] += factor * kernel[i, j]
        error = 0.0
        for j in range(columns):
            error = max(error, abs(min(cap, 1.0 / sums[j]) - v[j]) * sums[j])
        left_over = max_sweeps - sweeps
        rate = min(error / previous, 1.0)
        hopeless = sweeps >= 6 and error * rate**left_over > tol
        # The rows sum to 1 here: leaving before the columns are rescaled keeps it so.
        if error <= tol or left_over <= 0 or hopeless:
            return error, sweeps
        for j in range(columns):
            v[j] = min(cap, 1.0 / sums[j])
        previous = error
        sweeps += 1


@njit(cache=True, fastmath={"contract", "nnan", "nsz"})
def exponentials(row: Array, shift: float, widest: float, powers: Array, scratch: Array) -> int:
    """Write exp(row − shift); return how many finite exponents are below −widest.

    The library function is called entry by entry; this one is a polynomial that vectorises, right to a
    unit in the last place: eˣ = 2ⁿ·eʳ, where n comes out of the low bits of x/ln 2 + 1.5·2⁵².
    """
    wild = 0
    for j in range(row.size):
        x = row[j] - shift
        wild += 1 if -np.inf < x < -widest else 0  # a count vectorises, a minimum does not
        x = max(x, LEAST_EXPONENT)
        rounded = x * INVERSE_LN2 + ROUNDING
        n = rounded - ROUNDING
        r = (x - n * LN2_HIGH) - n * LN2_LOW
        high = T[8] + r * (T[9] + r * (T[10] + r * (T[11] + r * (T[12] + r * T[13]))))
        low = T[2] + r * (T[3] + r * (T[4] + r * (T[5] + r * (T[6] + r * (T[7] + r * high)))))
        powers[j] = 1.0 + r * (1.0 + r * low)
        scratch[j] = rounded
    exponents, bits = scratch.view(np.int64), powers.view(np.int64)
    for j in range(row.size):
        bits[j] = bits[j] + (exponents[j] << 52) if row[j] > -np.inf else 0
    return wild


@njit(cache=True, fastmath={"nnan", "nsz"})
def largest_entry(row: Array) -> float:
    # Four at a time: each comparison waits for the one before.
    a = b = c = d = row[0]
    whole = row.size - row.size % 4
    for j in range(0, whole, 4):
        a, b = max(a, row[j]), max(b, row[j + 1])
        c, d = max(c, row[j + 2]), max(d, row[j + 3])
    for j in range(whole, row.size):
        a = max(a, row[j])
    return max(max(a, b), max(c, d))


@njit(cache=True)
def cap_and_fill(plan: Array) -> None:
    rows, columns = plan.shape
    sums, missing_row = np.zeros(columns), np.empty(rows)
    for i in range(rows):
        for j in range(columns):
            sums[j] += plan[i, j]
    capacity, deficit = 0.0, 0.0
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            if sums[j] > 1.0:
                plan[i, j] /= sums[j]
            total += plan[i, j]
        missing_row[i] = 1.0 - total
        if missing_row[i] < 0.0:
            missing_row[i] = 0.0
        deficit += missing_row[i]
    for j in range(columns):
        sums[j] = max(0.0, 1.0 - sums[j])
        capacity += sums[j]
    if deficit <= 4e-16 * rows or capacity <= 0.0:
        return
    for i in range(rows):
        share = missing_row[i] / capacity
        if share > 0.0:
            for j in range(columns):
                plan[i, j] += share * sums[j]


@njit(cache=True)
def entropic_gap(point: Array, plan: Array, scores: Array, levels: Array, potentials: Array) -> float:
    rows, columns = point.shape
    gap = 0.0
    for i in range(rows):
        lowest = np.inf
        for j in range(columns):
            if scores[i, j] == -np.inf:
                continue
            ratio = point[i, j] / plan[i, j] if plan[i, j] > TINY else np.inf
            if abs(ratio - 1.0) < 1e-5:
                # ln(1 + x) to machine precision without calling the logarithm.
                excess = ratio - 1.0
                slope = excess - 0.5 * excess * excess + excess * excess * excess / 3.0
            else:
                slope = np.log(point[i, j]) - (scores[i, j] - potentials[j] - levels[i])
            gap += point[i, j] * slope
            lowest = min(lowest, slope)
        gap -= lowest
    return gap


@njit(cache=True)
def scale_to_point(factors: Array, left: Array, right: Array, cap: float) -> float:
    rows, columns = factors.shape
    sums = np.zeros(columns)
    for i in range(rows):
        _scale_row(factors[i], left[i], right, sums)
    shrink, spare = 1.0 / np.maximum(sums, 1.0), np.maximum(1.0 - sums, 0.0)
    missing = np.empty(rows)
    for i in range(rows):
        missing[i] = max(0.0, 1.0 - _inner(factors[i], shrink))
    capacity = spare.sum()
    fill = 1.0 / capacity if missing.sum() > 4e-16 * rows and capacity > 0.0 else 0.0
    gap, changes = 0.0, np.empty(columns)
    for i in range(rows):
        gap += _finish_row(factors[i], shrink, spare, missing[i] * fill, changes)
    if cap < np.inf:
        for j in range(columns):
            gap -= np.log(right[j]) * max(0.0, 1.0 - factors[:, j].sum())
    return gap


@njit(cache=True, fastmath={"contract"})
def _scale_row(row: Array, level: float, right: Array, sums: Array) -> None:
    for j in range(row.size):
        row[j] *= level * right[j]
        sums[j] += row[j]


@njit(cache=True, fastmath={"reassoc", "contract"})
def _inner(first: Array, second: Array) -> float:
    total = 0.0
    for j in range(first.size):
        total += first[j] * second[j]
    return total


@njit(cache=True, fastmath={"reassoc", "contract", "nnan", "nsz"})
def _finish_row(row: Array, shrink: Array, spare: Array, share: float, changes: Array) -> float:
    """Cap and fill one row; return its part of the gap."""
    for j in range(row.size):
        before = max(row[j], TINY)
        after = before * shrink[j] + share * spare[j]
        row[j], changes[j] = after, after / before - 1.0
    largest, total, lowest = 0.0, 0.0, np.inf
    for j in range(row.size):
        x = changes[j]
        largest = max(largest, abs(x))
        # ln(1 + x) to machine precision and without a logarithm, for changes that are small.
        slope = x * (1.0 - x * (0.5 - x / 3.0))
        total += row[j] * slope
        lowest = min(lowest, slope)
    if largest < 1e-5:
        return total - lowest
    total, lowest = 0.0, np.inf
    for j in range(row.size):
        slope = np.log1p(changes[j])
        total += row[j] * slope
        lowest = min(lowest, slope)
    return total - lowest


@njit(cache=True)
def all_distances(lengths: Array) -> None:
    size = lengths.shape[0]
    for via in range(size):
        for i in range(size):
            first = lengths[i, via]
            if first == np.inf:
                continue
            for j in range(size):
                length = first + lengths[via, j]
                if length < lengths[i, j]:
                    lengths[i, j] = length


@njit(cache=True)
def euclidean_gap(point: Array, scores: Array, levels: Array, potentials: Array) -> float:
    rows, columns = point.shape
    gap = 0.0
    for i in range(rows):
        lowest = np.inf
        for j in range(columns):
            if scores[i, j] > -np.inf:
                slope = point[i, j] - (scores[i, j] - potentials[j] - levels[i])
                gap += point[i, j] * slope
                lowest = min(lowest, slope)
        gap -= lowest
    return gap


@njit(cache=True)
def is_plan(matrix: Array) -> bool:
    rows, columns = matrix.shape
    taken = np.zeros(columns)
    for i in range(rows):
        ones = 0
        for j in range(columns):
            entry = matrix[i, j]
            if entry != 0.0:
                if entry != 1.0 or taken[j] > 0.0:
                    return False
                taken[j] = 1.0
                ones += 1
        if ones != 1:
            return False
    return True


@njit(cache=True)
def violation(matrix: Array) -> float:
    rows, columns = matrix.shape
    sums, worst = np.zeros(columns), 0.0
    lowest = 0.0
    for i in range(rows):
        lowest = min(lowest, least_entry(matrix[i]))
        worst = max(worst, abs(add_row(matrix[i], sums) - 1.0))
    for j in range(columns):
        excess = sums[j] - 1.0
        worst = max(worst, abs(excess) if rows == columns else excess)
    return max(worst, -lowest)


@njit(cache=True, fastmath={"reassoc"})
def add_row(row: Array, sums: Array) -> float:
    total = 0.0
    for j in range(row.size):
        sums[j] += row[j]
        total += row[j]
    return total


@njit(cache=True, fastmath={"nnan", "nsz"})
def least_entry(row: Array) -> float:
    least = row[0]
    for j in range(row.size):
        least = min(least, row[j])
    return least
