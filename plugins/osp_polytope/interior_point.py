"""A primal–dual interior-point method for entropies over {Ax = b, low ≤ x ≤ high}.

The Frank–Wolfe engine is slow on entropies with large scores, and conic solvers lose the small entries; this method
is neither. Its answer is certified from outside by one call of the linear oracle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from osp_polytope.entropies import SMALLEST, Entropy

from osp_core.errors import Array, NumericalError

_STEPS = 200
_CENTRED = 1e-17  # complementarity at which to stop, for costs of size 1


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

    def solve(self, weights: Array) -> Array:
        """Return the minimiser x."""
        # A common size for costs of all scales; the entropy is scaled down with them.
        size = max(1.0, float(np.abs(weights).max(initial=0.0)))
        state = _State(self, weights / size, 1.0 / size)
        for _ in range(_STEPS):
            if state.is_done():
                return state.x
            state.advance()
        if state.mu > 1e-12:
            raise NumericalError(
                "The interior-point method did not converge; use psi=SquaredNorm(), or scale the scores down."
            )
        return state.x


class _State:
    """An iterate: x, the multipliers of the rows and of the bounds."""

    def __init__(self, program: EntropicProgram, weights: Array, scale: float) -> None:
        self.program, self.weights, self.scale = program, weights, scale
        self.x = program.start.copy()
        self.rhs = program.matrix @ program.start
        self.rows = np.zeros(len(self.rhs))
        self.has_low, self.has_high = np.isfinite(program.low), np.isfinite(program.high)
        below, above = self._room()
        self.z_low = np.where(self.has_low, 1.0 / below, 0.0)
        self.z_high = np.where(self.has_high, 1.0 / above, 0.0)
        self.mu = 1.0
        self.idle = 0

    def _room(self) -> tuple[Array, Array]:
        program = self.program
        return np.where(self.has_low, self.x - program.low, 1.0), np.where(self.has_high, program.high - self.x, 1.0)

    def is_done(self) -> bool:
        return self.mu <= _CENTRED * max(self.scale, 1e-4) or self.idle >= 3

    def advance(self) -> None:
        """One Newton step towards the central path, with a tenth of the present complementarity."""
        program = self.program
        below, above = self._room()
        y, rest = program.read(self.x)
        slope = program.outputs.T @ (self.scale * program.entropy.slope(y, rest) - self.weights)
        mu = 0.1 * self.mu
        gradient = slope - np.where(self.has_low, mu / below, 0.0) + np.where(self.has_high, mu / above, 0.0)
        barrier = self.z_low / below + self.z_high / above
        step, self.rows = self._newton(self.scale * program.entropy.curvature(y, rest), barrier, gradient)
        move_low = np.where(self.has_low, (mu - self.z_low * step) / below - self.z_low, 0.0)
        move_high = np.where(self.has_high, (mu + self.z_high * step) / above - self.z_high, 0.0)
        primal = self._longest(step, below, above, y, rest)
        dual = min(_longest_positive(self.z_low, move_low), _longest_positive(self.z_high, move_high))
        self.x = self.x + primal * step
        self.z_low, self.z_high = self.z_low + dual * move_low, self.z_high + dual * move_high
        self._update_mu(primal, step)

    def _update_mu(self, primal: float, step: Array) -> None:
        below, above = self._room()
        count = max(1, int(self.has_low.sum() + self.has_high.sum()))
        before, self.mu = self.mu, float(self.z_low @ below + self.z_high @ above) / count
        # A long step that changes nothing, or a complementarity that no longer falls, is the end of float64.
        still = primal * float(np.abs(step).max(initial=0.0)) <= 1e-16 and primal > 0.5
        self.idle = self.idle + 1 if still or self.mu >= 0.999 * before else 0

    def _newton(self, curvature: Array, barrier: Array, gradient: Array) -> tuple[Array, Array]:
        program = self.program
        A, residual = program.matrix, self.rhs - program.matrix @ self.x
        if program.diagonal is not None:
            hessian = barrier.copy()
            hessian[program.diagonal] += curvature
            inverse = 1.0 / hessian
            schur = (A * inverse) @ A.T
            rows = _solve(schur, -residual - A @ (inverse * gradient))
            return -inverse * (gradient + A.T @ rows), rows
        hessian = (program.outputs.T * curvature) @ program.outputs + np.diag(barrier)
        m, n = A.shape
        system = np.block([[hessian, A.T], [A, np.zeros((m, m))]])
        solution = _solve(system, np.concatenate([-gradient, residual]))
        return solution[:n], solution[n:]

    def _longest(self, step: Array, below: Array, above: Array, y: Array, rest: Array) -> float:
        moves = self.program.outputs @ step
        length = min(
            _longest_positive(below[self.has_low], step[self.has_low]),
            _longest_positive(above[self.has_high], -step[self.has_high]),
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
    try:
        return np.asarray(size * np.linalg.solve(scaled, size * rhs))
    except np.linalg.LinAlgError:
        return np.asarray(size * np.linalg.lstsq(scaled, size * rhs, rcond=None)[0])
