"""Every method reaches the same point, stops truthfully and never runs for ever."""

import numpy as np
import pytest

from osp_core.errors import InvalidInputError, OracleError
from osp_core.frank_wolfe import (
    AwayStep,
    Backtracking,
    BlendedPairwise,
    ExactStep,
    MinNormPoint,
    NearestExtremePoint,
    OpenLoop,
    Pairwise,
    Quadratic,
    SecantStep,
    ShortStep,
    Smooth,
    Status,
    Vanilla,
    minimize,
)

LINEAR = [MinNormPoint(), BlendedPairwise(), BlendedPairwise(lazy=False), Pairwise(), AwayStep()]
ALL = [*LINEAR, Vanilla(), NearestExtremePoint()]


def name(method):
    return type(method).__name__ + ("" if getattr(method, "lazy", True) else "-eager")


@pytest.mark.parametrize("method", LINEAR, ids=name)
@pytest.mark.parametrize("scale", [1e-3, 0.3, 10.0])
def test_linearly_convergent_methods_agree_with_the_bisection(fw, method, scale):
    for seed in range(3):
        centre = scale * np.random.default_rng(seed).normal(size=30)
        result = minimize(fw.k_subsets(7), Quadratic(centre), method=method, tol=1e-13)
        fw.check_result(result)
        assert result.status is Status.OPTIMAL
        assert np.abs(result.point - fw.project_k_subsets(centre, 7)).max() < 1e-6


@pytest.mark.parametrize("method", ALL, ids=name)
def test_all_methods_reach_a_moderate_gap(fw, method):
    centre = 0.3 * np.random.default_rng(5).normal(size=25)
    result = minimize(fw.birkhoff(5), Quadratic(centre), method=method, tol=1e-3)
    fw.check_result(result)
    assert result.status is Status.OPTIMAL
    assert result.gap <= 1e-3 * (1 + 0.5 * np.sum((result.point - centre) ** 2))


@pytest.mark.parametrize("step", [ExactStep(), ShortStep(), Backtracking(), SecantStep()], ids=repr)
def test_every_step_rule_drives_a_pairwise_method_to_the_solution(fw, step):
    centre = np.random.default_rng(2).normal(size=12)
    result = minimize(fw.k_subsets(4), Quadratic(centre), method=Pairwise(step=step), tol=1e-10)
    assert result.status is Status.OPTIMAL
    assert np.abs(result.point - fw.project_k_subsets(centre, 4)).max() < 1e-5


def test_the_open_loop_rule_converges_slowly_but_surely(fw):
    centre = np.random.default_rng(2).normal(size=12)
    method = Vanilla(step=OpenLoop())
    short, long = (
        minimize(fw.k_subsets(4), Quadratic(centre), method=method, tol=1e-9, max_iter=budget)
        for budget in (50, 2000)
    )
    assert short.status is long.status is Status.MAX_ITER
    assert long.gap < short.gap / 5


def random_ties(k, seed):
    rng = np.random.default_rng(seed)

    def lmo(cost):
        order = rng.permutation(cost.size)
        vertex = np.zeros(cost.size)
        vertex[order[np.argsort(np.round(cost[order], 12), kind="stable")[:k]]] = 1.0
        return vertex

    return lmo


AWKWARD = {
    "zero centre": lambda fw: (fw.k_subsets(5), np.zeros(12)),
    "centre at a vertex": lambda fw: (fw.k_subsets(5), (np.arange(12) < 5).astype(float)),
    "centre inside": lambda fw: (fw.k_subsets(5), np.full(12, 5 / 12)),
    "huge noise": lambda fw: (fw.k_subsets(5), 1e8 * np.random.default_rng(0).normal(size=12)),
    "huge constant": lambda fw: (fw.k_subsets(5), 1e8 + np.random.default_rng(0).normal(size=12)),
    "tiny noise": lambda fw: (fw.k_subsets(5), 1e-8 * np.random.default_rng(0).normal(size=12)),
    "mixed magnitudes": lambda fw: (fw.hypercube, np.array([1e8, 0.3, -1e8, 1e-8, 0.5])),
    "always the same vertex": lambda fw: (lambda cost: np.array([1.0, 0.0, 1.0]), np.array([0.2, 0.4, -3.0])),
    "random ties": lambda fw: (random_ties(5, 0), np.zeros(12)),
    "random ties in blocks": lambda fw: (random_ties(5, 1), np.repeat([0.3, 0.7, 0.1], 4)),
    "one dimension": lambda fw: (fw.hypercube, np.array([0.3])),
}


@pytest.mark.parametrize("method", ALL, ids=name)
@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_problems_end_with_a_truthful_status(fw, method, case):
    lmo, centre = AWKWARD[case](fw)
    result = minimize(lmo, Quadratic(centre), method=method, max_iter=5000)
    fw.check_result(result)
    tolerance = method.default_tol * (1 + 0.5 * np.sum((result.point - centre) ** 2))
    assert (result.status is Status.OPTIMAL) == (result.gap <= tolerance)
    assert result.status in (Status.OPTIMAL, Status.STALLED, Status.MAX_ITER)
    if method in LINEAR:
        assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("method", LINEAR, ids=name)
def test_a_tolerance_of_zero_ends_where_rounding_begins(fw, method):
    centre = 0.3 * np.random.default_rng(0).normal(size=36)
    result = minimize(fw.birkhoff(6), Quadratic(centre), method=method, tol=0.0)
    assert result.status is (Status.OPTIMAL if result.gap == 0.0 else Status.STALLED)
    assert result.gap < 1e-13


def test_the_nearest_extreme_point_step_is_refused_without_zero_one_vertices(fw):
    lmo = fw.vertex_list(np.random.default_rng(0).normal(size=(5, 3)))
    with pytest.raises(OracleError, match="0/1"):
        minimize(lmo, Quadratic(np.zeros(3)), method=NearestExtremePoint())


def test_methods_and_rules_say_what_they_need(fw):
    smooth = Smooth(lambda y: float(y @ y), lambda y: 2 * y)
    for method, match in [
        (MinNormPoint(), "Quadratic"),
        (Pairwise(step=ExactStep()), "Quadratic"),
        (Pairwise(step=ShortStep()), "Lipschitz"),
        (NearestExtremePoint(), "smoothness"),
    ]:
        with pytest.raises(InvalidInputError, match=match):
            minimize(fw.hypercube, smooth, method=method, dim=3)
