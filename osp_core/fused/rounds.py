"""The round of [SBTO24, Algorithm 2] and the loop over rounds, with the functions of their parts left open.

What is made here is plain Python within what numba can compile. A round is judged before anything is changed:
one that is refused leaves all as it was, and the general code, which takes it up, says what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from osp_core.fused.functions import affine_loss
from osp_core.learners.weights import FACTOR, MASS, NORM_REFRESH, SMALLEST_FACTOR, SQUARED_NORM, UPDATES

SCALE, LARGEST_SQUARE, NU, ORDER, BALL = range(5)
"""Entries of `setup`: scale of the loss, (feature bound)², ν, order of the norm, radius of the ball."""

TARGET, EXPECTED, SURROGATE, P = range(4)
"""Columns of what a round costs, in the order of the columns of a trace."""

Function = Callable[..., Any]


def make_learn_round(parts: Sequence[Function]) -> Function:
    """Return the function that judges and learns from one round; see `assemble` for its parts."""
    predict, loss, nearest, decode, amount, multiplier, admits = parts

    def learn_round(array, rule, x, feedback, setup, params, work, costs):  # type: ignore[no-untyped-def]
        core, residue, weights = array
        values, columns = x
        truth, cost, constant = feedback
        scores, theta, y_hat, corner, p = work
        dense = columns.size == 0
        d = truth.size

        squared_size = 0.0
        for j in range(values.size):
            squared_size += values[j] * values[j]
        if not squared_size <= setup[LARGEST_SQUARE]:
            return False
        for i in range(d):
            scores[i] = 0.0
        for j in range(values.size):
            if values[j] != 0.0:
                column = j if dense else columns[j]
                for i in range(d):
                    scores[i] += values[j] * core[i, column]
        times = multiplier(rule)
        for i in range(d):
            theta[i] = times * weights[FACTOR] * scores[i]
        predict(theta, params, y_hat)
        nearest(y_hat, params, corner)
        decode(y_hat, corner, setup[NU], setup[ORDER], p)

        expected, squares, inner, size = constant, 0.0, 0.0, 0.0
        for i in range(d):
            mixed = p[i if p.size == d else 0]
            expected += cost[i] * ((1.0 - mixed) * corner[i] + mixed * y_hat[i])
            residual = setup[SCALE] * (y_hat[i] - truth[i])
            squares += residual * residual
            inner += residual * scores[i]
            size += abs(theta[i])
        expected = max(0.0, expected)
        surrogate = setup[SCALE] * loss(theta, params, truth, y_hat)
        squares *= squared_size
        tolerance = 1e-12 * setup[SCALE] * (1.0 + params[0]) * (1.0 + size)
        if not -tolerance <= surrogate < math.inf or not admits(rule, squares):
            return False
        surrogate = max(0.0, surrogate)

        weights[MASS] += times * weights[FACTOR]  # W_t enters the average
        step = amount(rule, squares, weights[FACTOR] * inner, surrogate, expected) / weights[FACTOR]
        if step != 0.0:
            mass = weights[MASS]
            for i in range(d):
                theta[i] = step * setup[SCALE] * (y_hat[i] - truth[i])
            for j in range(values.size):
                if values[j] != 0.0:
                    column = j if dense else columns[j]
                    for i in range(d):
                        core[i, column] += values[j] * theta[i]
                        residue[i, column] -= mass * (values[j] * theta[i])  # mass·core + residue stays
            weights[UPDATES] += 1.0
            if setup[BALL] < math.inf:
                shrink(array, setup[BALL], 2.0 * step * inner + step * step * squares)
        costs[TARGET] = affine_loss(cost, constant, corner)  # until something else is drawn
        costs[EXPECTED] = expected
        costs[SURROGATE] = surrogate
        costs[P] = p.mean()
        return True

    return learn_round


def make_learn_rounds(learn_round: Function, draw: Function) -> Function:
    """Return the loop over rounds; it stops at the first round that is refused, and returns its number."""

    def learn_rounds(array, rule, X, index, feedback, setup, params, work, played, rng, rows):  # type: ignore[no-untyped-def]
        starts, columns, values = X
        truths, losses, constants = feedback
        for t in range(index.size):
            first, last, k = starts[t], starts[t + 1], index[t]
            active = columns[first:last] if columns.size else columns
            x, revealed = (values[first:last], active), (truths[k], losses[k], constants[k])
            if not learn_round(array, rule, x, revealed, setup, params, work, rows[t]):
                return t
            draw(work[2], work[3], work[4], params, rng, played)
            rows[t, TARGET] = affine_loss(losses[k], constants[k], played)
        return index.size

    return learn_rounds


def make_draw_whole(sample: Function) -> Function:
    """Return a function that draws as `DecodingLaw.sample` does."""

    def draw_whole(y_hat, corner, p, params, rng, played):  # type: ignore[no-untyped-def]
        if p[0] <= 0.0 or rng.random() >= p[0]:
            played[:] = corner
        else:
            sample(y_hat, params, rng, played)

    return draw_whole


def make_draw_coordinates(sample: Function) -> Function:
    """Return a function that draws as `BlockwiseLaw.sample` does on blocks of one coordinate."""

    def draw_coordinates(y_hat, corner, p, params, rng, played):  # type: ignore[no-untyped-def]
        # First a coin for every coordinate, then one more for those that are randomised.
        for i in range(played.size):
            played[i] = 1.0 if rng.random() < p[i] else 0.0
        for i in range(played.size):
            if played[i] == 1.0:
                played[i] = 1.0 if rng.random() < y_hat[i] else 0.0
            else:
                played[i] = corner[i]

    return draw_coordinates


def shrink(array: Any, radius: float, growth: float) -> None:
    """Follow ‖core‖² after a step, and project on the ball; see `LazyWeights`."""
    core, residue, weights = array
    weights[SQUARED_NORM] = max(0.0, weights[SQUARED_NORM] + growth)
    if weights[UPDATES] % NORM_REFRESH == 0:
        weights[SQUARED_NORM] = squared_norm(core)
    norm = abs(weights[FACTOR]) * math.sqrt(weights[SQUARED_NORM])
    if norm > radius:
        weights[FACTOR] *= radius / norm
        if weights[FACTOR] < SMALLEST_FACTOR:
            for j in range(core.shape[1]):
                for i in range(core.shape[0]):
                    residue[i, j] += weights[MASS] * core[i, j]
                    core[i, j] *= weights[FACTOR]
            weights[FACTOR], weights[MASS] = 1.0, 0.0
            weights[SQUARED_NORM] = squared_norm(core)


def squared_norm(core: Any) -> float:
    """‖core‖² in the Frobenius norm."""
    total = 0.0
    for j in range(core.shape[1]):
        for i in range(core.shape[0]):
            total += core[i, j] * core[i, j]
    return total
