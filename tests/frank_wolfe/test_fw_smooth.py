"""Objectives that are not quadratic, entropies with their boundary among them."""

import numpy as np
import pytest

from osp_core.errors import InvalidInputError, NumericalError
from osp_core.frank_wolfe import AwayStep, Backtracking, BlendedPairwise, Pairwise, Smooth, Status, minimize
from osp_core.geometry.combinations import ConvexCombination


def entropy(theta):
    """Σ y ln y − ⟨θ, y⟩, refusing to be evaluated outside its domain."""

    def value(y):
        assert y.min() > 0.0
        return float(y @ np.log(y) - theta @ y)

    def gradient(y):
        assert y.min() > 0.0
        return np.log(y) + 1.0 - theta

    return Smooth(value, gradient, positive=True)


@pytest.mark.parametrize(
    "method", [BlendedPairwise(), Pairwise(), AwayStep(), Pairwise(step=Backtracking())], ids=repr
)
def test_an_entropy_on_the_simplex_gives_the_softmax(fw, method):
    theta = np.random.default_rng(0).normal(size=8)
    result = minimize(fw.k_subsets(1), entropy(theta), method=method, dim=8, tol=1e-10)
    fw.check_result(result)
    assert result.status is Status.OPTIMAL
    softmax = np.exp(theta) / np.exp(theta).sum()
    assert np.abs(result.point - softmax).max() < 1e-6


def test_an_entropy_on_a_birkhoff_polytope_gives_the_sinkhorn_limit(fw):
    n, theta = 6, np.random.default_rng(1).normal(size=36)
    result = minimize(fw.birkhoff(n), entropy(theta), dim=36, tol=1e-10)
    plan = np.exp(theta).reshape(n, n)
    for _ in range(1000):
        plan /= plan.sum(axis=1, keepdims=True)
        plan /= plan.sum(axis=0, keepdims=True)
    assert result.status is Status.OPTIMAL
    assert np.abs(result.point - plan.ravel()).max() < 1e-6
    assert result.lmo_calls < 100


def test_an_entropy_started_on_the_boundary_is_refused(fw):
    start = ConvexCombination(np.eye(3)[:2], np.array([0.5, 0.5]))
    with pytest.raises(InvalidInputError, match="positive entries, but start has"):
        minimize(fw.k_subsets(1), entropy(np.zeros(3)), start=start)


def test_a_coordinate_that_is_always_zero_is_refused_for_an_entropy(fw):
    lmo = fw.vertex_list([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    with pytest.raises(InvalidInputError, match="index 2"):
        minimize(lmo, entropy(np.zeros(3)), dim=3)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_an_entropy_not_declared_as_such_is_refused_at_the_boundary(fw):
    undeclared = Smooth(lambda y: 0.0, lambda y: np.log(y))
    with pytest.raises(NumericalError, match="positive=True"):
        minimize(fw.k_subsets(1), undeclared, dim=3)


def test_a_smooth_objective_needs_a_dimension_or_a_start(fw):
    with pytest.raises(InvalidInputError, match="dim"):
        minimize(fw.hypercube, Smooth(lambda y: float(y @ y), lambda y: 2 * y))


def test_a_gradient_of_the_wrong_shape_is_refused(fw):
    with pytest.raises(InvalidInputError, match="shape"):
        minimize(fw.hypercube, Smooth(lambda y: 0.0, lambda y: np.zeros(7)), dim=3)


def test_a_value_that_is_not_finite_is_refused(fw):
    with pytest.raises(NumericalError, match="objective is nan"):
        minimize(fw.hypercube, Smooth(lambda y: np.nan, lambda y: np.ones(3)), dim=3)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_quartic_is_minimised_whatever_its_scale(fw, scale):
    target = np.random.default_rng(4).uniform(size=9)
    quartic = Smooth(
        lambda y: scale * float(((y - target) ** 4).sum()), lambda y: 4 * scale * (y - target) ** 3
    )
    result = minimize(fw.hypercube, quartic, dim=9, tol=1e-9)
    assert result.status is Status.OPTIMAL
    assert quartic.value(result.point) <= result.gap + 1e-15
