"""The example that learns routes on a network that changes every round."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from osp_core.testing import check_space

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import shortest_paths

    return shortest_paths


def test_the_space_of_paths_conforms(example):
    for space in example.GridPaths.examples():
        check_space(space)


def test_the_oracle_finds_the_cheapest_path_of_all(example, rng):
    space = example.GridPaths(3, 4)
    paths = []
    for downs in itertools.combinations(range(5), 2):  # 2 of the 5 steps go down
        corner, path = (0, 0), np.zeros(space.dim)
        for step in range(5):
            target = (corner[0] + 1, corner[1]) if step in downs else (corner[0], corner[1] + 1)
            path[space.streets.index((corner, target))] = 1.0
            corner = target
        paths.append(path)
    for cost in rng.standard_normal((50, space.dim)):
        assert space.lmo(cost) @ cost == pytest.approx((np.array(paths) @ cost).min())


def test_learning_from_regret_beats_not_learning_on_networks_of_changing_size(example):
    sizes = {example.GridPaths(*grid).dim for grid, _, _ in example.rounds(30, 0, 1)}
    assert len(sizes) > 3
    regrets = example.compare(200, seed=1, degree=4)
    assert regrets["online, greedy"] <= 0.2 * regrets["untrained"]
    assert regrets["online, played"] <= 0.3 * regrets["untrained"]
    assert regrets["two-stage"] < regrets["untrained"]


def test_costs_stay_below_the_stated_steepness(example):
    for _, features, costs in example.rounds(50, 3, 4):
        assert np.linalg.norm(costs) <= 1 + 1e-12
        assert np.linalg.norm(features, 2) <= example.FEATURE_BOUND
