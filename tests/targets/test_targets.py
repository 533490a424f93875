"""Target losses: their values, and γ against brute force over the hull."""

import itertools

import numpy as np
import pytest

import osp_core as osp
from osp_core.targets import NormalizedGain


def permutation_matrices(n):
    return np.array([np.eye(n)[list(order)].ravel() for order in itertools.permutations(range(n))])


def greatest_slope(space, target, rng, draws=300):
    """sup L(y′; y)/‖y′ − y‖ over random hull points, with the worst direction tried from every vertex."""
    vertices = space.vertices()
    worst = 0.0
    for y in vertices:
        hull = rng.dirichlet(np.full(len(vertices), 0.3), size=draws) @ vertices
        toward = y + 1e-3 * (vertices - y)
        for point in np.vstack([hull, vertices, toward]):
            if (distance := np.linalg.norm(point - y, space.norm)) > 1e-9:
                worst = max(worst, target.loss(point, y) / distance)
    return worst


SPACES = {
    "simplex l1": (lambda: osp.make_space("simplex", d=4), osp.zero_one, 0.5),
    "simplex l2": (lambda: osp.make_space("simplex", d=4, norm=2), osp.zero_one, np.sqrt(3 / 4)),
    "cube l2": (lambda: osp.make_space("hypercube", d=4), osp.hamming, 1 / np.sqrt(4)),
    "cube l1": (lambda: osp.make_space("hypercube", d=4, norm=1), osp.hamming, 1 / 4),
    "rankings l1": (lambda: osp.vertices(permutation_matrices(3), norm=1), osp.mismatch, 1 / 6),
    "rankings l2": (lambda: osp.vertices(permutation_matrices(3)), osp.mismatch, np.sqrt(2) / 3),
    "2-subsets of 4": (
        lambda: osp.vertices([y for y in itertools.product([0, 1], repeat=4) if sum(y) == 2]),
        osp.mismatch,
        np.sqrt((4 - 2) / (4 * 2)),
    ),
    "permutations": (
        lambda: osp.vertices(list(itertools.permutations([1, 2, 3, 4]))),
        osp.alignment,
        np.sqrt(3 / (4 * (16 - 1))),
    ),
    "prefixes": (lambda: osp.vertices(np.tri(4, 3, -1)), osp.absolute, 1 / np.sqrt(3)),
}


@pytest.mark.parametrize("name", SPACES)
def test_gamma_has_the_value_of_the_table_and_is_not_beaten(name, rng):
    make, target, gamma = SPACES[name]
    space = make()
    space.equal_norm = name == "permutations"
    assert target.gamma(space) == pytest.approx(gamma, rel=1e-12)
    assert greatest_slope(space, target, rng) <= gamma * (1 + 1e-9)


@pytest.mark.parametrize("name", SPACES)
def test_enumeration_gives_the_same_gamma_as_the_formula(name):
    make, target, gamma = SPACES[name]
    space = make()
    plain = osp.AffineLoss(target.cost, target.constant)
    assert plain.gamma(space) == pytest.approx(gamma, rel=1e-9)


@pytest.mark.parametrize("name", SPACES)
def test_targets_are_zero_at_the_truth_and_at_most_one(name):
    make, target, _ = SPACES[name]
    vertices = make().vertices()
    losses = np.array([[target.loss(played, y) for played in vertices] for y in vertices])
    np.testing.assert_allclose(losses.diagonal(), 0.0, atol=1e-12)
    assert losses.max() == pytest.approx(1.0)
    assert losses.min() >= 0.0


def test_hamming_counts_the_entries_that_differ():
    assert osp.hamming.loss(np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 0, 0])) == pytest.approx(0.5)


def test_ndcg_agrees_with_its_definition():
    n = 4
    gains, discounts = np.array([4.0, 3, 2, 1]), 1 / np.log2(2 + np.arange(n))
    for true, played in itertools.product(itertools.permutations(range(n)), repeat=2):
        gain_of = {item: gains[position] for position, item in enumerate(true)}
        collected = sum(gain_of[item] * discounts[position] for position, item in enumerate(played))
        y, y_pred = np.zeros((n, n)), np.zeros((n, n))
        y[true, range(n)] = y_pred[played, range(n)] = 1.0
        expected = 1 - collected / (gains @ discounts)
        assert osp.ndcg.loss(y_pred.ravel(), y.ravel()) == pytest.approx(expected, abs=1e-12)


def test_gamma_of_ndcg_is_that_of_enumeration():
    space = osp.vertices(permutation_matrices(3))
    plain = osp.AffineLoss(osp.ndcg.cost, osp.ndcg.constant)
    assert osp.ndcg.gamma(space) == pytest.approx(plain.gamma(space))
    with pytest.raises(osp.InvalidInputError, match="non-increasing"):
        NormalizedGain(gains=[1, 2, 3])


def test_a_table_is_any_loss_between_classes(rng):
    matrix = np.array([[0, 1, 4], [2, 0, 1], [3, 1, 0.0]])
    target = osp.table(matrix)
    for played, true in itertools.product(range(3), repeat=2):
        assert target.loss(np.eye(3)[played], np.eye(3)[true]) == matrix[played, true]
    space = osp.make_space("simplex", d=3)
    assert greatest_slope(space, target, rng) <= target.gamma(space) * (1 + 1e-9)
    with pytest.raises(osp.InvalidInputError, match="diagonal"):
        osp.table(np.ones((2, 2)))
    with pytest.raises(osp.InvalidInputError, match="square"):
        osp.table(np.ones((2, 3)))


def test_bilinear_losses_follow_their_formula(rng):
    V, b = rng.random((3, 3)), rng.random(3)
    target = osp.AffineLoss.bilinear(V, b, lambda y: 3.0 - float(y @ (V @ y + b)))
    for played, y in itertools.product(np.eye(3), repeat=2):
        expected = played @ (V @ y + b) - y @ (V @ y + b) + 3.0
        assert target.loss(played, y) == pytest.approx(expected)


def test_decision_regret_is_what_the_decision_costs_too_much():
    space = osp.vertices([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    target = osp.decision_regret(space, gamma=5.0)
    cost = np.array([1.0, 2.0, 0.5, 0.25])
    y, loss = target.reveal(space, cost)
    np.testing.assert_array_equal(y, [0, 0, 1, 1])
    assert loss(np.array([1.0, 1, 0, 0])) == pytest.approx(3.0 - 0.75)
    assert target.loss(np.array([1.0, 0, 0, 1]), cost) == pytest.approx(1.25 - 0.75)


def test_decision_regret_checks_the_stated_gamma_every_round():
    space = osp.vertices([[1.0, 0], [0, 1.0]])
    with pytest.raises(osp.GuaranteeError, match="above the stated gamma"):
        osp.decision_regret(space, gamma=0.1).reveal(space, np.array([0.0, 5.0]))
    with pytest.raises(osp.MissingConstantError, match="gamma"):
        osp.decision_regret(space).gamma(space)


def test_an_unknown_gamma_is_asked_for():
    big = osp.space_from_lmo(lambda cost: (cost < 0).astype(float), 30)
    target = osp.AffineLoss(lambda y: 1 - 2 * y, lambda y: float(y.sum()))
    with pytest.raises(osp.MissingConstantError, match="gamma="):
        target.gamma(big)
    assert osp.AffineLoss(target.cost, target.constant, gamma=7.0).gamma(big) == 7.0


def test_mismatch_refuses_outputs_of_varying_mass():
    with pytest.raises(osp.GuaranteeError, match="constant mass"):
        osp.mismatch.gamma(osp.make_space("hypercube", d=3))
