"""Margins: distances to ties, and scores at which the SparseMAP loss is zero."""

import numpy as np
import pytest

import osp_core as osp
from osp_core.guarantees import has_separation_margin, margin, separating_factor

SPACES = [
    osp.make_space("simplex", d=4, psi=osp.SquaredNorm(1.0), norm=2),
    osp.make_space("hypercube", d=3),
    osp.make_space("hypercube", d=1),
    osp.make_space("hypercube", d=3, psi=osp.SquaredNorm(2.5)),
    osp.vertices([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]),
]


def tie_distance(space, theta, rng):
    """An upper bound of d(θ, F) by projecting on every hyperplane of a tie, nearest first."""
    vertices = space.vertices()
    y = vertices[np.argmax(vertices @ theta)]
    best = np.inf
    for other in vertices:
        normal = y - other
        if normal.any():
            tied = theta - (theta @ normal) / (normal @ normal) * normal
            scores = vertices @ tied
            if np.sum(scores >= scores.max() - 1e-9) >= 2:
                best = min(best, np.linalg.norm(tied - theta))
    return best


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_the_margin_is_the_distance_to_the_nearest_tie(space):
    rng = np.random.default_rng(0)
    for theta in rng.standard_normal((40, space.dim)):
        assert margin(space, theta) == pytest.approx(tie_distance(space, theta, rng))


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_no_tie_is_nearer_than_the_margin(space):
    rng = np.random.default_rng(1)
    for theta in rng.standard_normal((40, space.dim)):
        best = space.lmo(-theta)
        for direction in rng.standard_normal((30, space.dim)):
            inside = theta + 0.999 * margin(space, theta) * direction / np.linalg.norm(direction)
            assert np.array_equal(space.lmo(-inside), best)


def test_margins_have_closed_forms_on_the_simplex_and_the_cube():
    theta = np.array([0.3, -1.0, 2.0, 0.9])
    assert margin(SPACES[0], theta) == pytest.approx((2.0 - 0.9) / np.sqrt(2))
    assert margin(SPACES[1], theta[:3]) == pytest.approx(0.3)
    assert margin(SPACES[0], np.ones(4)) == 0.0


def test_a_single_output_has_no_margin():
    with pytest.raises(osp.InvalidInputError, match="single"):
        margin(osp.vertices([[2.0, 3.0]]), np.zeros(2))


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_the_exact_separation_condition_is_a_zero_loss(space):
    rng, loss = np.random.default_rng(2), osp.FenchelYoungLoss(space)
    seen = set()
    for scale in (0.3, 1.0, 3.0, 10.0):
        for theta in scale * space.psi.scale * rng.standard_normal((60, space.dim)):
            y = space.lmo(-theta)
            zero = loss.value(theta, y) <= 1e-12
            assert has_separation_margin(space, theta, y, tol=1e-9) == zero
            seen.add(zero)
    assert seen == {True, False}


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_the_separating_factor_makes_every_separated_loss_zero(space):
    rng, loss = np.random.default_rng(3), osp.FenchelYoungLoss(space)
    for theta in rng.standard_normal((100, space.dim)):
        scaled = separating_factor(space, margin(space, theta)) * theta
        assert loss.value(scaled, space.lmo(-theta)) <= 1e-9


def test_the_printed_factor_fails_where_norms_differ():
    """D/(2t₀) on {0, 1} with U₀x = t₀: θ = 1/2 leaves a loss of 1/8."""
    line = osp.make_space("hypercube", d=1)
    printed = line.diameter2 / (2 * 1.0)
    assert osp.FenchelYoungLoss(line).value(np.array([printed]), np.array([1.0])) == pytest.approx(0.125)


def test_the_separation_margin_needs_the_sparsemap_loss():
    with pytest.raises(osp.InvalidInputError, match="SquaredNorm"):
        separating_factor(osp.make_space("simplex", d=3), 1.0)
