"""What is wrong with a set of constraints is said at once, each fault in its own words."""

import cvxpy as cp
import numpy as np
import pytest
from osp_polytope import (
    FreeVariableError,
    InfeasibleError,
    NotPolyhedralError,
    NoVertexError,
    SolverError,
    UnboundedError,
    UnsetParameterError,
    polytope,
)

import osp_core as osp


@pytest.fixture
def y():
    return cp.Variable(3, name="y")


def test_a_contradiction_names_the_constraints_that_cause_it(y):
    with pytest.raises(InfeasibleError) as caught:
        polytope([y >= 0, y <= 5, cp.sum(y) <= 1, y[0] >= 2], y)
    message = str(caught.value)
    assert "2.0 <= y[0]" in message
    assert "Sum(y" in message
    assert "5.0" not in message


def test_bounds_that_cross_are_infeasible():
    y = cp.Variable(2, nonneg=True)
    with pytest.raises(InfeasibleError, match=r"contradict|lower bound"):
        polytope([y <= -1], y)


def test_a_set_without_integer_points_is_not_mistaken_for_a_contradiction():
    y = cp.Variable(2, integer=True)
    with pytest.raises(InfeasibleError, match="No integer point"):
        polytope([y >= 0.2, y <= 0.8], y)


def test_an_unbounded_set_names_the_entries_that_run_off(y):
    with pytest.raises(UnboundedError, match="Entry 2 of the variable can run off upwards"):
        polytope([y >= 0, y[:2] <= 1], y)


def test_entries_of_a_matrix_are_named_by_row_and_column():
    y = cp.Variable((2, 2))
    with pytest.raises(UnboundedError, match=r"Entry \(1, 0\)"):
        polytope([y >= 0, y[0] <= 1, y[1, 1] <= 1], y)


def test_a_line_has_no_vertex(y):
    with pytest.raises(NoVertexError, match="contains a line"):
        polytope([cp.sum(y) == 1, y[0] >= 0, y[0] <= 1], y)


def test_entries_in_no_constraint_are_free(y):
    with pytest.raises(FreeVariableError, match="Entry 1 of the variable occur"):
        polytope([y[0] >= 0, y[0] <= 1, y[2] == 1], y)


def test_auxiliary_variables_may_be_unbounded(y):
    slack = cp.Variable()
    space = polytope([y >= 0, cp.sum(y) == 1, slack >= y[0]], y)
    assert space.is_vertex([0.0, 1.0, 0.0])


@pytest.mark.parametrize("ball", [cp.norm2, cp.sum_squares])
def test_an_ellipsoid_is_no_polytope(y, ball):
    with pytest.raises(NotPolyhedralError, match="not piecewise linear"):
        polytope([ball(y) <= 1], y)


def test_semidefinite_cones_are_no_polytopes():
    y = cp.Variable((2, 2), symmetric=True)
    with pytest.raises(NotPolyhedralError):
        polytope([y >> 0, cp.trace(y) == 1], y)
    z = cp.Variable((2, 2), PSD=True)
    with pytest.raises(NotPolyhedralError, match="PSD"):
        polytope([cp.trace(z) == 1], z)


def test_a_constraint_that_is_not_convex_is_refused(y):
    with pytest.raises(NotPolyhedralError, match="not convex"):
        polytope([cp.norm1(y) >= 1, y <= 1, y >= -1], y)


def test_a_parameter_without_value_is_named(y):
    capacity = cp.Parameter(name="capacity")
    with pytest.raises(UnsetParameterError, match="'capacity' has no value"):
        polytope([y >= 0, cp.sum(y) <= capacity], y)


def test_an_empty_interior_is_fine(y):
    space = polytope([y[0] == 1 / 3, y[1:] >= 0, cp.sum(y) == 1], y)
    assert space.vertices().tolist() == [[1 / 3, 0, 2 / 3], [1 / 3, 2 / 3, 0]]
    assert space.predict(np.array([5.0, 1.0, 1.0])).point == pytest.approx([1 / 3] * 3)


def test_a_single_point_is_fine(y):
    space = polytope([y == np.array([1.0, 2.0, 3.0])], y)
    assert space.lmo(np.ones(3)).tolist() == [1, 2, 3]
    assert space.predict(np.zeros(3)).point.tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["gurobi", "", None])
def test_an_unknown_solver_is_refused(y, name):
    with pytest.raises(osp.InvalidInputError, match="There is no solver"):
        polytope([y >= 0, y <= 1], y, solver=name)


def test_a_missing_solver_says_what_to_install(y, monkeypatch):
    monkeypatch.setattr("osp_polytope.conic.importlib.util.find_spec", lambda name: None)
    with pytest.raises(osp.MissingDependencyError, match="pip install scs"):
        polytope([y >= 0, y <= 1], y, solver="scs")


def test_a_solver_that_fails_says_so(y, monkeypatch):
    space = polytope([y >= 0, y <= 1], y)

    def give_up(*_):
        raise SolverError("HiGHS gave up: time limit.")

    monkeypatch.setattr(type(space.program._model), "solve", give_up)
    with pytest.raises(SolverError, match="gave up"):
        space.lmo(np.ones(3))


def test_conic_solvers_cannot_see_integer_hulls():
    y = cp.Variable(2, boolean=True)
    with pytest.raises(osp.InvalidInputError, match="solver='highs'"):
        polytope([cp.sum(y) <= 1], y, solver="clarabel")


def test_osqp_refuses_entropies():
    y = cp.Variable(2, nonneg=True)
    space = polytope([cp.sum(y) == 1], y, solver="osqp", psi=osp.NegativeEntropy(1.0))
    with pytest.raises(osp.InvalidInputError, match="quadratic problems only"):
        space.predict(np.ones(2))


def test_entropies_refuse_negative_outputs(y):
    space = polytope([cp.norm1(y) <= 1], y, psi=osp.NegativeEntropy(1.0))
    with pytest.raises(osp.InvalidInputError, match="entries ≥ 0"):
        space.predict(np.ones(3))


@pytest.mark.parametrize(
    ("constraints", "variable", "message"),
    [
        (3, cp.Variable(2), "list of cvxpy constraints"),
        ([True], cp.Variable(2), "cvxpy constraints such as"),
        ([], "y", "must be the cvxpy Variable"),
        ([], cp.Variable(2, complex=True), "must be real"),
    ],
)
def test_arguments_of_another_kind_are_refused(constraints, variable, message):
    with pytest.raises(osp.InvalidInputError, match=message):
        polytope(constraints, variable)


def test_integer_auxiliary_variables_need_an_integer_variable(y):
    switch = cp.Variable(boolean=True)
    with pytest.raises(osp.InvalidInputError, match="Declare it too"):
        polytope([y >= 0, y <= switch], y)


def test_an_integrality_that_does_not_hold_is_found(y):
    space = polytope([y >= 0, y <= 1, cp.sum(y) <= 1.5], y, integral=True)
    with pytest.raises(osp.OracleError, match="integral=True was asserted"):
        space.lmo(-np.array([3.0, 2.0, 1.0]))


def test_all_errors_are_ours():
    for error in (InfeasibleError, NotPolyhedralError, SolverError, UnboundedError, UnsetParameterError):
        assert issubclass(error, osp.OspError)
