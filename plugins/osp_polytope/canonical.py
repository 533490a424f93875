"""From cvxpy constraints to matrices: {y = Mx + m : Ax = b, low ≤ x ≤ high}, some x integer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_polytope.errors import InfeasibleError, NotPolyhedralError, UnsetParameterError

_SMALL = 100_000  # entries of a matrix that is kept dense
_INTEGRAL = 1e-9  # bounds of integer columns are rounded inwards, but for rounding


@dataclass(frozen=True, eq=False)
class StandardForm:
    """A polyhedron in columns x, seen through the outputs y = M x + offset.

    Slack columns are part of x, so every row is an equation. `matrix` is a scipy.sparse CSC array,
    `outputs` (M) a CSR array.
    """

    matrix: Any
    rhs: Array
    low: Array
    high: Array
    integer: Any
    outputs: Any
    offset: Array
    n_slacks: int = 0

    @property
    def dim(self) -> int:
        """The number of entries of the variable."""
        return int(self.outputs.shape[0])

    @cached_property
    def column_of(self) -> Any:
        """The column that holds each entry of the variable; None where an entry is more than a column."""
        single = np.diff(self.outputs.indptr) == 1
        plain = single.all() and (self.outputs.data == 1.0).all() and not self.offset.any()
        return self.outputs.indices.copy() if plain else None

    @cached_property
    def hidden(self) -> Any:
        """Columns that the variable does not determine: those of auxiliary variables."""
        if self.column_of is None:
            return np.ones(len(self.low), dtype=bool)
        hidden = np.ones(len(self.low), dtype=bool)
        hidden[self.column_of] = False
        hidden[len(self.low) - self.n_slacks :] = False
        return hidden

    @cached_property
    def _rows(self) -> Any:
        """The matrix in the form whose products are fastest: dense while it is small."""
        return self.matrix.toarray() if np.prod(self.matrix.shape) <= _SMALL else self.matrix.tocsr()

    @cached_property
    def _columns(self) -> Any:
        return self._rows.T if isinstance(self._rows, np.ndarray) else self.matrix.T.tocsr()

    @cached_property
    def _is_selection(self) -> bool:
        return self.column_of is not None and len(np.unique(self.column_of)) == len(self.column_of)

    def row_sums(self, x: Array) -> Array:
        """Ax."""
        return np.asarray(self._rows @ x)

    def column_sums(self, multipliers: Array) -> Array:
        """Aᵀπ."""
        return np.asarray(self._columns @ multipliers)

    def read(self, x: Array) -> Array:
        """The outputs of columns x."""
        return x[self.column_of] if self.column_of is not None else self.outputs @ x + self.offset

    def lift_cost(self, cost: Array) -> Array:
        """The cost of the columns for a cost of the outputs."""
        if not self._is_selection:
            return np.asarray(self.outputs.T @ cost)
        lifted = np.zeros(len(self.low))
        lifted[self.column_of] = cost
        return lifted

    def lift(self, y: Array) -> Array | None:
        """The columns of an output; None when auxiliary columns leave it open."""
        if self.hidden.any():
            return None
        x = np.zeros(len(self.low))
        x[self.column_of] = y
        start = len(self.low) - self.n_slacks
        if self.n_slacks:
            # The last rows are the inequalities, one slack each.
            inequalities = slice(len(self.rhs) - self.n_slacks, None)
            x[start:] = (self.rhs - self.row_sums(x))[inequalities]
        return x

    def violation(self, x: Array) -> float:
        """By how much x misses the equations and the bounds."""
        bounds = max(float((self.low - x).max(initial=0.0)), float((x - self.high).max(initial=0.0)))
        return max(bounds, float(np.abs(self.row_sums(x) - self.rhs).max(initial=0.0)))

    def relaxed(self) -> StandardForm:
        """The same without integrality."""
        return replace(self, integer=np.zeros(len(self.low), dtype=bool))


class Family:
    """cvxpy constraints compiled once; `instance` puts values of the parameters in."""

    def __init__(self, constraints: Sequence[Any], variable: Any) -> None:
        import cvxpy as cp

        self.constraints = _as_constraints(constraints)
        if not isinstance(variable, cp.Variable):
            raise InvalidInputError(
                "variable must be the cvxpy Variable the outputs are read from, got "
                f"{type(variable).__name__}."
            )
        if variable.is_complex() or not variable.size:
            raise InvalidInputError(f"variable must be real and have at least one entry, got {variable!r}.")
        self.variable = variable
        self.shape = tuple(variable.shape)
        for constraint in self.constraints:
            _require_polyhedral(constraint)
        self._flat = cp.Variable(variable.size)
        reading = self._flat == cp.reshape(variable, (variable.size,), order="C")
        self._problem = cp.Problem(cp.Minimize(cp.sum(self._flat)), [*self.constraints, reading])
        self.parameters = {parameter.name(): parameter for parameter in self._problem.parameters()}

    def instance(self, values: Mapping[str, Any] | None = None) -> StandardForm:
        """The matrices, with these parameters at other values than they have now."""
        with self._values(values or {}):
            return _standard_form(*self._data())

    def _data(self) -> tuple[dict[str, Any], int]:
        import cvxpy as cp

        unset = [name for name, parameter in self.parameters.items() if parameter.value is None]
        if unset:
            raise UnsetParameterError(
                f"The cvxpy Parameter {unset[0]!r} has no value. Set parameter.value = … before making the "
                "space; "
                "other values can be given round by round through space.at({name: value})."
            )
        data, *_ = self._problem.get_problem_data(cp.SCIPY)
        return data, int(data["param_prob"].var_id_to_col[self._flat.id])

    @contextlib.contextmanager
    def _values(self, values: Mapping[str, Any]) -> Iterator[None]:
        unknown = [name for name in values if name not in self.parameters]
        if unknown:
            known = ", ".join(map(repr, self.parameters)) or "none"
            raise InvalidInputError(
                f"There is no parameter {unknown[0]!r} in the constraints; there are: {known}."
            )
        before = {name: self.parameters[name].value for name in values}
        try:
            for name, value in values.items():
                try:
                    self.parameters[name].value = value
                except (ValueError, TypeError) as error:
                    raise InvalidInputError(f"Parameter {name!r} cannot be {value!r}: {error}") from error
            yield
        finally:
            for name, value in before.items():
                self.parameters[name].value = value


def _as_constraints(constraints: Any) -> list[Any]:
    from cvxpy.constraints.constraint import Constraint

    if isinstance(constraints, Constraint):
        constraints = [constraints]
    try:
        listed = list(constraints)
    except TypeError as error:
        raise InvalidInputError(
            f"constraints must be a list of cvxpy constraints, got {constraints!r}."
        ) from error
    wrong = [one for one in listed if not isinstance(one, Constraint)]
    if wrong:
        raise InvalidInputError(f"constraints must be cvxpy constraints such as x >= 0, got {wrong[0]!r}.")
    return listed


def _require_polyhedral(constraint: Any) -> None:
    from cvxpy.constraints import Equality, Inequality, NonNeg, NonPos, Zero

    shown = str(constraint) if len(str(constraint)) < 200 else str(constraint)[:200] + "…"
    if not constraint.is_dcp():
        raise NotPolyhedralError(f"The constraint {shown} is not convex by cvxpy's rules (DCP); rewrite it.")
    for variable in constraint.variables():
        curved = [name for name in ("PSD", "NSD", "hermitian", "complex") if variable.attributes.get(name)]
        if curved:
            raise NotPolyhedralError(f"The variable {variable.name()} is declared {curved[0]}: no polytope.")
    linear = isinstance(constraint, Equality | Inequality | NonNeg | NonPos | Zero)
    if not linear or not (isinstance(constraint, Equality | Zero) or constraint.expr.is_pwl()):
        raise NotPolyhedralError(
            f"The constraint {shown} is not piecewise linear, so the set is no polytope and has infinitely "
            "many "
            "extreme points. Replace it by linear ones, for instance cp.norm1 or cp.norm_inf for a Euclidean "
            "ball."
        )


def _standard_form(data: Mapping[str, Any], first: int) -> StandardForm:
    """Eliminate the copy of the variable, turn rows of one entry into bounds, add slacks."""
    from scipy import sparse

    width = len(data["c"])
    low, high = _column_bounds(data, width)
    integer = np.zeros(width, dtype=bool)
    integer[[*data["bool_vars_idx"], *data["int_vars_idx"]]] = True
    equal, upper = _rows(data["A"], data["b"], width), _rows(data["G"], data["h"], width)
    n_flat = _width_of(data, first)
    flat = np.zeros(width, dtype=bool)
    flat[first : first + n_flat] = True
    outputs, offset, equal = _read_outputs(equal, flat)
    equal = _absorb_bounds(equal, low, high, both=True)
    upper = _absorb_bounds(upper, low, high, both=False)
    keep = ~flat
    low, high, integer = low[keep], high[keep], integer[keep]
    if (low > high + 1e-9).any():
        raise InfeasibleError("No point satisfies the constraints: a lower bound is above an upper bound.")
    low[integer] = np.ceil(low[integer] - _INTEGRAL)
    high[integer] = np.floor(high[integer] + _INTEGRAL)
    if (low > high + 1e-9).any():
        raise InfeasibleError("No integer point satisfies the constraints: no integer is between two bounds.")
    high = np.maximum(low, high)
    equal_matrix, upper_matrix = equal[0][:, keep], upper[0][:, keep]
    n_slacks = upper_matrix.shape[0]
    slacks = sparse.vstack(
        [sparse.csr_array((equal_matrix.shape[0], n_slacks)), sparse.csr_array(sparse.identity(n_slacks))]
    )
    matrix = sparse.hstack([sparse.vstack([equal_matrix, upper_matrix]), slacks], format="csc")
    matrix.sort_indices()
    return StandardForm(
        matrix,
        np.concatenate([equal[1], upper[1]]) + 0.0,
        np.concatenate([low, np.zeros(n_slacks)]) + 0.0,
        np.concatenate([high, np.full(n_slacks, np.inf)]) + 0.0,
        np.concatenate([integer, np.zeros(n_slacks, dtype=bool)]),
        sparse.hstack([outputs[:, keep], sparse.csr_array((n_flat, n_slacks))], format="csr"),
        offset,
        n_slacks,
    )


def _width_of(data: Mapping[str, Any], first: int) -> int:
    later = [column for column in data["param_prob"].var_id_to_col.values() if column > first]
    return min(later, default=len(data["c"])) - first


def _column_bounds(data: Mapping[str, Any], width: int) -> tuple[Array, Array]:
    low, high = np.full(width, -np.inf), np.full(width, np.inf)
    # Older versions of cvxpy state bounds as rows.
    for bounds, combine in ((data.get("lower_bounds"), np.maximum), (data.get("upper_bounds"), np.minimum)):
        if bounds is not None:
            target = low if combine is np.maximum else high
            target[:] = combine(target, bounds)
    binary = list(data["bool_vars_idx"])
    low[binary], high[binary] = np.maximum(low[binary], 0.0), np.minimum(high[binary], 1.0)
    return low, high


def _rows(matrix: Any, rhs: Any, width: int) -> tuple[Any, Array]:
    from scipy import sparse

    if matrix is None:
        return sparse.csr_array((0, width)), np.zeros(0)
    rows = sparse.csr_array(matrix)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows, np.asarray(rhs, dtype=np.float64)


def _read_outputs(equal: tuple[Any, Array], flat: Any) -> tuple[Any, Array, tuple[Any, Array]]:
    """Take out the equations y = Mx + m that define the copy of the variable."""
    from scipy import sparse

    rows, rhs = equal
    copies = rows[:, flat]
    defining = np.diff(copies.indptr) == 1
    order = np.argsort(copies[defining].indices)
    factor = -1.0 / copies[defining].data[order]
    definition = rows[defining][order]
    outputs = sparse.csr_array(sparse.csr_array(sparse.diags(factor)) @ definition)
    return outputs, -factor * rhs[defining][order] + 0.0, (rows[~defining], rhs[~defining])


def _absorb_bounds(rows: tuple[Any, Array], low: Array, high: Array, *, both: bool) -> tuple[Any, Array]:
    """Move rows with one entry into the bounds, which cost the simplex method nothing; drop empty ones."""
    matrix, rhs = rows
    counts = np.diff(matrix.indptr)
    empty = counts == 0
    if (np.abs(rhs[empty]) > 1e-9).any() if both else (rhs[empty] < -1e-9).any():
        raise InfeasibleError(
            "No point satisfies the constraints: one of them is false whatever the variable is."
        )
    for row in np.flatnonzero(counts == 1):
        column, factor = matrix.indices[matrix.indptr[row]], matrix.data[matrix.indptr[row]]
        value = rhs[row] / factor
        if both or factor < 0:
            low[column] = max(low[column], value)
        if both or factor > 0:
            high[column] = min(high[column], value)
    return matrix[counts > 1], rhs[counts > 1]
