"""The example that learns packings for capacities that change every round."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import knapsack

    return knapsack


def test_packings_are_learned_from_their_values_with_few_branch_and_bounds(example):
    results = example.compare(25, seed=0, degree=4)
    assert results["online, greedy"] <= 0.4 * results["untrained"]
    assert results["online, played"] <= results["untrained"]
    assert results["branch and bound a round"] <= 12  # the first rounds find most packings


def test_every_capacity_has_its_own_instance(example):
    space = example.packings()
    contexts = {capacity["capacity"] for capacity, _, _ in example.rounds(20, 0, 1)}
    assert contexts == set(example.CAPACITIES)
    assert space.at({"capacity": 150.0}) is space.at({"capacity": 150.0})
    assert space.at({"capacity": 150.0}) is not space.at({"capacity": 200.0})
