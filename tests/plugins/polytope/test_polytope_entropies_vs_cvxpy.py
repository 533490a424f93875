"""Entropic predictions over polytopes at very large scores: they end, are feasible and own up to errors."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from osp_polytope import interior_point, polytope

import osp_core as osp

EPS = np.finfo(float).eps
PERMUTATIONS = np.array([np.eye(3)[list(order)].ravel() for order in itertools.permutations(range(3))])


@pytest.fixture
def steps(monkeypatch):
    """The Newton steps of every solve; a solve that takes a thousand fails instead of going on."""
    taken, advance, solve = [], interior_point._State.advance, interior_point.EntropicProgram.solve

    def counted_solve(program, weights):
        taken.append(0)
        return solve(program, weights)

    def counted_advance(state):
        taken[-1] += 1
        assert taken[-1] < 1000, "the interior-point method does not end"
        return advance(state)

    monkeypatch.setattr(interior_point.EntropicProgram, "solve", counted_solve)
    monkeypatch.setattr(interior_point._State, "advance", counted_advance)
    return taken


def test_a_knapsack_with_huge_scores_is_predicted_in_few_steps(steps):
    items = cp.Variable(6, boolean=True)
    weights = np.array([3, 4, 5, 6, 7, 9])
    space = polytope([weights @ items <= 14], items, psi=osp.BinaryEntropy(1.0))
    theta = np.array([1.34e8, -7.08e7, -4.25e7, 1.16e7, -7.54e7, 1.14e7])
    space.predict(np.zeros(6))
    prediction = space.predict(theta)
    assert prediction.point == pytest.approx([1, 0, 0, 1, 0, 0], abs=1e-12)
    assert prediction.gap <= 1e-8 * np.abs(theta).max()
    assert 0 < max(steps) < 500


@pytest.mark.parametrize("psi", [osp.NegativeEntropy(1.0), osp.BinaryEntropy(1.0)])
def test_matchings_of_scores_on_two_levels_are_feasible_and_lose_no_more_than_the_gap(psi, rng):
    y = cp.Variable((3, 3), nonneg=True)
    space = polytope([cp.sum(y, axis=0) == 1, cp.sum(y, axis=1) == 1], y, psi=psi)
    size, compared = 1e8, 0
    for _ in range(60):
        theta = size * rng.integers(0, 2, 9)
        totals = PERMUTATIONS @ theta
        if (totals == totals.max()).sum() != 1:
            continue
        best, compared = PERMUTATIONS[np.argmax(totals)], compared + 1
        prediction = space.predict(theta)
        table = prediction.point.reshape(3, 3)
        assert table.sum(axis=0) == pytest.approx(1.0, abs=1e-13)
        assert table.sum(axis=1) == pytest.approx(1.0, abs=1e-13)
        # All others are worse by `size`, so that ŷ is `best` and S is 0 to all digits.
        stated = psi.loss(space, theta, best, prediction)
        assert stated <= prediction.gap + 9 * 4 * EPS * size
    assert compared > 5
