"""`polytope`: a checked space from cvxpy constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from osp_core.errors import InvalidInputError, UnsupportedError
from osp_core.regularizers import Regularizer
from osp_core.spaces import OutputSpace
from osp_core.targets import AffineLoss
from osp_polytope.canonical import Family, StandardForm
from osp_polytope.conic import ConicSolver, check_solver
from osp_polytope.errors import InfeasibleError
from osp_polytope.examination import examine
from osp_polytope.examples import examples
from osp_polytope.integer_program import IntegerProgram
from osp_polytope.integer_space import IntegerHull, IntegerPolytope, ZeroOneHull
from osp_polytope.linear_program import LinearProgram
from osp_polytope.space import Polytope, ZeroOnePolytope
from osp_polytope.structure import has_integral_vertices, recognise_assignment


def polytope(
    constraints: Sequence[Any],
    variable: Any,
    *,
    solver: str = "highs",
    nu: float | None = None,
    target: AffineLoss | None = None,
    integral: bool | None = None,
    psi: Regularizer | None = None,
    norm: float | None = None,
) -> OutputSpace:
    """Make a space of the vertices of a polytope, or of the integer points in it.

    Parameters
    ----------
    constraints : list of cvxpy constraints
        Linear or piecewise linear. Variables other than `variable` are auxiliary: the space is the
        projection. cvxpy Parameters may occur; their present values are used, and `space.at({name: value})`
        gives others.
    variable : cvxpy.Variable
        What the outputs are read from, flattened in C order. One declared boolean or integer makes the
        outputs the integer points, found by branch and bound.
    solver : {"highs", "clarabel", "scs", "osqp"}
        Who computes predictions ŷ first. "highs": the Frank–Wolfe engine on HiGHS' vertices, and an
        interior-point method for entropies. The others solve a compiled cvxpy problem. Whoever it was, ŷ is
        made feasible and certified by the linear oracle, and vertices always come from HiGHS' simplex method.
    nu : float, optional
        ν in `norm`. Known for integral outputs, computed for polytopes of up to 8 dimensions; otherwise the
        space works without it, but its predictions carry no guarantee.
    target : AffineLoss, optional
        The usual target loss; the Hamming loss for 0/1 outputs otherwise.
    integral : bool, optional
        Whether all vertices of the linear constraints are integral. Recognised for network, transposed
        network and interval matrices; True asserts it, and an answer of the solver that contradicts it is an
        error.
    psi, norm
        As for every space.

    Returns
    -------
    ZeroOneHull, IntegerHull, ZeroOnePolytope, IntegerPolytope or Polytope

    Raises
    ------
    InfeasibleError, UnboundedError, NoVertexError, FreeVariableError, NotPolyhedralError, UnsetParameterError
        When the constraints do not describe a polytope; the message says which of them and what to do.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np, osp_core as osp
    >>> items = cp.Variable(3, boolean=True)
    >>> space = osp.make_space("polytope", constraints=[np.array([2, 3, 4]) @ items <= 5], variable=items)
    >>> space.lmo(np.array([-1.0, -1.0, -1.5])).tolist()
    [1.0, 1.0, 0.0]
    """
    check_solver(solver)
    if not isinstance(integral, bool | None):
        raise InvalidInputError(f"integral must be None, True or False, got {integral!r}.")
    family = Family(constraints, variable)
    return _build(
        family.instance(),
        family.shape,
        integral,
        solver,
        family=family,
        nu=nu,
        target=target,
        psi=psi,
        norm=norm,
    )


polytope.examples = examples  # type: ignore[attr-defined]


def make_like(space: Polytope, form: StandardForm) -> Polytope:
    """A space with the same options over other matrices: a context, or a mask."""
    return _build(
        form,
        space.shape,
        space.integral,
        space.solver,
        nu=space.given_nu,
        target=space.given_target,
        psi=space.psi,
        norm=space.norm,
    )


def forbid(form: StandardForm, coordinates: Any) -> StandardForm:
    """The same set with these entries of the variable fixed at zero."""
    if form.column_of is None:
        raise UnsupportedError(
            "Coordinates can be forbidden only where every entry of the variable is a column."
        )
    low, high = form.low.copy(), form.high.copy()
    columns = form.column_of[np.asarray(coordinates, dtype=np.intp)]
    if (low[columns] > 0).any() or (high[columns] < 0).any():
        raise InfeasibleError("A forbidden entry cannot be zero: its bounds exclude it.")
    low[columns] = high[columns] = 0.0
    return replace(form, low=low, high=high)


def _build(
    form: StandardForm,
    shape: tuple[int, ...],
    integral: bool | None,
    solver: str,
    *,
    family: Family | None = None,
    **options: Any,
) -> Polytope:
    program = _program(form, integral)
    examine(form, shape, program, family)
    integer = isinstance(program, IntegerProgram)
    kind: type[Polytope] = Polytope
    if integer or program.integral or (integral is None and has_integral_vertices(form)):
        kinds = (IntegerHull, ZeroOneHull) if integer else (IntegerPolytope, ZeroOnePolytope)
        kind = kinds[int(_is_zero_one(form, program))]
    if integer and solver != "highs":
        raise InvalidInputError(
            f"solver={solver!r} cannot predict over integer points, whose hull no constraint describes; "
            "use solver='highs'."
        )
    conic = None if solver == "highs" else ConicSolver(form, solver)
    return kind(program, shape, integral=integral, family=family, conic=conic, **options)


def _program(form: StandardForm, integral: bool | None) -> LinearProgram | IntegerProgram:
    if not form.integer.any():
        if integral is None and (assignment := recognise_assignment(form)) is not None:
            return assignment
        return LinearProgram(form, integral=bool(integral))
    if form.column_of is None or not form.integer[form.column_of].all():
        raise InvalidInputError(
            "An auxiliary variable is boolean or integer, but the variable itself is not. Declare it too: "
            "cp.Variable(…, boolean=True) or integer=True."
        )
    return IntegerProgram(form)


def _is_zero_one(form: StandardForm, program: LinearProgram | IntegerProgram) -> bool:
    """Whether all outputs are in [0, 1]; the solver is asked where the bounds do not say it."""
    if form.column_of is None:
        doubtful = np.arange(form.dim)
    else:
        low, high = form.low[form.column_of], form.high[form.column_of]
        doubtful = np.flatnonzero((low < 0) | (high > 1))
    oracle = program.relaxation if isinstance(program, IntegerProgram) else program
    for index in doubtful:
        axis = np.zeros(form.dim)
        axis[index] = 1.0
        if oracle.minimize(axis)[index] < 0 or oracle.minimize(-axis)[index] > 1:
            return False
    return True
