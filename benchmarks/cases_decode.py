"""One decoding (ŷ, y* and a random play) on every space, over growing sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import Case

import osp_core as osp


@dataclass(frozen=True)
class Family:
    """A space that grows, and the power its decoding cost grows with in theory, logarithms left out."""

    make: Callable[[int], osp.OutputSpace]
    sizes: tuple[int, ...]
    exponent: float


def _space(name: str, **parameters: Callable[[int], Any]) -> Callable[[int], osp.OutputSpace]:
    return lambda size: osp.make_space(name, **{key: value(size) for key, value in parameters.items()})


def _same(size: int) -> int:
    return size


FAMILIES = {
    "simplex, d": Family(_space("simplex", d=_same), (10, 100, 1000, 10_000, 100_000), 1),
    "hypercube, d": Family(_space("hypercube", d=_same), (10, 100, 1000, 10_000, 100_000), 1),
    "ordinal, d": Family(_space("ordinal", d=_same), (10, 100, 1000, 10_000, 100_000), 1),
    "permutahedron, d": Family(_space("permutahedron", d=_same), (10, 100, 1000, 10_000, 100_000), 1),
    "k_subsets, d": Family(
        _space("k_subsets", d=_same, k=lambda d: d // 4), (20, 100, 1000, 10_000, 100_000, 1_000_000), 1
    ),
    "partition_matroid, blocks of 5": Family(
        _space(
            "partition_matroid",
            blocks=lambda d: [list(range(5 * b, 5 * b + 5)) for b in range(d // 5)],
            capacities=lambda d: [2] * (d // 5),
        ),
        (20, 100, 1000, 10_000),
        1,
    ),
    # Linear assignment: n³ at worst, less on random costs.
    "birkhoff, n": Family(_space("birkhoff", n=_same), (5, 10, 30, 100, 300), 3),
    "assignment, n/2 × n": Family(_space("assignment", m=lambda n: n // 2, n=_same), (6, 10, 30, 100), 3),
    "matching, band of 5, n": Family(
        _space("matching", graph=lambda n: [(i, j) for i in range(n) for j in range(n) if abs(i - j) <= 2]),
        (5, 10, 30, 100),
        3,
    ),
    # About n oracle calls of n² each, and an active set of about n trees of n² coordinates.
    "graphic_matroid, complete, n": Family(_space("graphic_matroid", graph=_same), (5, 10, 20, 40), 4),
    # Oracles by elimination or augmenting paths, d² each with fixed rank, times the oracle calls.
    "linear_matroid, rank 4, d": Family(
        _space("linear_matroid", matrix=lambda d: np.random.default_rng(d).standard_normal((4, d))),
        (10, 20, 40),
        2,
    ),
    "transversal_matroid, d": Family(
        _space(
            "transversal_matroid",
            sets=lambda d: [list(range(i, min(i + d // 2, d))) for i in range(0, d, d // 4)],
        ),
        (8, 16, 32),
        2,
    ),
    "laminar_matroid, d": Family(
        _space(
            "laminar_matroid",
            family=lambda d: [list(range(d // 2)), list(range(d))],
            capacities=lambda d: [max(1, d // 8), max(2, d // 4)],
        ),
        (8, 32, 128),
        2,
    ),
    "vertices, 20 dimensions, N": Family(
        _space("vertices", array=lambda n: np.random.default_rng(n).standard_normal((n, 20))),
        (10, 100, 1000),
        1,
    ),
    "product of simplices of 5, blocks": Family(
        _space("product", spaces=lambda b: [osp.make_space("simplex", d=5)] * b), (2, 10, 50, 200), 1
    ),
}
SHORT = ("simplex, d", "hypercube, d", "ordinal, d", "permutahedron, d", "k_subsets, d", "birkhoff, n")


def cases(short: bool) -> Iterator[Case]:
    """Every space, at every size; the short form has the common ones, up to a medium size."""
    for name, family in FAMILIES.items():
        if short and name not in SHORT:
            continue
        for size in family.sizes[1:3] if short else family.sizes:
            yield _case(name, size, family)


def _case(name: str, size: int, family: Family) -> Case:
    space, rng = family.make(size), np.random.default_rng(size)
    decoder = osp.RandomizedDecoder(space)
    count = 5 if space.dim <= 10_000 else 1
    return Case(
        f"decode, {name}",
        size,
        lambda theta: decoder.decode(theta, rng),
        {},
        lambda vertex, theta: 0.0 if space.is_vertex(vertex) else np.inf,
        0.0,
        arguments=[(rng.standard_normal(space.dim),) for _ in range(count)],
        exponent=family.exponent,
    )
