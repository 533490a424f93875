"""Integer programs as oracles: the cheapest integer point, by branch and bound only where it must be."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_polytope.canonical import StandardForm
from osp_polytope.errors import SolverError
from osp_polytope.highs import integer_model
from osp_polytope.linear_program import LinearProgram, feasible_with
from osp_polytope.local_search import ImprovingCache

_WIDEST = 1000  # values an entry may take for its distances to be tabulated
_INTEGRAL = 1e-5  # HiGHS' integers are integers to this accuracy; what is returned is verified exactly


class IntegerProgram:
    """The integer points of {Mx + m : Ax = b, low ≤ x ≤ high}; auxiliary columns may be continuous.

    Attributes
    ----------
    calls : int
        How often a cost was minimised.
    solves : int
        How many of these calls needed branch and bound: the others ended with the linear relaxation.
    cache : ImprovingCache
        The points found so far, for the Frank–Wolfe engine.
    """

    def __init__(self, form: StandardForm) -> None:
        self.form = form
        self.calls = self.solves = 0
        self.relaxation = LinearProgram(form.relaxed())
        self.cache = ImprovingCache(form, self.relaxation.minimize)

    def __getstate__(self) -> dict[str, object]:
        return {
            name: value for name, value in vars(self).items() if name != "_model"
        }  # a solver cannot be copied

    @cached_property
    def _model(self):  # type: ignore[no-untyped-def]
        return integer_model(self.form)

    def minimize(self, cost: Array) -> Array:
        """Return the integer point of least cost."""
        self.calls += 1
        relaxed = self.relaxation.minimize(cost)
        # An integral vertex of the relaxation is the answer, unless hidden columns would have to be integral
        # too.
        if np.array_equal(relaxed, np.round(relaxed)) and not self._hides_integers:
            return relaxed
        self.solves += 1
        lifted = self.form.lift_cost(cost)
        size = float(np.abs(lifted).max(initial=0.0))
        return self._output(self._model.solve(lifted / size if size > 0 else lifted))

    def _output(self, x: Array) -> Array:
        y = self.form.read(x)
        rounded = np.round(y) + 0.0
        if np.abs(y - rounded).max(initial=0.0) > _INTEGRAL * (1.0 + np.abs(y).max(initial=0.0)):
            raise SolverError("HiGHS returned a point that is not integral. Rescale the constraints.")
        exact = self.form.lift(rounded)
        if exact is not None and self.form.violation(exact) > 1e-6 * (1.0 + np.abs(exact).max(initial=0.0)):
            raise SolverError("HiGHS returned an integer point outside the set. Rescale the constraints.")
        return rounded

    def describe(self) -> str:
        """A few words for messages."""
        return f"integer program with {len(self.form.rhs)} constraints"

    @cached_property
    def _hides_integers(self) -> bool:
        return bool((self.form.hidden & self.form.integer).any())

    def nearest(self, point: Array, p: float) -> Array:
        """Return the integer point nearest to `point` in ℓp, p < ∞, by a larger integer program.

        |yᵢ − pointᵢ|^p is replaced by the piecewise linear function that agrees with it at the integers.
        """
        self.solves += 1
        form, breaks = _with_distances(self.form, point, min(p, 1e6))
        cost = np.zeros(len(form.low))
        cost[breaks] = 1.0
        return self._output(integer_model(form).solve(cost)[: len(self.form.low)])

    def columns(self, cost: Array, bounds: tuple[Array, Array] | None = None) -> Array:
        """Minimise a cost of the columns, between other bounds; for questions of feasibility."""
        low, high = bounds if bounds is not None else (self.form.low, self.form.high)
        if (self.form.integer & (low < high)).any():
            self.solves += 1
            return self._model.solve(cost, (low, high))
        return self.relaxation.columns(cost, (low, high))

    def feasible(self, y: Array) -> bool:
        """Whether y is one of the integer points."""
        if not np.array_equal(y, np.round(y)):
            return False
        x = self.form.lift(y)
        if x is not None:
            return self.form.violation(x) <= 1e-8 * (1.0 + float(np.abs(x).max(initial=0.0)))
        return feasible_with(self, y)


def _with_distances(form: StandardForm, point: Array, p: float) -> tuple[StandardForm, Array]:
    """Append a column tᵢ ≥ |yᵢ − pointᵢ|^p, exact at integers, for every output; its rows get slacks."""
    from scipy import sparse

    columns = form.column_of
    if columns is None:
        raise UnsupportedError("The nearest point needs a variable whose entries are plain columns.")
    low, high = form.low[columns], form.high[columns]
    if not np.isfinite(high - low).all() or (high - low).max() > _WIDEST:
        raise UnsupportedError(
            f"The nearest integer point needs bounds at most {_WIDEST} apart on every entry."
        )
    width, dim = len(form.low), len(columns)
    rows, rhs = [], []
    for i in range(dim):
        values = np.arange(low[i], high[i] + 1)
        heights = np.abs(values - point[i]) ** p
        slopes = np.diff(heights) if len(values) > 1 else np.zeros(1)
        for value, height, slope in zip(values, heights, slopes, strict=False):
            # slope·y − t ≤ slope·value − height: above the chord through two neighbouring integers
            rows.append(({int(columns[i]): slope, width + i: -1.0}, slope * value - height))
    matrix = sparse.lil_array((len(rows), width + dim + len(rows)))
    for number, (entries, bound) in enumerate(rows):
        for column, value in entries.items():
            matrix[number, column] = value
        matrix[number, width + dim + number] = 1.0
        rhs.append(bound)
    wide = sparse.hstack([form.matrix, sparse.csc_array((len(form.rhs), dim + len(rows)))])
    extended = StandardForm(
        sparse.csc_array(sparse.vstack([wide, matrix])),
        np.concatenate([form.rhs, rhs]),
        np.concatenate([form.low, np.full(dim, -np.inf), np.zeros(len(rows))]),
        np.concatenate([form.high, np.full(dim + len(rows), np.inf)]),
        np.concatenate([form.integer, np.zeros(dim + len(rows), dtype=bool)]),
        sparse.hstack([form.outputs, sparse.csr_array((dim, dim + len(rows)))], format="csr"),
        form.offset,
    )
    return extended, np.arange(width, width + dim)
