"""HiGHS through highspy, kept between calls with its last basis; or through scipy without highspy."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from osp_core.errors import Array
from osp_polytope.canonical import StandardForm
from osp_polytope.errors import InfeasibleError, SolverError, UnboundedError

_TOLERANCE = 1e-10  # the least HiGHS accepts


@dataclass(frozen=True, eq=False)
class Basic:
    """A basic optimal solution: columns x, row multipliers π, and which columns are basic, if told."""

    x: Array
    multipliers: Array
    basic: Any


class LinearModel(Protocol):
    """Minimises linear costs over the columns of a standard form, optionally between other bounds."""

    def solve(self, cost: Array, bounds: tuple[Array, Array] | None = None) -> Basic: ...

    def restart(self) -> None:
        """Forget earlier calls: the next answer depends on its cost alone."""


def linear_model(form: StandardForm) -> LinearModel:
    """The best linear solver that is installed."""
    return HighspyModel(form) if importlib.util.find_spec("highspy") else ScipyModel(form)


def integer_model(form: StandardForm) -> HighspyIntegerModel | ScipyIntegerModel:
    """The best integer solver that is installed."""
    return HighspyIntegerModel(form) if importlib.util.find_spec("highspy") else ScipyIntegerModel(form)


class HighspyModel:
    """A model that lives in HiGHS: a call changes the costs and continues from the last basis."""

    def __init__(self, form: StandardForm) -> None:
        self.form = form
        self._highs = _load(form, _SIMPLEX)
        self._columns = np.arange(len(form.low), dtype=np.int32)

    def solve(self, cost: Array, bounds: tuple[Array, Array] | None = None) -> Basic:
        try:
            self._run(cost, bounds)
        except SolverError:
            # A basis that went numerically bad is no reason to give up: once more from scratch.
            self._highs = _load(self.form, _SIMPLEX)
            self._run(cost, bounds)
        solution = self._highs.getSolution()
        basic = _basic_columns(self._highs, len(self._columns))
        answer = Basic(np.array(solution.col_value), np.array(solution.row_dual), basic)
        if bounds is not None:
            self._highs.changeColsBounds(len(self._columns), self._columns, self.form.low, self.form.high)
        return answer

    def restart(self) -> None:
        self._highs.clearSolver()

    def _run(self, cost: Array, bounds: tuple[Array, Array] | None) -> None:
        highs, count = self._highs, len(self._columns)
        highs.changeColsCost(count, self._columns, cost)
        if bounds is not None:
            highs.changeColsBounds(count, self._columns, *bounds)
        highs.run()
        try:
            _require_optimal(highs)
        except (InfeasibleError, UnboundedError):
            if bounds is not None:
                highs.changeColsBounds(count, self._columns, self.form.low, self.form.high)
            raise


class HighspyIntegerModel:
    """Branch and bound in HiGHS. Every call starts afresh, so that equal costs give equal answers."""

    def __init__(self, form: StandardForm) -> None:
        self.form = form
        self._highs = _load(form, _BRANCH_AND_BOUND)
        self._columns = np.arange(len(form.low), dtype=np.int32)

    def solve(self, cost: Array, bounds: tuple[Array, Array] | None = None) -> Array:
        highs, count = self._highs, len(self._columns)
        highs.clearSolver()
        highs.changeColsCost(count, self._columns, cost)
        if bounds is not None:
            highs.changeColsBounds(count, self._columns, *bounds)
        try:
            highs.run()
            _require_optimal(highs)
            return np.array(highs.getSolution().col_value)
        finally:
            if bounds is not None:
                highs.changeColsBounds(count, self._columns, self.form.low, self.form.high)


class ScipyModel:
    """scipy.optimize.linprog with HiGHS' dual simplex: the same answers, from scratch every time."""

    def __init__(self, form: StandardForm) -> None:
        self.form = form

    def solve(self, cost: Array, bounds: tuple[Array, Array] | None = None) -> Basic:
        from scipy.optimize import linprog

        low, high = bounds or (self.form.low, self.form.high)
        tolerances = {"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE}
        answer = linprog(
            cost,
            A_eq=self.form.matrix,
            b_eq=self.form.rhs,
            bounds=np.column_stack([low, high]),
            method="highs-ds",
            options=tolerances,
        )
        if answer.status != 0:
            raise _error(answer.message, infeasible=answer.status == 2, unbounded=answer.status == 3)
        return Basic(np.asarray(answer.x), np.asarray(answer.eqlin.marginals), None)

    def restart(self) -> None:
        pass  # every call starts from scratch


class ScipyIntegerModel:
    """scipy.optimize.milp."""

    def __init__(self, form: StandardForm) -> None:
        self.form = form

    def solve(self, cost: Array, bounds: tuple[Array, Array] | None = None) -> Array:
        from scipy.optimize import Bounds, LinearConstraint, milp

        form = self.form
        low, high = bounds or (form.low, form.high)
        rows = LinearConstraint(form.matrix, form.rhs, form.rhs) if len(form.rhs) else ()
        answer = milp(
            cost,
            integrality=form.integer.astype(int),
            bounds=Bounds(low, high),
            constraints=rows,
            options={"mip_rel_gap": 0.0},
        )
        if answer.status != 0 or answer.x is None:
            raise _error(answer.message, infeasible=answer.status == 2, unbounded=answer.status == 3)
        return np.asarray(answer.x)


# A basis stays feasible when only costs change, so the primal method continues where it stood.
_SIMPLEX = {
    "solver": "simplex",
    "simplex_strategy": 4,
    "presolve": "off",
    "primal_feasibility_tolerance": _TOLERANCE,
    "dual_feasibility_tolerance": _TOLERANCE,
}
_BRANCH_AND_BOUND = {
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": 1e-9,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


def _load(form: StandardForm, options: dict[str, Any]) -> Any:
    import highspy

    highs = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "random_seed": 0, **options}.items():
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise SolverError(f"This version of highspy does not take the option {name} = {value!r}.")
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(form.low), len(form.rhs)
    model.col_cost_ = np.zeros(len(form.low))
    model.col_lower_, model.col_upper_ = form.low, form.high
    model.row_lower_ = model.row_upper_ = form.rhs
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = form.matrix.indptr, form.matrix.indices
    model.a_matrix_.value_ = form.matrix.data
    if form.integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[int(flag)] for flag in form.integer]
    if highs.passModel(model) == highspy.HighsStatus.kError:
        raise SolverError("HiGHS refused the model; are there very large or very small coefficients?")
    return highs


def _basic_columns(highs: Any, count: int) -> Any:
    if not hasattr(highs, "getBasicVariables"):  # before highspy 1.8: slower
        import highspy

        return np.array([status == highspy.HighsBasisStatus.kBasic for status in highs.getBasis().col_status])
    variables = np.asarray(highs.getBasicVariables()[1])
    basic = np.zeros(count, dtype=bool)
    basic[variables[variables >= 0]] = True
    return basic


def _is_optimal(highs: Any) -> bool:
    import highspy

    return bool(highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def _require_optimal(highs: Any) -> None:
    import highspy

    if _is_optimal(highs):
        return
    status = highs.getModelStatus()
    kinds = highspy.HighsModelStatus
    raise _error(
        highs.modelStatusToString(status),
        infeasible=status == kinds.kInfeasible,
        unbounded=status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible),
    )


def _error(message: str, *, infeasible: bool, unbounded: bool) -> Exception:
    if infeasible:
        return InfeasibleError("No point satisfies the constraints: they contradict one another.")
    if unbounded:
        return UnboundedError("The set is unbounded: a linear cost falls forever on it.")
    return SolverError(f"HiGHS gave up: {message}. Rescale the constraints so that coefficients are near 1.")
