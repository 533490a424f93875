"""Sorting, pooling and T-transforms on the permutahedron, in plain numpy.

`weights` is in decreasing order everywhere; scores come in any order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from osp_core.errors import LARGEST, Array

Order = NDArray[np.int64]


def order_descending(values: Array) -> Order:
    """Return the indices that sort `values` from high to low, ties by index."""
    return np.argsort(-values, kind="stable")


def project(theta: Array, weights: Array) -> Array:
    """Return the Euclidean projection of `theta` on the permutahedron of `weights`.

    In sorted order it is θ minus the decreasing isotonic regression of θ − w. An empty array says that
    `theta` is not finite, or too large.
    """
    if not (np.abs(theta) <= LARGEST).all():
        return np.empty(0)
    order = order_descending(theta)
    scores = theta[order] - theta[order[theta.size // 2]]
    edges = _pooled_means(scores - weights)
    lengths = np.diff(edges)
    # Differences to the first entry of a block keep the digits that a large common offset would swallow.
    scores = theta[order] - np.repeat(theta[order[edges[:-1]]], lengths)
    excess = weights - np.repeat(weights[edges[:-1]], lengths) - scores
    shifts = weights[edges[:-1]] + np.add.reduceat(excess, edges[:-1]) / lengths
    projected = np.empty(theta.size)
    projected[order] = scores + np.repeat(shifts, lengths)
    return projected


def project_many(thetas: Array, weights: Array) -> Array:
    """Return `project` of every row."""
    return np.array([project(theta, weights) for theta in thetas]).reshape(thetas.shape)


def _pooled_means(values: Array) -> NDArray[np.intp]:
    """Return the borders of the blocks of the decreasing isotonic regression of `values`."""
    blocks: list[tuple[int, float, float]] = []  # end, length, total
    for place, value in enumerate(values.tolist()):
        total, length = value, 1.0
        # Means compared without dividing.
        while blocks and blocks[-1][2] * length <= total * blocks[-1][1]:
            _, earlier_length, earlier_total = blocks.pop()
            total += earlier_total
            length += earlier_length
        blocks.append((place + 1, length, total))
    return np.array([0, *(block[0] for block in blocks)])


def kl_project(log_weights: Array, weights: Array) -> Array:
    """Return argmin Σ yᵢ ln yᵢ − ⟨log_weights, y⟩ over the permutahedron of the non-negative `weights`."""
    order = order_descending(log_weights)
    edges = _pooled_ratios(log_weights[order], weights)
    lengths = np.diff(edges)
    shares = np.exp(log_weights[order] - np.repeat(log_weights[order[edges[:-1]]], lengths))
    factors = np.add.reduceat(weights, edges[:-1]) / np.add.reduceat(shares, edges[:-1])
    projected = np.empty(weights.size)
    projected[order] = shares * np.repeat(factors, lengths)
    return projected


def kl_project_many(log_weights: Array, weights: Array) -> Array:
    """Return `kl_project` of every row."""
    return np.array([kl_project(row, weights) for row in log_weights]).reshape(log_weights.shape)


def _pooled_ratios(scores: Array, weights: Array) -> NDArray[np.intp]:
    """Return the borders of the blocks on which Σ exp(score)/Σ weight decreases."""
    blocks: list[tuple[int, float, float, float]] = []  # end, top, Σ exp(score − top), mass
    for place, (top, mass) in enumerate(zip(scores.tolist(), weights.tolist(), strict=True)):
        total = 1.0
        while blocks:
            _, earlier_top, earlier_total, earlier_mass = blocks[-1]
            # Blocks come in decreasing order, so the earlier one has the larger top and nothing overflows.
            rescaled = total * math.exp(top - earlier_top)
            if earlier_total * mass > rescaled * earlier_mass:
                break
            blocks.pop()
            top, total, mass = earlier_top, earlier_total + rescaled, mass + earlier_mass
        blocks.append((place + 1, top, total, mass))
    return np.array([0, *(block[0] for block in blocks)])


def transforms(point: Array, weights: Array) -> tuple[Order, Order, Array]:
    """Return T-transforms (Hardy, Littlewood, Pólya) that take `weights` to `point`; both decrease.

    Returns
    -------
    first, second : arrays of int
        Positions first[t] < second[t] that transform t mixes.
    probabilities : array
        The probability of the swap of the two entries that has the effect of transform t on average.
    """
    current, target = weights.tolist(), point.tolist()
    steps: list[tuple[int, int, float]] = []
    stack: list[int] = []
    for place in range(point.size):
        if current[place] > target[place]:
            stack.append(place)
        while stack and current[place] < target[place]:
            donor = stack[-1]
            surplus, deficit = current[donor] - target[donor], target[place] - current[place]
            amount = min(surplus, deficit)
            steps.append((donor, place, amount / (current[donor] - current[place])))
            # Assigning the target, instead of adding, ends every transform at an exact entry.
            current[donor] = target[donor] if surplus <= deficit else current[donor] - amount
            current[place] = target[place] if deficit <= surplus else current[place] + amount
            if surplus <= deficit:
                stack.pop()
    first, second, probabilities = zip(*steps, strict=True) if steps else ((), (), ())
    return (
        np.array(first, dtype=np.int64),
        np.array(second, dtype=np.int64),
        np.array(probabilities, dtype=np.float64),
    )


def swap_at_random(
    weights: Array, first: Order, second: Order, probabilities: Array, uniforms: Array
) -> Array:
    """Apply every transform as an independent swap; the mean of the result is the transformed vector."""
    values = weights.tolist()
    happens = uniforms < probabilities
    for i, j in zip(first[happens].tolist(), second[happens].tolist(), strict=True):
        values[i], values[j] = values[j], values[i]
    return np.array(values, dtype=np.float64)


def decompose(point: Array, weights: Array) -> tuple[Array, Array]:
    """Return at most d permutations of `weights`, and their masses, with mean `point`; both decrease.

    The T-transforms again, but done to a combination of permutations: the two entries are swapped in atoms
    where that moves the mean the right way, until the amount is reached, which splits at most one atom. All
    numbers added are positive, so that nothing cancels.
    """
    atoms, masses = np.empty((point.size + 1, point.size)), np.zeros(point.size + 1)
    atoms[0], masses[0] = weights, 1.0
    current, stack, count = weights.copy(), [], 1
    for place in range(point.size):
        if current[place] > point[place]:
            stack.append(place)
        while stack and current[place] < point[place]:
            donor = stack[-1]
            # Asking the atoms, instead of keeping account, leaves no error to add up.
            surplus = masses[:count] @ atoms[:count, donor] - point[donor]
            deficit = point[place] - masses[:count] @ atoms[:count, place]
            amount = min(surplus, deficit)
            count += _move(atoms, masses, count, donor, place, amount)
            current[donor] = point[donor] if surplus <= deficit else point[donor] + (surplus - amount)
            current[place] = point[place] if deficit <= surplus else point[place] - (deficit - amount)
            if surplus <= deficit:
                stack.pop()
    return atoms[:count], masses[:count]


def _move(atoms: Array, masses: Array, count: int, i: int, j: int, amount: float) -> int:
    """Move `amount` from entry i of the mean to entry j; return the number of new atoms, 0 or 1."""
    differences = atoms[:count, i] - atoms[:count, j]
    useful = np.flatnonzero(differences > 0.0)
    moved = np.cumsum(masses[useful] * differences[useful])
    whole = int(np.searchsorted(moved, amount, side="right"))
    atoms[np.ix_(useful[:whole], [i, j])] = atoms[np.ix_(useful[:whole], [j, i])]
    rest = amount - (moved[whole - 1] if whole else 0.0)
    if whole == useful.size or rest <= 0.0:
        return 0
    atom = useful[whole]
    masses[count] = rest / differences[atom]
    masses[atom] -= masses[count]
    atoms[count] = atoms[atom]
    atoms[count, [i, j]] = atoms[atom, [j, i]]
    return 1
