"""The round of [SBTO24, Algorithm 2] and the loop over rounds, with the functions of their parts left open.

What is made here is plain Python within what numba can compile. A round is judged before anything is changed:
one that is refused leaves all as it was, and the general code, which takes it up, says what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from osp_core.compiled.functions import affine, affine_loss
from osp_core.compiled.layout import (
    BALL,
    CORNER,
    EXPECTED,
    LARGEST_SQUARE,
    NU,
    ORDER,
    PARAMS,
    SCALE,
    SURROGATE,
    TARGET,
    Y_HAT,
    P,
)
from osp_core.compiled.linear_kernel import (
    add_up,
    add_up_active,
    are_columns,
    move,
    move_active,
    prefetch,
    squared_norm,
)
from osp_core.errors import LARGEST
from osp_core.learners.columns import FACTOR, MASS, PAST, SQUARED_NORM, UPDATES, settle_columns
from osp_core.learners.weights import NORM_REFRESH, SMALLEST_FACTOR, WORTH
from osp_core.regularizers.arithmetic import ROUNDING

Function = Callable[..., Any]


def make_learn_rounds(parts: Sequence[Function]) -> Function:
    """Return the function that judges rounds and learns from them; see `assemble` for its parts.

    It stops at the first round that is refused, and returns how many it took. What to play is drawn later, by
    `make_draw_rounds`: nothing that is learned depends on it. `layout.ARGUMENTS` says what its arguments are.
    """
    predict, loss, nearest, decode, amount, multiplier, admits = parts

    def learn_rounds(  # type: ignore[no-untyped-def]
        memory,
        behind,
        epochs,
        weights,
        rule,
        setup,
        work,
        starts,
        columns,
        values,
        index,
        revealed,
        points,
        ps,
        rows,
    ):
        d, dense = points.shape[2], columns.size == 0
        scores, theta, change = work[:d], work[d : 2 * d], work[2 * d :]
        mean = change[:d]  # of what is played; there is no change before the round is judged
        params, scale = setup[PARAMS:], setup[SCALE]
        flat = memory.reshape(memory.shape[0], 2 * d)  # a column is its core, then its residue
        if not dense:
            for j in range(starts[0], starts[1]):
                prefetch(memory, columns[j])
        for t in range(index.size):
            first, last = starts[t], starts[t + 1]
            label = revealed[index[t]]
            truth, cost, constant = label[:d], label[d : 2 * d], label[2 * d]
            y_hat, corner, p = points[Y_HAT, t], points[CORNER, t], ps[t]

            squared_size = squared_norm(values, first, last)
            if not squared_size <= setup[LARGEST_SQUARE]:
                return t
            if not dense and not are_columns(columns, first, last, memory.shape[0]):
                return t
            if dense:
                if weights[PAST] > 0.0:
                    settle_columns(memory, behind, epochs, weights)
                add_up(flat, values[first:last], scores)
            else:
                add_up_active(flat, columns, values, first, last, behind, epochs, int(weights[PAST]), scores)
            times, factor = multiplier(rule), weights[FACTOR]
            size = 0.0
            for i in range(d):
                theta[i] = times * factor * scores[i]
                size += abs(theta[i])
            if not size <= LARGEST:
                return t
            predict(theta, params, y_hat)
            nearest(y_hat, params, corner)
            decode(y_hat, corner, setup[NU], setup[ORDER], p, mean)

            expected, squares, inner, sum_p = affine(cost, constant, mean), 0.0, 0.0, 0.0
            for i in range(p.size):
                sum_p += p[i]
            for i in range(d):
                residual = scale * (y_hat[i] - truth[i])
                squares += residual * residual
                inner += residual * scores[i]
            surrogate = scale * loss(theta, params, truth, y_hat)
            squares *= squared_size
            # Beyond rounding at its least, the general code judges what is rounding.
            if not -ROUNDING * scale <= surrogate < math.inf or not abs(expected) < math.inf:
                return t
            if not admits(rule, squares):
                return t
            expected = max(0.0, expected)
            rows[t, TARGET] = affine_loss(cost, constant, corner)  # until something else is drawn
            rows[t, EXPECTED], rows[t, SURROGATE], rows[t, P] = expected, max(0.0, surrogate), sum_p / p.size

            weights[MASS] += times * factor  # W_t enters the average
            step = amount(rule, squares, factor * inner, rows[t, SURROGATE], expected) / factor
            if step != 0.0:
                for i in range(d):
                    change[i] = step * scale * (y_hat[i] - truth[i])
                    change[d + i] = -weights[MASS] * change[i]  # mass·core + residue stays
                if dense:
                    move(flat, values[first:last], change)
                else:
                    move_active(flat, columns, values, first, last, change)
                if setup[BALL] < math.inf:
                    growth = 2.0 * step * inner + step * step * squares
                    share = (last - first) / memory.shape[0]
                    shrink(memory, behind, epochs, weights, setup[BALL], growth, share)
        return index.size

    return learn_rounds


def make_predict_row(predict: Function, nearest: Function) -> Function:
    """Return the function that finds the output nearest to ŷ of one input, unless the input is refused."""

    def predict_row(memory, times, x, setup, work, y_hat, corner):  # type: ignore[no-untyped-def]
        d, params = y_hat.size, setup[PARAMS:]
        scores, theta = work[:d], work[d : 2 * d]
        if not squared_norm(x, 0, x.size) <= setup[LARGEST_SQUARE]:
            return False
        add_up(memory.reshape(memory.shape[0], 2 * d), x, scores)
        size = 0.0
        for i in range(d):
            theta[i] = times * scores[i]
            size += abs(theta[i])
        if not size <= LARGEST:
            return False
        predict(theta, params, y_hat)
        nearest(y_hat, params, corner)
        return True

    return predict_row


def make_draw_rounds(draw: Function, sample: Function) -> Function:
    """Return the function that draws what is played in rounds that were learned from, and what that costs."""

    def draw_rounds(points, ps, index, revealed, setup, rng, played, rows):  # type: ignore[no-untyped-def]
        d, params = played.size, setup[PARAMS:]
        for t in range(len(rows)):
            label = revealed[index[t]]
            draw(sample, points[Y_HAT, t], points[CORNER, t], ps[t], params, rng, played)
            rows[t, TARGET] = affine_loss(label[d : 2 * d], label[2 * d], played)

    return draw_rounds


def shrink(
    memory: Any, behind: Any, epochs: Any, weights: Any, radius: float, growth: float, share: float
) -> None:
    """Follow ‖core‖² after a step that touched a share of the columns, and project on the ball.

    The factor becomes part of the past where digits would be lost; see `LazyWeights`.
    """
    weights[SQUARED_NORM] = max(0.0, weights[SQUARED_NORM] + growth)
    weights[UPDATES] += min(1.0, WORTH * share)
    if weights[UPDATES] >= NORM_REFRESH:
        settle_columns(memory, behind, epochs, weights)
        weights[SQUARED_NORM], weights[UPDATES] = 0.0, 0.0
        for j in range(memory.shape[0]):
            for i in range(memory.shape[2]):
                weights[SQUARED_NORM] += memory[j, 0, i] * memory[j, 0, i]
    norm = abs(weights[FACTOR]) * math.sqrt(weights[SQUARED_NORM])
    if norm > radius:
        weights[FACTOR] *= radius / norm
    if weights[FACTOR] < SMALLEST_FACTOR:
        past = int(weights[PAST])
        epochs[past, 0], epochs[past, 1] = weights[FACTOR], weights[MASS]
        weights[SQUARED_NORM] *= weights[FACTOR] * weights[FACTOR]
        weights[FACTOR], weights[MASS], weights[PAST] = 1.0, 0.0, past + 1.0
        if past + 1 == epochs.shape[0]:
            settle_columns(memory, behind, epochs, weights)
