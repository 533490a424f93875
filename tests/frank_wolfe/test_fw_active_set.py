"""The active set keeps its invariants whatever is done to it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osp_core.frank_wolfe import ActiveSet
from osp_core.frank_wolfe.atoms import DenseAtoms, IndexAtoms
from osp_core.geometry.combinations import ConvexCombination


def check_invariants(active):
    assert len(active) == len(active.atoms) == active.weights.size
    atoms = [active.atoms.dense(position) for position in range(len(active))]
    assert len({atom.tobytes() for atom in np.round(atoms, 9) + 0.0}) == len(active)
    assert all(active.find(atom) == position for position, atom in enumerate(atoms))
    assert active.weights.min() >= 0.0
    assert np.allclose(active.mean, active.weights @ np.asarray(atoms), atol=1e-9)
    assert np.allclose(
        active.atoms.products(np.arange(active.dim)),
        (np.asarray(atoms) - active.atoms.origin) @ np.arange(active.dim),
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_sequence_of_moves_breaks_the_invariants(seed, zero_one):
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(1, 6))

    def vertex():
        entries = rng.integers(0, 2, dim).astype(float)
        return entries if zero_one else entries * 1.5 - 7.0

    active = ActiveSet(dim)
    active.add(vertex(), 1.0)
    for _ in range(150):
        position = int(rng.integers(len(active)))
        weight = float(active.weights[position])
        match rng.integers(4):
            case 0:
                active.move(vertex(), rng.uniform())
            case 1:
                active.transfer(position, vertex(), weight * rng.choice([0.3, 1.0]))
            case 2 if len(active) > 1:
                active.move_away(position, weight / (1 - weight) * rng.choice([0.3, 1.0]))
            case _:
                active.prune()
        assert abs(active.weights.sum() - 1.0) < 1e-12
        check_invariants(active)


def test_equal_vertices_are_one_atom_and_weights_add_up():
    active = ActiveSet(3)
    active.add(np.array([1.0, 0.0, 1.0]), 0.5)
    active.add(np.array([1.0, -0.0, 1.0]), 0.25)
    active.add(np.array([0.0, 0.0, 1.0]), 0.25)
    assert active.weights.tolist() == [0.75, 0.25]


def test_vertices_closer_than_the_grid_are_one_atom():
    active = ActiveSet(2)
    active.add(np.array([0.5, 0.25]), 0.5)
    active.add(np.array([0.5 + 1e-12, 0.25]), 0.5)
    assert len(active) == 1


def test_a_dropped_atom_is_gone_and_can_come_back():
    active = ActiveSet(2)
    first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    active.add(first, 0.5)
    active.add(second, 0.5)
    active.drop(0)
    assert active.find(first) is None
    assert active.find(second) == 0
    assert active.add(first) == 1
    assert active.weights.tolist() == [0.5, 0.0]


def test_zero_one_atoms_are_kept_as_indices_until_another_vertex_comes():
    active = ActiveSet(4)
    active.add(np.array([1.0, 0.0, 0.0, 1.0]), 0.5)
    active.add(np.zeros(4), 0.25)
    assert isinstance(active.atoms, IndexAtoms)
    active.add(np.array([0.5, 0.0, 0.0, 1.0]), 0.25)
    assert isinstance(active.atoms, DenseAtoms)
    check_invariants(active)
    assert active.mean.tolist() == [0.625, 0.0, 0.0, 0.75]


@pytest.mark.parametrize("store", [IndexAtoms, DenseAtoms])
def test_both_stores_agree_with_a_matrix(store):
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, (12, 7)).astype(float)
    matrix[3] = 0.0
    atoms = store(7)
    for row in matrix:
        atoms.append(row, atoms.key(row))
    for position in (11, 5, 0):
        atoms.delete(position)
        matrix = np.delete(matrix, position, axis=0)
    centred, vector, weights = matrix - atoms.origin, rng.normal(size=7), rng.dirichlet(np.ones(9))
    assert np.allclose(atoms.products(vector), centred @ vector)
    assert np.allclose(atoms.combine(weights), weights @ centred)
    assert np.allclose(atoms.gram(), centred @ centred.T)
    slopes = atoms.slopes(vector)
    assert np.allclose(slopes - slopes[0], matrix @ vector - matrix[0] @ vector)
    whole = atoms.matrix()
    assert np.array_equal(whole if isinstance(whole, np.ndarray) else whole.toarray(), matrix)


def test_a_large_constant_in_the_gradient_does_not_drown_the_slopes(fw):
    atoms, rng = IndexAtoms(40), np.random.default_rng(1)
    gradient = rng.normal(size=40)
    for _ in range(10):
        vertex = fw.k_subsets(15)(rng.normal(size=40))
        atoms.append(vertex, atoms.key(vertex))
    plain, shifted = atoms.slopes(gradient), atoms.slopes(gradient + 1e8)
    exact = atoms.slopes((gradient + 1e8) - 1e8)
    assert np.abs((shifted - shifted[0]) - (exact - exact[0])).max() < 1e-12
    assert np.abs((shifted - shifted[0]) - (plain - plain[0])).max() < 1e-6


def test_an_active_set_survives_the_round_trip_through_a_combination():
    combination = ConvexCombination(
        np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0.25, 0.5, 0.25])
    )
    active = ActiveSet.from_combination(combination)
    assert active.weights.tolist() == [0.5, 0.5]
    again = ActiveSet.from_combination(active.combination())
    assert again.mean.tolist() == active.mean.tolist()
