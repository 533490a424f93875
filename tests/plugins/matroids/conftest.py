"""Random small matroids, each with an independence test straight from its definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from osp_matroids.graphs.space import GraphicMatroid
from osp_matroids.laminar import LaminarMatroid
from osp_matroids.linear import LinearMatroid
from osp_matroids.oracle import Matroid
from osp_matroids.partition import PartitionMatroid
from osp_matroids.transversal import TransversalMatroid

KINDS = ("partition", "graphic", "linear", "transversal", "laminar", "matroid")


def _graphic(rng, bases):
    nodes, m = int(rng.integers(2, 6)), int(rng.integers(1, 9))
    edges = [tuple(map(int, edge)) for edge in rng.integers(0, nodes, (m, 2))]

    def independent(chosen):
        # A set of edges is a forest when the incidence vectors are linearly independent.
        incidence = np.zeros((nodes, len(chosen)))
        for column, edge in enumerate(chosen):
            incidence[edges[edge][0], column] += 1
            incidence[edges[edge][1], column] -= 1
        return np.linalg.matrix_rank(incidence) == len(chosen) if len(chosen) else True

    return GraphicMatroid(edges=edges, bases=bases), independent


def _partition(rng, bases):
    m, count = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    block_of = rng.integers(0, count, m)
    capacities = rng.integers(0, 4, count)
    blocks = [np.flatnonzero(block_of == b).tolist() for b in range(count)]

    def independent(chosen):
        return all((block_of[list(chosen)] == b).sum() <= capacities[b] for b in range(count))

    return PartitionMatroid(blocks, capacities, elements=range(m), bases=bases), independent


def _linear(rng, bases):
    matrix = rng.integers(-1, 2, (int(rng.integers(1, 4)), int(rng.integers(1, 8)))).astype(float)

    def independent(chosen):
        return not chosen or np.linalg.matrix_rank(matrix[:, list(chosen)]) == len(chosen)

    return LinearMatroid(matrix, bases=bases), independent


def _transversal(rng, bases):
    m, count = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    table = rng.random((count, m)) < 0.4
    sets = [np.flatnonzero(row).tolist() for row in table]

    def independent(chosen):
        return any(
            all(table[number, element] for number, element in zip(numbers, chosen, strict=True))
            for numbers in itertools.permutations(range(count), len(chosen))
        )

    return TransversalMatroid(sets, elements=range(m), bases=bases), independent


def _laminar(rng, bases):
    m = int(rng.integers(2, 8))
    cut = int(rng.integers(1, m))
    family = [range(m), range(cut), range(cut, m), range(cut // 2)]
    capacities = [int(rng.integers(0, 5)), *(int(k) for k in rng.integers(0, 4, 3))]

    def independent(chosen):
        return all(len(set(chosen) & set(one)) <= k for one, k in zip(family, capacities, strict=True))

    return LaminarMatroid(family, capacities, elements=range(m), bases=bases), independent


def _matroid(rng, bases):
    space, independent = _linear(rng, bases)
    oracle = lambda chosen: bool(independent(sorted(chosen)))  # noqa: E731
    return Matroid(range(space.dim), oracle, bases=bases), independent


_MAKERS = dict(zip(KINDS, (_partition, _graphic, _linear, _transversal, _laminar, _matroid), strict=True))


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["bases", "independent"])
def bases(request):
    return request.param


@pytest.fixture
def random_matroids(kind, bases):
    """(space, all its outputs by brute force over the subsets) for a dozen seeds."""

    def one(seed):
        space, independent = _MAKERS[kind](np.random.default_rng(seed), bases)
        return space, brute_force(space.dim, independent, bases)

    return [one(seed) for seed in range(12)]


def brute_force(m, independent, bases):
    """All outputs as rows, from the definition."""
    sets = [
        subset
        for size in range(m + 1)
        for subset in itertools.combinations(range(m), size)
        if independent(subset)
    ]
    largest = max(map(len, sets))
    rows = np.zeros((len(sets), m))
    for row, subset in zip(rows, sets, strict=True):
        row[list(subset)] = 1.0
    return rows[[len(subset) == largest for subset in sets]] if bases else rows
