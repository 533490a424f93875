"""Sorting, pooling and T-transforms on the permutahedron, compiled; see `kernels_numpy` for the contracts."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from osp_core.errors import LARGEST, Array

Order = NDArray[np.int64]
_SHORT = 24  # up to here insertion alone is the fastest sort


@njit(cache=True)
def order_descending(values: Array) -> Order:
    return _sorted(values)[0]


@njit(cache=True)
def _sorted(values: Array) -> tuple[Order, Array]:
    """Return the stable decreasing order, and the values in it."""
    size = values.size
    order, keys = np.empty(size, dtype=np.int64), np.empty(size)
    highest = lowest = values[0]
    for item in range(size):
        order[item], keys[item] = item, values[item]
        highest, lowest = max(highest, values[item]), min(lowest, values[item])
    if highest == lowest:
        return order, keys
    scale = (size - 1) / (highest - lowest)
    if size > _SHORT and scale > 0.0 and np.isfinite(scale):
        _drop_into_buckets(order, keys, values, highest, scale)
    if not _insert(order, keys, 16 * size + _SHORT**2):
        order = np.argsort(-values, kind="mergesort")
        keys = values[order]
    return order, keys


@njit(cache=True)
def _drop_into_buckets(order: Order, keys: Array, values: Array, highest: float, scale: float) -> None:
    """Sort by bucket, one bucket per item: scores rarely cluster, so little is left to insertion."""
    size = values.size
    starts = np.zeros(size + 2, dtype=np.int32)
    for value in values:
        starts[int((highest - value) * scale) + 1] += 1
    for bucket in range(size + 1):
        starts[bucket + 1] += starts[bucket]
    for item in range(size):
        bucket = int((highest - values[item]) * scale)  # rounding can make it `size`, hence one more
        place = starts[bucket]
        starts[bucket] = place + 1
        order[place], keys[place] = item, values[item]


@njit(cache=True)
def _insert(order: Order, keys: Array, budget: int) -> bool:
    """Stable insertion sort in decreasing order of `keys`; False when it needs more moves than `budget`."""
    for position in range(1, keys.size):
        key, item = keys[position], order[position]
        place = position
        while place > 0 and keys[place - 1] < key:
            keys[place] = keys[place - 1]
            order[place] = order[place - 1]
            place -= 1
        keys[place] = key
        order[place] = item
        budget -= position - place
        if budget < 0:
            return False
    return True


@njit(cache=True)
def project(theta: Array, weights: Array) -> Array:
    if not _acceptable(theta):
        return np.empty(0)
    size = theta.size
    order, keys = _sorted(theta)
    centre = keys[size // 2]
    lengths, totals = np.empty(size), np.empty(size)
    blocks = 0
    for place in range(size):
        total, length = (keys[place] - centre) - weights[place], 1.0
        # Means compared without dividing.
        while blocks > 0 and totals[blocks - 1] * length <= total * lengths[blocks - 1]:
            blocks -= 1
            total += totals[blocks]
            length += lengths[blocks]
        lengths[blocks], totals[blocks] = length, total
        blocks += 1
    projected = np.empty(size)
    start = 0
    for block in range(blocks):
        end = start + int(lengths[block])
        _fill_block(projected, keys, weights, order, start, end)
        start = end
    return projected


@njit(cache=True)
def _acceptable(values: Array) -> bool:
    # A NaN compares false; counting has no branches.
    count = 0
    for value in values:
        count += abs(value) <= LARGEST
    return count == values.size


@njit(cache=True)
def _fill_block(projected: Array, keys: Array, weights: Array, order: Order, start: int, end: int) -> None:
    """Shift the scores of one block so that their mean is that of its weights."""
    if end == start + 1:
        projected[order[start]] = weights[start]
        return
    # Differences to the first entry keep the digits that a large common offset would swallow.
    first, excess = keys[start], 0.0
    for place in range(start, end):
        excess += (weights[place] - weights[start]) - (keys[place] - first)
    shift = weights[start] + excess / (end - start)
    for place in range(start, end):
        projected[order[place]] = (keys[place] - first) + shift


@njit(cache=True)
def project_many(thetas: Array, weights: Array) -> Array:
    projected = np.empty(thetas.shape)
    for row in range(thetas.shape[0]):
        projected[row] = project(thetas[row], weights)
    return projected


@njit(cache=True)
def kl_project(log_weights: Array, weights: Array) -> Array:
    size = log_weights.size
    order, keys = _sorted(log_weights)
    ends = np.empty(size, dtype=np.int64)
    tops, sums, masses = np.empty(size), np.empty(size), np.empty(size)
    blocks = 0
    for place in range(size):
        top, total, mass = keys[place], 1.0, weights[place]
        while blocks > 0:
            # Blocks come in decreasing order, so the earlier one has the larger top and nothing overflows.
            rescaled = total * np.exp(top - tops[blocks - 1])
            if sums[blocks - 1] * mass > rescaled * masses[blocks - 1]:
                break
            blocks -= 1
            top, total, mass = tops[blocks], sums[blocks] + rescaled, mass + masses[blocks]
        ends[blocks], tops[blocks], sums[blocks], masses[blocks] = place + 1, top, total, mass
        blocks += 1
    projected = np.empty(size)
    start = 0
    for block in range(blocks):
        end = ends[block]
        _spread_block(projected, keys, weights, order, start, end)
        start = end
    return projected


@njit(cache=True)
def _spread_block(projected: Array, keys: Array, weights: Array, order: Order, start: int, end: int) -> None:
    """Divide the weights of one block in proportion to exp(log weight)."""
    if end == start + 1:
        projected[order[start]] = weights[start]
        return
    total, mass = 0.0, 0.0
    for place in range(start, end):
        share = np.exp(keys[place] - keys[start])
        projected[order[place]] = share
        total += share
        mass += weights[place]
    factor = mass / total
    for place in range(start, end):
        projected[order[place]] *= factor


@njit(cache=True)
def kl_project_many(log_weights: Array, weights: Array) -> Array:
    projected = np.empty(log_weights.shape)
    for row in range(log_weights.shape[0]):
        projected[row] = kl_project(log_weights[row], weights)
    return projected


@njit(cache=True)
def transforms(point: Array, weights: Array) -> tuple[Order, Order, Array]:
    size = point.size
    first, second = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    probabilities = np.empty(size)
    current, stack = weights.copy(), np.empty(size, dtype=np.int64)
    height = count = 0
    for place in range(size):
        if current[place] > point[place]:
            stack[height] = place
            height += 1
        while height > 0 and current[place] < point[place]:
            donor = stack[height - 1]
            surplus, deficit = current[donor] - point[donor], point[place] - current[place]
            amount = min(surplus, deficit)
            first[count], second[count] = donor, place
            probabilities[count] = amount / (current[donor] - current[place])
            count += 1
            # Assigning the target, instead of adding, ends every transform at an exact entry.
            current[donor] = point[donor] if surplus <= deficit else current[donor] - amount
            current[place] = point[place] if deficit <= surplus else current[place] + amount
            if surplus <= deficit:
                height -= 1
    return first[:count], second[:count], probabilities[:count]


@njit(cache=True)
def swap_at_random(
    weights: Array, first: Order, second: Order, probabilities: Array, uniforms: Array
) -> Array:
    values = weights.copy()
    for step in range(first.size):
        if uniforms[step] < probabilities[step]:
            i, j = first[step], second[step]
            values[i], values[j] = values[j], values[i]
    return values


@njit(cache=True)
def decompose(point: Array, weights: Array) -> tuple[Array, Array]:
    size = point.size
    atoms, masses = np.empty((size + 1, size)), np.zeros(size + 1)
    atoms[0], masses[0] = weights, 1.0
    current, stack = weights.copy(), np.empty(size, dtype=np.int64)
    height, count = 0, 1
    for place in range(size):
        if current[place] > point[place]:
            stack[height] = place
            height += 1
        while height > 0 and current[place] < point[place]:
            donor = stack[height - 1]
            # Asking the atoms, instead of keeping account, leaves no error to add up.
            surplus = _mean(atoms, masses, count, donor) - point[donor]
            deficit = point[place] - _mean(atoms, masses, count, place)
            amount = min(surplus, deficit)
            count += _move(atoms, masses, count, donor, place, amount)
            current[donor] = point[donor] if surplus <= deficit else point[donor] + (surplus - amount)
            current[place] = point[place] if deficit <= surplus else point[place] - (deficit - amount)
            if surplus <= deficit:
                height -= 1
    return atoms[:count], masses[:count]


@njit(cache=True)
def _mean(atoms: Array, masses: Array, count: int, place: int) -> float:
    total = 0.0
    for atom in range(count):
        total += masses[atom] * atoms[atom, place]
    return total


@njit(cache=True)
def _move(atoms: Array, masses: Array, count: int, i: int, j: int, rest: float) -> int:
    """Move `rest` from entry i of the mean to entry j; return the number of new atoms, 0 or 1."""
    for atom in range(count):
        difference = atoms[atom, i] - atoms[atom, j]
        if difference <= 0.0 or rest <= 0.0:
            continue
        if masses[atom] * difference > rest:
            moved = rest / difference
            masses[count], masses[atom] = moved, masses[atom] - moved
            atoms[count] = atoms[atom]
            atoms[count, i], atoms[count, j] = atoms[atom, j], atoms[atom, i]
            return 1
        rest -= masses[atom] * difference
        atoms[atom, i], atoms[atom, j] = atoms[atom, j], atoms[atom, i]
    return 0
