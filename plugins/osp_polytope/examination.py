"""What is wrong with a set, found before anybody learns over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError
from osp_polytope.canonical import Family, StandardForm
from osp_polytope.errors import FreeVariableError, InfeasibleError, NoVertexError, UnboundedError
from osp_polytope.highs import linear_model

_MOST_EXPLAINED = 25  # constraints among which a contradiction is looked for


def examine(form: StandardForm, shape: tuple[int, ...], program: Any, family: Family | None = None) -> None:
    """Raise the error that says what is wrong: free entries, contradictions, lines, or unboundedness."""
    _refuse_free_entries(form, shape)
    try:
        linear_model(form.relaxed()).solve(np.zeros(len(form.low)))
    except InfeasibleError as error:
        raise InfeasibleError(_contradiction(family)) from error
    _refuse_unbounded(form, shape)
    if form.integer.any():
        try:
            program.minimize(np.zeros(form.dim))
        except InfeasibleError as error:
            raise InfeasibleError(
                "No integer point satisfies the constraints, although fractional ones do. Loosen the "
                "constraints, "
                "or drop boolean=True / integer=True."
            ) from error


def _refuse_free_entries(form: StandardForm, shape: tuple[int, ...]) -> None:
    if form.column_of is None:
        return
    unused = np.diff(form.matrix[:, form.column_of].tocsc().indptr) == 0
    unused &= np.isinf(form.low[form.column_of]) & np.isinf(form.high[form.column_of])
    if unused.any():
        raise FreeVariableError(
            f"{_entries(np.flatnonzero(unused), shape)} of the variable occur in no constraint, so they can "
            "be "
            "anything. Bound them, or leave them out of the variable."
        )


def _refuse_unbounded(form: StandardForm, shape: tuple[int, ...]) -> None:
    plain = form.column_of is not None
    if plain and np.isfinite(form.low[form.column_of]).all() and np.isfinite(form.high[form.column_of]).all():
        return
    # A direction of the set that moves the outputs is seen by a generic cost, with probability one.
    bounded_below, bounded_above = np.isfinite(form.low), np.isfinite(form.high)
    anchored = bounded_below | bounded_above
    line = _direction(form, np.where(anchored, 0.0, -1.0), np.where(anchored, 0.0, 1.0))
    if line is not None:
        raise NoVertexError(
            f"The set contains a line, so it has no vertex: {_entries(np.flatnonzero(line), shape)} of the "
            "variable "
            "can be shifted forever in both directions. Bound them."
        )
    ray = _direction(form, np.where(bounded_below, 0.0, -1.0), np.where(bounded_above, 0.0, 1.0))
    if ray is not None:
        moving = np.flatnonzero(ray)
        ways = "upwards" if (ray[moving] > 0).all() else "downwards" if (ray[moving] < 0).all() else "forever"
        raise UnboundedError(
            f"The set is unbounded: {_entries(moving, shape)} of the variable can run off {ways}. Add "
            "bounds, for "
            "instance variable <= 1."
        )


def _direction(form: StandardForm, low: Array, high: Array) -> Array | None:
    """A direction d with Ad = 0 within these bounds that moves the outputs."""
    cone = replace(form.relaxed(), rhs=np.zeros(len(form.rhs)), low=low, high=high)
    generic = np.random.default_rng(7).standard_normal(form.dim)
    model = linear_model(cone)
    for cost in (generic, -generic):
        moved = form.outputs @ model.solve(form.lift_cost(cost)).x
        if float(cost @ moved) < -1e-7:
            return np.where(np.abs(moved) > 1e-7, moved, 0.0)
    return None


def _entries(indices: Array, shape: tuple[int, ...], most: int = 5) -> str:
    names = [
        str(tuple(int(i) for i in np.unravel_index(int(index), shape)) if len(shape) > 1 else int(index))
        for index in indices[:most]
    ]
    rest = f" and {len(indices) - most} more" if len(indices) > most else ""
    return f"{'Entry' if len(indices) == 1 else 'Entries'} {', '.join(names)}{rest}"


def _contradiction(family: Family | None) -> str:
    """Name a smallest set of constraints that contradict one another, found by leaving out one at a time."""
    message = "No point satisfies the constraints"
    if family is None or len(family.constraints) > _MOST_EXPLAINED:
        return f"{message}: they contradict one another."
    culprits = list(family.constraints)
    for constraint in list(culprits):
        fewer = [one for one in culprits if one is not constraint]
        if not _is_feasible(fewer, family.variable):
            culprits = fewer
    shown = "; ".join(str(one) if len(str(one)) < 120 else str(one)[:120] + "…" for one in culprits)
    bounds = " together with the bounds in the declarations of the variables" if len(culprits) < 2 else ""
    return f"{message}. These contradict one another{bounds}: {shown or 'the declared bounds'}."


def _is_feasible(constraints: Sequence[Any], variable: Any) -> bool:
    try:
        form = Family(constraints, variable).instance().relaxed()
        linear_model(form).solve(np.zeros(len(form.low)))
    except InfeasibleError:
        return False
    except InvalidInputError:
        return True
    return True
