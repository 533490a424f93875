"""Every matroid against the list of its outputs, found by testing all subsets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from osp_matroids.graphs.space import GraphicMatroid

from osp_core.geometry.directions import discover_span
from osp_core.spaces import ZeroOneSpace


def as_set(rows):
    return {tuple(row) for row in rows}


def test_the_outputs_are_those_of_the_definition(random_matroids):
    for space, outputs in random_matroids:
        assert as_set(space.vertices()) == as_set(outputs)
        assert space.rank == outputs.sum(axis=1).max()


def test_a_point_is_a_vertex_exactly_if_it_is_listed(random_matroids):
    for space, outputs in random_matroids:
        listed = as_set(outputs)
        cube = np.array(np.meshgrid(*[[0.0, 1.0]] * space.dim)).reshape(space.dim, -1).T
        assert all(space.is_vertex(point) == (tuple(point) in listed) for point in cube)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_greedy_oracle_is_optimal(random_matroids, scale):
    rng = np.random.default_rng(1)
    for space, outputs in random_matroids:
        for cost in scale * rng.normal(size=(10, space.dim)):
            best = outputs[np.argmin(outputs @ cost)]
            assert np.array_equal(space.lmo(cost), best)
            assert not np.signbit(space.lmo(cost)).any()


def test_ties_go_to_the_elements_of_lower_index(random_matroids):
    rng = np.random.default_rng(2)
    for space, outputs in random_matroids:
        for cost in rng.integers(-1, 2, (10, space.dim)).astype(float):
            # Lexicographic order of (cost, index) means: add a vanishing amount that grows with the index.
            tiny = 1e-3 * 2.0 ** np.arange(space.dim) / 2.0**space.dim
            allowed = outputs if space.bases else outputs[~outputs[:, cost >= 0].any(axis=1)]
            assert np.array_equal(space.lmo(cost), allowed[np.argmin(allowed @ (cost + tiny))])


def test_many_costs_give_the_same_as_one_at_a_time(random_matroids):
    rng = np.random.default_rng(3)
    for space, _ in random_matroids:
        costs = rng.integers(-2, 3, (6, space.dim)).astype(float)
        assert np.array_equal(space.lmo_many(costs), [space.lmo(cost) for cost in costs])


def test_components_are_the_blocks_of_the_span(random_matroids):
    rng = np.random.default_rng(4)
    for space, outputs in random_matroids:
        direction = rng.normal(size=space.dim)
        generic = discover_span(space.lmo, space.dim).project(direction)
        assert space.project_direction(direction) == pytest.approx(generic, abs=1e-12)
        differences = outputs - outputs[0]
        free = np.linalg.matrix_rank(differences) if differences.any() else 0
        sizes, ranks = space._component_sizes
        assert free == ((sizes - 1).sum() if space.bases else sizes[ranks > 0].sum())


def test_circuits_agree_with_the_swaps_that_keep_a_basis(random_matroids):
    for space, _ in random_matroids:
        basis = space.first_basis
        for element in np.setdiff1d(np.arange(space.dim), basis):
            slow = [b for b in basis if space.independent(np.append(np.setdiff1d(basis, b), element))]
            assert sorted(space.circuit(basis, int(element))) == slow


def test_constants_are_safe_and_as_sharp_as_promised(random_matroids):
    for space, outputs in random_matroids:
        distances = np.abs(outputs[:, np.newaxis] - outputs).sum(axis=2)
        assert space.diameter1 >= distances.max()
        assert space.diameter1 <= ZeroOneSpace.diameter1.compute(space)
        if len(outputs) > 1:
            assert space.nu1 == distances[distances > 0].min()
        assert space.max_mass == outputs.sum(axis=1).max()
        assert space.min_mass == outputs.sum(axis=1).min()
        assert space.constant_mass == (np.ptp(outputs.sum(axis=1)) == 0) or not space.bases


def test_gamma_covers_every_pair_of_outputs_and_is_attained_by_bases_of_a_connected_matroid(
    random_matroids,
):
    for space, outputs in random_matroids:
        target = space.target_loss()
        gamma = target.gamma(space)
        for y in outputs:
            for other in outputs:
                assert target.loss(other, y) <= gamma * np.linalg.norm(other - y) + 1e-12
        m, r = space.dim, space.rank
        if space.bases and r and len(space._component_sizes[0]) == 1:
            assert gamma == pytest.approx(np.sqrt((m - r) / (m * r)))


def test_labels_are_sets_of_elements(random_matroids):
    for space, outputs in random_matroids:
        for y in outputs[:10]:
            label = space.to_label(y)
            assert label == {space.elements[i] for i in np.flatnonzero(y)}
            assert np.array_equal(space.from_label(label), y)
            assert np.array_equal(space.from_label(list(label)), y)


@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    nodes=st.integers(2, 5),
    bases=st.booleans(),
    exponent=st.integers(-8, 8),
    seed=st.integers(0, 10**6),
)
def test_euclidean_predictions_are_optimal_at_every_scale(nodes, bases, exponent, seed):
    space = GraphicMatroid(nodes, bases=bases)
    theta = 10.0**exponent * np.random.default_rng(seed).normal(size=space.dim)
    prediction = space.predict(theta)
    gradient = prediction.point - theta
    slack = ((prediction.point - space.vertices()) @ gradient).max()
    assert slack <= 1e-9 * (1.0 + np.abs(theta).max())
    assert np.abs(prediction.combination.mean - prediction.point).max() <= 1e-12
    assert (prediction.point >= 0).all()
    assert (prediction.point <= 1 + 1e-12).all()
