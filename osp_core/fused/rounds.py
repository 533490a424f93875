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


def make_learn_rounds(parts: Sequence[Function]) -> Function:
    """Return the function that judges rounds and learns from them; see `assemble` for its parts.

    It stops at the first round that is refused, and returns how many it took. What to play is drawn later, by
    `make_draw_rounds`: nothing that is learned depends on it.
    """
    predict, loss, nearest, decode, amount, multiplier, admits = parts

    def learn_rounds(array, rule, X, index, feedback, setup, params, work, laws, rows):  # type: ignore[no-untyped-def]
        core, residue, weights = array
        starts, columns, values = X
        truths, costs, constants = feedback
        scores, theta = work
        y_hats, corners, ps = laws
        dense, d, scale = columns.size == 0, theta.size, setup[SCALE]
        for t in range(index.size):
            first, last = starts[t], starts[t + 1]
            truth, cost, constant = truths[index[t]], costs[index[t]], constants[index[t]]
            y_hat, corner, p = y_hats[t], corners[t], ps[t]

            squared_size = 0.0
            for j in range(first, last):
                squared_size += values[j] * values[j]
            if not squared_size <= setup[LARGEST_SQUARE]:
                return t
            for i in range(d):
                scores[i] = 0.0
            for j in range(first, last):
                if values[j] != 0.0:
                    column = j - first if dense else columns[j]
                    for i in range(d):
                        scores[i] += values[j] * core[i, column]
            times, factor = multiplier(rule), weights[FACTOR]
            for i in range(d):
                theta[i] = times * factor * scores[i]
            predict(theta, params, y_hat)
            nearest(y_hat, params, corner)
            decode(y_hat, corner, setup[NU], setup[ORDER], p)

            expected, squares, inner, size, mean_p = constant, 0.0, 0.0, 0.0, 0.0
            for i in range(p.size):
                mean_p += p[i] / p.size
            for i in range(d):
                mixed = p[i if p.size == d else 0]
                expected += cost[i] * ((1.0 - mixed) * corner[i] + mixed * y_hat[i])
                residual = scale * (y_hat[i] - truth[i])
                squares += residual * residual
                inner += residual * scores[i]
                size += abs(theta[i])
            expected = max(0.0, expected)
            surrogate = scale * loss(theta, params, truth, y_hat)
            squares *= squared_size
            tolerance = 1e-12 * scale * (1.0 + params[0]) * (1.0 + size)
            if not -tolerance <= surrogate < math.inf or not admits(rule, squares):
                return t
            rows[t, TARGET] = affine_loss(cost, constant, corner)  # until something else is drawn
            rows[t, EXPECTED], rows[t, SURROGATE], rows[t, P] = expected, max(0.0, surrogate), mean_p

            weights[MASS] += times * factor  # W_t enters the average
            step = amount(rule, squares, factor * inner, rows[t, SURROGATE], expected) / factor
            if step != 0.0:
                for i in range(d):
                    theta[i] = step * scale * (y_hat[i] - truth[i])
                mass = weights[MASS]
                for j in range(first, last):
                    if values[j] != 0.0:
                        column = j - first if dense else columns[j]
                        for i in range(d):
                            core[i, column] += values[j] * theta[i]
                            residue[i, column] -= mass * (values[j] * theta[i])  # mass·core + residue stays
                weights[UPDATES] += 1.0
                if setup[BALL] < math.inf:
                    shrink(core, residue, weights, setup[BALL], 2.0 * step * inner + step * step * squares)
        return index.size

    return learn_rounds


def make_predict_row(predict: Function, nearest: Function) -> Function:
    """Return the function that finds the output nearest to ŷ of one input, unless the input is refused."""

    def predict_row(core, times, x, setup, params, work, y_hat, corner):  # type: ignore[no-untyped-def]
        scores, theta = work
        squared_size = 0.0
        for j in range(x.size):
            squared_size += x[j] * x[j]
        if not squared_size <= setup[LARGEST_SQUARE]:
            return False
        for i in range(theta.size):
            scores[i] = 0.0
        for j in range(x.size):
            if x[j] != 0.0:
                for i in range(theta.size):
                    scores[i] += x[j] * core[i, j]
        for i in range(theta.size):
            theta[i] = times * scores[i]
        predict(theta, params, y_hat)
        nearest(y_hat, params, corner)
        return True

    return predict_row


def make_draw_rounds(draw: Function, sample: Function) -> Function:
    """Return the function that draws what is played in rounds that were learned from, and what that costs."""

    def draw_rounds(laws, index, feedback, params, rng, played, rows):  # type: ignore[no-untyped-def]
        y_hats, corners, ps = laws
        _, costs, constants = feedback
        for t in range(len(rows)):
            draw(sample, y_hats[t], corners[t], ps[t], params, rng, played)
            rows[t, TARGET] = affine_loss(costs[index[t]], constants[index[t]], played)

    return draw_rounds


def draw_whole(sample: Function, y_hat: Any, corner: Any, p: Any, params: Any, rng: Any, played: Any) -> None:
    """Draw as `DecodingLaw.sample` does."""
    if p[0] <= 0.0 or rng.random() >= p[0]:
        for i in range(played.size):  # a loop: numba takes seconds to compile the assignment of a slice
            played[i] = corner[i]
    else:
        sample(y_hat, params, rng, played)


def draw_coordinates(
    sample: Function, y_hat: Any, corner: Any, p: Any, params: Any, rng: Any, played: Any
) -> None:
    """Draw as `BlockwiseLaw.sample` does on blocks of one coordinate."""
    # First a coin for every coordinate, then one more for those that are randomised.
    for i in range(played.size):
        played[i] = rng.random()
    for i in range(played.size):
        if played[i] < p[i]:
            played[i] = 1.0 if rng.random() < y_hat[i] else 0.0
        else:
            played[i] = corner[i]


def shrink(core: Any, residue: Any, weights: Any, radius: float, growth: float) -> None:
    """Follow ‖core‖² after a step, and project on the ball; see `LazyWeights`."""
    weights[SQUARED_NORM] = max(0.0, weights[SQUARED_NORM] + growth)
    norm = abs(weights[FACTOR]) * math.sqrt(weights[SQUARED_NORM])
    shorter = weights[FACTOR] * min(1.0, radius / norm) if norm > 0.0 else weights[FACTOR]
    if shorter < SMALLEST_FACTOR or weights[UPDATES] % NORM_REFRESH == 0:
        # Write the factor and the sum out where digits would be lost, and compute the norm afresh.
        weights[SQUARED_NORM] = 0.0
        for j in range(core.shape[1]):
            for i in range(core.shape[0]):
                residue[i, j] += weights[MASS] * core[i, j]
                core[i, j] *= shorter
                weights[SQUARED_NORM] += core[i, j] * core[i, j]
        weights[FACTOR], weights[MASS] = 1.0, 0.0
    else:
        weights[FACTOR] = shorter
