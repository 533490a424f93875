"""Linear programs as oracles: a vertex for every cost, the same one every time, verified to be one."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from osp_core.errors import Array, OracleError
from osp_polytope.canonical import StandardForm
from osp_polytope.errors import SolverError
from osp_polytope.highs import Basic, linear_model
from osp_polytope.snapping import snap

_NOISE = 1e-14  # reduced costs below this, relative to the costs they come from, are rounding
_CLEAR = 100.0  # reduced costs this many times smaller or larger than the noise are surely ties, or none
_FEASIBLE = 1e-7  # what an answer may miss the constraints by before it is snapped
_DENSE = 4_000_000  # entries up to which dense linear algebra is used to verify and refine


class LinearProgram:
    """The vertices of {Mx + m : Ax = b, low ≤ x ≤ high}.

    A call costs one solve from the last basis. Where the cheapest face is more than a vertex, a second solve
    finds the vertex of that face which a fixed generic cost prefers: it is a vertex of the outputs even when
    auxiliary columns exist, and does not depend on earlier calls. Where rounding hides whether there is a
    tie, the last basis would decide: such a cost is solved again from scratch.

    Parameters
    ----------
    form : StandardForm
    integral : bool
        Refuse vertices that are not integral.

    Attributes
    ----------
    calls : int
        How often a cost was minimised.
    """

    def __init__(self, form: StandardForm, *, integral: bool = False) -> None:
        self.form, self.integral = form, integral
        self.calls = 0
        self._verified: set[bytes] = set()

    def __getstate__(self) -> dict[str, object]:
        return {
            name: value for name, value in vars(self).items() if name != "_model"
        }  # a solver cannot be copied

    def describe(self) -> str:
        """A few words for messages."""
        return f"linear program with {len(self.form.rhs)} constraints"

    @cached_property
    def _model(self):  # type: ignore[no-untyped-def]
        return linear_model(self.form)

    @cached_property
    def _generic(self) -> Array:
        return self.form.lift_cost(np.random.default_rng(20240).uniform(0.5, 1.5, self.form.dim))

    def minimize(self, cost: Array) -> Array:
        """Return the vertex of least cost."""
        self.calls += 1
        lifted = self.form.lift_cost(cost)
        size = float(np.abs(lifted).max(initial=0.0))
        lifted = lifted / size if size > 0 else lifted
        answer, reduced, noise = self._optimum(lifted)
        if self._is_doubtful(answer, reduced, noise):
            self._model.restart()
            answer, reduced, noise = self._optimum(lifted)
        if self._is_tied(answer, reduced, noise):
            answer = self._model.solve(self._generic, self._face(answer.x, reduced, noise))
        return self._output(answer)

    def columns(self, cost: Array, bounds: tuple[Array, Array] | None = None) -> Array:
        """Minimise a cost of the columns, between other bounds; for questions of feasibility."""
        return self._model.solve(cost, bounds).x

    def _optimum(self, cost: Array) -> tuple[Basic, Array, float]:
        """Solve, and refine until the answer is optimal to rounding, not to the solver's tolerance."""
        current, scale = cost, 1.0
        for _ in range(4):
            answer = self._model.solve(current)
            # Costs may be replaced by reduced costs: on Ax = b they differ by a constant.
            reduced = current - self.form.column_sums(answer.multipliers)
            largest = float(np.abs(answer.multipliers).max(initial=0.0))
            noise = _NOISE * (float(np.abs(current).max(initial=0.0)) + largest * self._column_size)
            # What a tie is must not depend on how often the answer was refined.
            noise = max(noise, scale * self._least_noise)
            wrong = self._wrong_sign(answer.x, reduced)
            if wrong <= noise:
                return answer, reduced / scale, noise / scale
            scale *= 1e-3 / wrong
            current = np.clip(reduced * (1e-3 / wrong), -1e6, 1e6)
        raise SolverError("HiGHS returned no optimal vertex. Rescale the constraints to coefficients near 1.")

    def _wrong_sign(self, x: Array, reduced: Array) -> float:
        """The largest reduced cost that could still be lowered by moving a column."""
        form = self.form
        can_grow, can_shrink = x < form.high - _FEASIBLE, x > form.low + _FEASIBLE
        down, up = -reduced[can_grow], reduced[can_shrink]
        return max(float(down.max(initial=0.0)), float(up.max(initial=0.0)))

    @cached_property
    def _column_size(self) -> float:
        return float(abs(self.form.matrix).sum(axis=0).max()) if self.form.matrix.nnz else 1.0

    @cached_property
    def _least_noise(self) -> float:
        """The noise of a cost of size 1 whose multipliers have size 1."""
        return _NOISE * (1.0 + self._column_size)

    def _is_doubtful(self, answer: Basic, reduced: Array, noise: float) -> bool:
        """Whether a reduced cost is neither surely zero nor surely not: another basis may tell otherwise."""
        sizes = np.abs(reduced)
        doubtful = (sizes > noise / _CLEAR) & (sizes < noise * _CLEAR)
        return bool((doubtful if answer.basic is None else doubtful & ~answer.basic).any())

    def _is_tied(self, answer: Basic, reduced: Array, noise: float) -> bool:
        """Whether another point may cost the same: a column outside the basis has reduced cost zero."""
        flat = (np.abs(reduced) <= noise) & (self.form.low < self.form.high)
        if answer.basic is not None:
            return bool((flat & ~answer.basic).any())
        return not self._independent(flat)

    def _face(self, x: Array, reduced: Array, noise: float) -> tuple[Array, Array]:
        """Bounds of the cheapest face: columns with a price stay where they are."""
        fixed = np.abs(reduced) > noise
        nearest = np.where(x - self.form.low <= self.form.high - x, self.form.low, self.form.high)
        return np.where(fixed, nearest, self.form.low), np.where(fixed, nearest, self.form.high)

    def _output(self, answer: Basic) -> Array:
        x = answer.x
        if self.form.violation(x) > _FEASIBLE * (1.0 + float(np.abs(x).max(initial=0.0))):
            raise SolverError("HiGHS returned a point outside the set. Rescale the constraints.")
        y = self._read(x)
        if y.tobytes() not in self._verified:
            x = self._refined(x)
            y = self._read(x)
            if self.integral and not np.array_equal(y, np.round(y)):
                raise OracleError(
                    f"integral=True was asserted, but {np.array2string(y, threshold=12)} is a vertex. Leave "
                    "integral "
                    "out, or declare the variable boolean=True or integer=True for the integer points only."
                )
            if len(self._verified) < 100_000:
                self._verified.add(y.tobytes())
        return y

    def _read(self, x: Array) -> Array:
        return snap(self.form.read(x))

    def _refined(self, x: Array) -> Array:
        """Verify that x is basic, and solve for its free columns again to full precision."""
        form = self.form
        free = (x > form.low + _FEASIBLE) & (x < form.high - _FEASIBLE)
        if len(form.rhs) * int(free.sum()) > _DENSE:
            return x  # too large to verify independently; the simplex method returns basic solutions only
        if not self._independent(free):
            raise SolverError("HiGHS returned a point that is no vertex of the set.")
        exact = np.where(free, 0.0, np.where(x - form.low <= form.high - x, form.low, form.high))
        if free.any():
            columns = form.matrix[:, free].toarray()
            exact[free] = np.linalg.lstsq(columns, form.rhs - form.matrix @ exact, rcond=None)[0]
        return exact if np.abs(exact - x).max(initial=0.0) <= 1e-6 * (1.0 + np.abs(x).max(initial=0.0)) else x

    def _independent(self, chosen: Array) -> bool:
        """Whether the chosen columns are linearly independent: then they determine the point."""
        count = int(chosen.sum())
        if count == 0:
            return True
        if count > len(self.form.rhs):
            return False
        return int(np.linalg.matrix_rank(self.form.matrix[:, chosen].toarray())) == count

    def is_basic(self, y: Array) -> bool | None:
        """Whether y is a vertex; None where auxiliary columns leave it open."""
        x = self.form.lift(y)
        if x is None:
            return None
        if self.form.violation(x) > 1e-8 * (1.0 + float(np.abs(x).max(initial=0.0))):
            return False
        return self._independent((x > self.form.low + _FEASIBLE) & (x < self.form.high - _FEASIBLE))

    def feasible(self, y: Array) -> bool:
        """Whether y is in the set."""
        x = self.form.lift(y)
        if x is not None:
            return self.form.violation(x) <= 1e-9 * (1.0 + float(np.abs(x).max(initial=0.0)))
        return feasible_with(self, y)


def feasible_with(program, y: Array) -> bool:  # type: ignore[no-untyped-def]
    """Whether auxiliary columns can be found for y; needs outputs that are single columns."""
    from osp_polytope.errors import InfeasibleError

    form = program.form
    low, high = form.low.copy(), form.high.copy()
    if ((y < low[form.column_of] - 1e-9) | (y > high[form.column_of] + 1e-9)).any():
        return False
    low[form.column_of] = high[form.column_of] = y
    try:
        program.columns(np.zeros(len(low)), (low, high))
    except InfeasibleError:
        return False
    return True
