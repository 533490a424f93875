"""Constants, shapes, contexts, masks, solvers and counts of spaces made of constraints."""

import copy
import pickle

import cvxpy as cp
import numpy as np
import pytest
from osp_polytope import highs, polytope
from osp_polytope.integer_space import IntegerHull, IntegerPolytope, ZeroOneHull
from osp_polytope.space import Polytope, ZeroOnePolytope
from osp_polytope.structure import AssignmentProgram

import osp_core as osp
from osp_core.testing import ConformanceError, check_space


def matchings(n, **options):
    y = cp.Variable((n, n), nonneg=True)
    return polytope([cp.sum(y, axis=0) == 1, cp.sum(y, axis=1) == 1], y, **options)


def halves(**options):
    """A triangle's edges: at most one per corner, so (½, ½, ½) is a vertex."""
    y = cp.Variable(3, nonneg=True)
    return polytope([y[0] + y[1] <= 1, y[1] + y[2] <= 1, y[0] + y[2] <= 1], y, **options)


def test_kinds_are_recognised():
    units = cp.Variable(2, integer=True)
    flags = cp.Variable(2, boolean=True)
    wide = cp.Variable(2)
    assert type(matchings(3)) is ZeroOnePolytope
    assert type(halves()) is Polytope
    assert type(polytope([wide >= 0, wide <= 3], wide)) is IntegerPolytope
    assert type(polytope([units >= 0, units <= 3], units)) is IntegerHull
    assert type(polytope([units >= 0, units <= 1], units)) is ZeroOneHull
    assert type(polytope([cp.sum(flags) <= 1], flags)) is ZeroOneHull


def test_fractional_vertices_are_exact():
    space = halves()
    assert space.lmo(-np.ones(3)).tolist() == [0.5, 0.5, 0.5]
    assert len(space.vertices()) == 5
    assert space.is_vertex(np.array([0.5, 0.5, 0.5]))
    assert not space.is_vertex(np.array([0.5, 0.5, 0.0]))
    assert space.nu == pytest.approx(np.sqrt(0.75))


def test_irrational_vertices_are_rounded_to_a_grid():
    y = cp.Variable(2)
    space = polytope([y >= 0, y[0] + np.sqrt(2) * y[1] <= 1], y)
    top = space.lmo(np.array([0.0, -1.0]))
    assert top == pytest.approx([0, np.sqrt(0.5)], abs=1e-10)
    assert top.tobytes() == space.lmo(np.array([1.0, -7.0])).tobytes()


def test_costs_that_leave_a_choice_get_the_same_vertex_whatever_was_asked_before(rng):
    space, fresh = halves(), halves()
    flat = np.array([1.0, 0.0, 0.0])
    first = fresh.lmo(flat)
    for _ in range(20):
        space.lmo(rng.standard_normal(3))
        assert space.lmo(flat).tobytes() == first.tobytes()
        assert space.is_vertex(space.lmo(np.zeros(3)))


def test_costs_that_differ_by_rounding_get_the_same_vertex_whatever_was_asked_before(rng):
    y = cp.Variable(4, nonneg=True)
    space = polytope([cp.sum(y) == 1], y)
    assert not isinstance(space.program, AssignmentProgram)
    for _ in range(60):
        cost = 1.455 + rng.integers(-12, 12, 4) * 10.0 ** rng.uniform(-16, -11, 4)
        answers = set()
        for _ in range(6):
            space.lmo(rng.normal(size=4))
            answers.add(space.lmo(cost).tobytes())
        assert len(answers) == 1
        assert cost @ np.frombuffer(answers.pop()) <= cost.min() + 1e-12


def test_projections_have_vertices_too(rng):
    """The ℓ1 ball through auxiliary variables: a face of costs still gives a corner."""
    y = cp.Variable(3)
    space = polytope([cp.norm1(y) <= 2], y)
    corners = 2 * np.vstack([np.eye(3), -np.eye(3)])
    for cost in ([1.0, 1, 1], [0, 0, 0], [1, -1, 0], [0, 0, -1]):
        assert (space.lmo(np.array(cost)) == corners).all(axis=1).any()
    assert sorted(map(tuple, space.vertices())) == sorted(map(tuple, corners + 0.0))


def test_labels_have_the_shape_of_the_variable():
    space = matchings(3)
    swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    y = space.from_label(swap)
    assert y.tolist() == swap.reshape(-1).tolist()
    assert np.array_equal(space.to_label(y), swap)
    with pytest.raises(osp.NotAVertexError):
        space.from_label(np.ones((3, 3)))


def test_assignment_problems_are_recognised_and_solved_alike(rng):
    recognised, general = matchings(4), matchings(4, integral=True)
    assert isinstance(recognised.program, AssignmentProgram)
    assert not isinstance(general.program, AssignmentProgram)
    for _ in range(20):
        cost = rng.standard_normal(16)
        assert np.array_equal(recognised.lmo(cost), general.lmo(cost))


def test_more_columns_than_rows_and_missing_pairs_are_assignments_too(rng):
    y = cp.Variable((2, 4), nonneg=True)
    rules = [cp.sum(y, axis=1) == 1, cp.sum(y, axis=0) <= 1]
    recognised, general = polytope(rules, y), polytope(rules, y, integral=True)
    assert isinstance(recognised.program, AssignmentProgram)
    for _ in range(20):
        cost = rng.standard_normal(8)
        assert np.array_equal(recognised.lmo(cost), general.lmo(cost))


def test_scipy_serves_where_highspy_is_missing(rng, monkeypatch):
    with_highspy = [halves(), knapsack(12)]
    monkeypatch.setattr(highs.importlib.util, "find_spec", lambda name: None)
    without = [halves(), knapsack(12)]
    for mine, theirs in zip(with_highspy, without, strict=True):
        for _ in range(10):
            cost = rng.standard_normal(mine.dim)
            assert np.array_equal(mine.lmo(cost), theirs.lmo(cost))
        theta = rng.standard_normal(mine.dim)
        assert theirs.predict(theta).point == pytest.approx(mine.predict(theta).point, abs=1e-9)


@pytest.mark.parametrize("solver", ["clarabel", "scs", "osqp"])
def test_conic_solvers_predict_what_the_engine_predicts(solver, rng):
    conic, engine = halves(solver=solver), halves()
    for scale in (1e-8, 0.3, 1.0, 10.0, 1e8):
        theta = scale * rng.standard_normal(3)
        prediction = conic.predict(theta)
        assert prediction.point == pytest.approx(engine.predict(theta).point, abs=1e-7)
        assert prediction.gap <= 1e-8 * (1.0 + scale)


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize("psi", [osp.NegativeEntropy(1.0), osp.BinaryEntropy(0.5)])
def test_conic_solvers_predict_entropies_alike(solver, psi, rng):
    conic, own = halves(solver=solver, psi=psi), halves(psi=psi)
    for scale in (0.0, 1.0, 5.0):
        theta = scale * rng.standard_normal(3)
        assert conic.predict(theta).point == pytest.approx(own.predict(theta).point, abs=1e-7)


def test_entropies_reach_the_conic_optimum(rng):
    space = halves(psi=osp.NegativeEntropy(1.0))
    y, theta = cp.Variable(3, nonneg=True), rng.standard_normal(3)
    rules = [y[0] + y[1] <= 1, y[1] + y[2] <= 1, y[0] + y[2] <= 1]
    cp.Problem(cp.Maximize(theta @ y + cp.sum(cp.entr(y))), rules).solve(solver="CLARABEL")
    found = space.predict(theta)
    assert found.point == pytest.approx(y.value, abs=1e-3)  # the conic solver stops early
    values = [theta @ point - (point * np.log(point)).sum() for point in (found.point, y.value)]
    assert values[0] >= values[1] - 1e-7
    assert found.gap <= 1e-12


# --- constants ---------------------------------------------------------------------------------------


def test_without_nu_the_predictor_works_uncertified_and_says_so():
    y = cp.Variable(10, nonneg=True)
    rules = [np.arange(1.0, 11) @ y <= 4.3, cp.sum(y) <= 2.2, y <= 0.7]
    target = osp.AffineLoss(lambda y: np.zeros(10), lambda y: 0.0, gamma=1.0)
    space = polytope(rules, y, target=target)
    with pytest.raises(osp.MissingConstantError, match="give nu"):
        _ = space.nu
    predictor = osp.OnlinePredictor(space, 2, seed=0, learner=osp.OGD(step_size=0.1))
    record = predictor.step([0.6, 0.8], space.lmo(-np.ones(10)))
    assert not record.law.certified
    with pytest.raises(osp.GuaranteeError):
        predictor.guarantee()


def test_a_wrong_nu_is_found_by_the_kit():
    check_space(halves(nu=0.5))
    with pytest.raises(ConformanceError, match="nu = 1 is too large"):
        check_space(halves(nu=1.0))


def test_the_span_is_found_through_the_oracle():
    space = matchings(4)
    assert osp.mismatch.gamma(space) == pytest.approx(np.sqrt(3) / 4)


# --- contexts ----------------------------------------------------------------------------------------


@pytest.fixture
def shelf():
    capacity = cp.Parameter(name="capacity", value=9.0)
    items = cp.Variable(4, boolean=True)
    return polytope([np.array([3, 4, 5, 6]) @ items <= capacity], items)


def test_parameters_change_from_round_to_round_and_instances_are_kept(shelf):
    prefer_all = -np.ones(4)
    assert shelf.at({"capacity": 12}).lmo(prefer_all).sum() == 3
    assert shelf.at({"capacity": 3}).lmo(prefer_all).tolist() == [1, 0, 0, 0]
    assert shelf.at({"capacity": 12.0}) is shelf.at({"capacity": 12})
    assert shelf.at(None) is shelf
    assert shelf.lmo(prefer_all).sum() == 2  # the space itself is as it was


def test_contexts_flow_through_the_protocol(shelf, rng):
    predictor = osp.OnlinePredictor(shelf, 3, seed=0)
    for capacity in (9.0, 12.0, 6.0, 9.0):
        x = rng.standard_normal(3)
        y = shelf.at({"capacity": capacity}).lmo(rng.standard_normal(4))
        record = predictor.step(x / np.linalg.norm(x), y, context={"capacity": capacity})
        assert np.array([3, 4, 5, 6]) @ record.vertex <= capacity


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"size": 3}, "no parameter 'size'"),
        ({"capacity": [1, 2]}, "cannot be"),
        ({"capacity": -1}, "No|bound"),
        (5, "mapping"),
    ],
)
def test_bad_contexts_are_refused(shelf, context, message):
    with pytest.raises(osp.OspError, match=message):
        shelf.at(context)
    assert shelf.at({"capacity": 9}).dim == 4


def test_sets_without_parameters_take_no_context():
    with pytest.raises(osp.UnsupportedError):
        halves().at({"capacity": 1})


# --- masks, copies, counts ---------------------------------------------------------------------------


def test_masks_are_exact(rng):
    space = osp.masked(matchings(3), [0])
    assert all(space.lmo(cost)[0] == 0 for cost in rng.standard_normal((10, 9)))
    with pytest.raises(osp.InfeasibleMaskError):
        osp.masked(matchings(3), [0, 1, 2])
    assert osp.masked(knapsack(12), [3]).at([5]).lmo(-np.ones(12))[[3, 5]].sum() == 0


def test_spaces_can_be_copied_and_pickled(rng):
    for space in (halves(), matchings(3), knapsack(12)):
        cost = rng.standard_normal(space.dim)
        expected = space.lmo(cost)
        assert np.array_equal(copy.deepcopy(space.program).minimize(cost), expected)
        assert np.array_equal(pickle.loads(pickle.dumps(space.program)).minimize(cost), expected)
        assert np.array_equal(space.with_psi(osp.SquaredNorm(2.0)).lmo(cost), expected)


def knapsack(n, seed=0):
    weights = np.random.default_rng(seed).integers(5, 40, n)
    items = cp.Variable(n, boolean=True)
    return polytope([weights @ items <= int(weights.sum() // 3)], items)


def test_learning_a_knapsack_of_thirty_items_needs_few_branch_and_bounds(rng):
    space, teacher = knapsack(30), 2.0 * rng.standard_normal((30, 6))
    predictor = osp.OnlinePredictor(space, 6, seed=0)
    _ = predictor.certificate
    inputs = rng.standard_normal((60, 6))
    inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    outputs = [space.lmo(-(teacher @ x)) for x in inputs]
    calls, solves = space.oracle_calls, space.solves
    trace = osp.run(predictor, inputs, outputs)
    assert space.solves - solves <= 5 * 60
    assert space.oracle_calls - calls <= 5 * 60
    assert trace.gap.max() <= 1e-9
    assert predictor.guarantee().value > 0


def test_predictions_report_their_oracle_calls():
    space = knapsack(12)
    before = space.oracle_calls
    prediction = space.predict(np.full(12, 0.3))
    assert prediction.lmo_calls == space.oracle_calls - before >= 1
    assert space.predict(np.full(12, 0.3)).lmo_calls == 1  # the rest is remembered
