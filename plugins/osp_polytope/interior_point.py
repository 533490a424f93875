"""A primal–dual interior-point method for entropies over {Ax = b, low ≤ x ≤ high}.

The Frank–Wolfe engine is slow on entropies with large scores, and conic solvers lose the small entries; this
method is neither. Its answer is certified from outside by one call of the linear oracle.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array, NumericalError
from osp_polytope.entropies import SMALLEST, Entropy

_EPSILON = float(np.finfo(np.float64).eps)
_OPTIMAL = 1e-16  # an error in the objective below rounding
_PROGRESS = 0.5  # a lack below this share of an earlier one is progress; falling like 1/n is not
_PATIENCE = 25  # steps in a row without progress
_RESTORATIONS = 2  # after a step; the second mends the rounding of the first
_STEPS = 400  # an answer that takes more is stated with the gap it has


@dataclass(frozen=True, eq=False)
class EntropicProgram:
    """min Σ φ(yᵢ) − ⟨w, y⟩ over y = Mx + offset, Ax = b, low ≤ x ≤ high.

    Attributes
    ----------
    matrix, outputs : arrays
        A, with independent rows, and M; dense.
    low, high : arrays
        Every x has room between them.
    start : array
        A point with Ax = b strictly between the bounds, whose outputs are inside the domain of the entropy.
    rest : (array, array) or None
        C and c with 1 − y = Cx + c, where that is known better than by subtraction.
    diagonal : array or None
        The column behind each output where M only selects columns: the Hessian is then diagonal.
    """

    matrix: Array
    outputs: Array
    offset: Array
    low: Array
    high: Array
    start: Array
    entropy: Entropy
    diagonal: Any = None
    rest: tuple[Array, Array] | None = None

    def read(self, x: Array) -> tuple[Array, Array]:
        """The outputs y and 1 − y, both at least tiny."""
        y = np.maximum(self.outputs @ x + self.offset, SMALLEST)
        rest = 1.0 - y if self.rest is None else self.rest[0] @ x + self.rest[1]
        return y, np.maximum(rest, 1e-17 if self.rest is None else SMALLEST)

    def solve(self, weights: Array) -> tuple[Array, Array, Array]:
        """Return the minimiser x, its outputs y, and 1 − y with its small values."""
        # A common size for costs of all scales; the entropy is scaled down with them.
        size = max(1.0, float(np.abs(weights).max(initial=0.0)))
        state = _State(self, weights / size, 1.0 / size)
        best, least, mark, since = state.copy(), np.inf, np.inf, 0
        # Near a vertex the curvature overflows; a step that this spoils is never the best one.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            for _ in range(_STEPS):
                if since == _PATIENCE or least <= _OPTIMAL / size or not state.advance():
                    break
                # Near the end rounding can throw the iterates back: the best one counts.
                lack, since = state.suboptimality(), since + 1
                if lack < least:
                    best, least = state.copy(), lack
                if lack < _PROGRESS * mark:
                    mark, since = lack, 0
            best.restore()
        if least > 1e-9:
            raise NumericalError(
                "The interior-point method did not converge; use psi=SquaredNorm(), or scale the scores down."
            )
        return best.answer()


class _State:
    """An iterate: x and the multipliers of the bounds."""

    def __init__(self, program: EntropicProgram, weights: Array, scale: float) -> None:
        self.program, self.weights, self.scale = program, weights, scale
        self.x = program.start.copy()
        self.rhs = program.matrix @ program.start
        self._rounding = 4.0 * _EPSILON * (np.abs(program.matrix) @ np.abs(self.x) + np.abs(self.rhs))
        self.has_low, self.has_high = np.isfinite(program.low), np.isfinite(program.high)
        # The distances from the bounds are kept on their own: they may be far smaller than x can tell.
        self.below = np.where(self.has_low, self.x - program.low, 1.0)
        self.above = np.where(self.has_high, program.high - self.x, 1.0)
        self.z_low = np.where(self.has_low, 1.0 / self.below, 0.0)
        self.z_high = np.where(self.has_high, 1.0 / self.above, 0.0)
        self.mu = 1.0

    def answer(self) -> tuple[Array, Array, Array]:
        """x, y and 1 − y."""
        return self.x, *self._outputs()

    def copy(self) -> _State:
        """The iterate as it is now: steps replace its arrays, none changes in place."""
        return copy(self)

    def _outputs(self) -> tuple[Array, Array]:
        program, columns = self.program, self.program.diagonal
        y, rest = program.read(self.x)
        if columns is not None:
            y = np.where(program.low[columns] + program.offset == 0.0, self.below[columns], y)
            rest = np.where(program.high[columns] + program.offset == 1.0, self.above[columns], rest)
        return y, rest

    def suboptimality(self) -> float:
        """How much better another point between the bounds can be, by the best multipliers of the rows."""
        program = self.program
        y, rest = self._outputs()
        slope = program.outputs.T @ (self.scale * program.entropy.slope(y, rest) - self.weights)
        below, above = self.below, self.above
        # Columns with room on both sides should have no price: the multipliers that achieve it best.
        weight = np.minimum(np.minimum(below, above), 1.0)
        rows = np.linalg.lstsq((program.matrix * weight).T, -weight * slope, rcond=None)[0]
        price = slope + program.matrix.T @ rows
        gain = np.maximum(price * below, -price * above)
        miss = float(np.abs(self.rhs - program.matrix @ self.x).sum()) if len(self.rhs) else 0.0
        return float(gain.sum()) + 10.0 * max(0.0, miss - float(self._rounding.sum()))

    def advance(self) -> bool:
        """One Newton step towards the central path, with a tenth of the present complementarity.

        False, with nothing changed, when there is no such step in floating point.
        """
        program = self.program
        below, above = self.below, self.above
        y, rest = self._outputs()
        slope = program.outputs.T @ (self.scale * program.entropy.slope(y, rest) - self.weights)
        mu = 0.1 * self.mu
        gradient = slope - np.where(self.has_low, mu / below, 0.0) + np.where(self.has_high, mu / above, 0.0)
        barrier = self.z_low / below + self.z_high / above
        step = self._newton(self.scale * program.entropy.curvature(y, rest), barrier, gradient)
        if not np.isfinite(step).all():
            return False
        move_low = np.where(self.has_low, (mu - self.z_low * step) / below - self.z_low, 0.0)
        move_high = np.where(self.has_high, (mu + self.z_high * step) / above - self.z_high, 0.0)
        primal = self._longest(step, y, rest)
        dual = min(_longest_positive(self.z_low, move_low), _longest_positive(self.z_high, move_high))
        self._move(step, primal)
        self.restore()
        self.z_low, self.z_high = self.z_low + dual * move_low, self.z_high + dual * move_high
        count = max(1, int(self.has_low.sum() + self.has_high.sum()))
        self.mu = float(self.z_low @ self.below + self.z_high @ self.above) / count
        return True

    def restore(self) -> None:
        """Put x back on Ax = b with the least relative changes, where it misses by more than rounding.

        Newton steps lose the directions in which only tiny entries can move; large scores would turn what x
        misses there into an error of the loss that no gap covers.
        """
        A = self.program.matrix
        for _ in range(_RESTORATIONS):
            missed = self.rhs - A @ self.x
            if (np.abs(missed) <= self._rounding).all():
                return
            room = np.minimum(np.minimum(self.below, self.above), 1.0)
            step = room * np.linalg.lstsq(A * room, missed, rcond=None)[0]
            if not np.isfinite(step).all():
                return
            self._move(step, self._longest(step, *self._outputs()))

    def _move(self, step: Array, length: float) -> None:
        self.x = self.x + length * step
        self.below = np.where(self.has_low, self.below + length * step, 1.0)
        self.above = np.where(self.has_high, self.above - length * step, 1.0)

    def _newton(self, curvature: Array, barrier: Array, gradient: Array) -> Array:
        program = self.program
        A, residual = program.matrix, self.rhs - program.matrix @ self.x
        if program.diagonal is None:
            return self._augmented(curvature, barrier, gradient, residual)
        hessian = barrier.copy()
        hessian[program.diagonal] += curvature
        inverse = 1.0 / hessian
        schur = (A * inverse) @ A.T
        rows = _solve(schur, -residual - A @ (inverse * gradient))
        step = -inverse * (gradient + A.T @ rows)
        for _ in range(2):  # columns that hardly cost anything magnify rounding: put them back on Ax = b
            step += inverse * (A.T @ _solve(schur, residual - A @ step))
        return step

    def _augmented(self, curvature: Array, barrier: Array, gradient: Array, residual: Array) -> Array:
        """The same step with the curvature of the outputs as a block of its own: it may be very large."""
        A, M = self.program.matrix, self.program.outputs
        (m, n), d = A.shape, len(M)
        system = np.zeros((n + d + m, n + d + m))
        system[:n, :n] = np.diag(barrier)
        system[n : n + d, :n], system[:n, n : n + d] = M, M.T
        system[n : n + d, n : n + d] = -np.diag(1.0 / curvature)
        system[n + d :, :n], system[:n, n + d :] = A, A.T
        rhs = np.concatenate([-gradient, np.zeros(d), residual])
        solution = _solve(system, rhs)
        for _ in range(2):
            solution += _solve(system, rhs - system @ solution)
        return solution[:n]

    def _longest(self, step: Array, y: Array, rest: Array) -> float:
        moves = self.program.outputs @ step
        length = min(
            _longest_positive(self.below[self.has_low], step[self.has_low]),
            _longest_positive(self.above[self.has_high], -step[self.has_high]),
            _longest_positive(y, moves),
        )
        if self.program.entropy.binary:
            length = min(length, _longest_positive(rest, -moves))
        return length


def _longest_positive(values: Array, moves: Array) -> float:
    """The longest step up to 1 that keeps positive values positive, with a margin."""
    shrinking = moves < 0
    if not shrinking.any():
        return 1.0
    return min(1.0, 0.995 * float((values[shrinking] / -moves[shrinking]).min()))


def _solve(matrix: Array, rhs: Array) -> Array:
    if not len(rhs):
        return rhs
    # Rows and columns of very different size are usual near the end: scale before solving.
    size = np.sqrt(np.abs(np.diag(matrix)))
    size = 1.0 / np.where(size > 0, size, 1.0)
    scaled = matrix * size * size[:, np.newaxis]
    if not np.isfinite(scaled).all():
        return np.full(len(rhs), np.nan)
    try:
        return np.asarray(size * np.linalg.solve(scaled, size * rhs))
    except np.linalg.LinAlgError:
        return np.asarray(size * np.linalg.lstsq(scaled, size * rhs, rcond=None)[0])
