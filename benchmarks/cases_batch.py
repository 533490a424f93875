"""Batches: predict_many and sample_many against a loop over their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import BEST, Case

import osp_core as osp

SPACES: dict[str, tuple[str, dict[str, Any], int]] = {
    "simplex 10": ("simplex", {"d": 10}, 1000),
    "hypercube 10": ("hypercube", {"d": 10}, 1000),
    "ordinal 10": ("ordinal", {"d": 10}, 1000),
    "permutahedron 10": ("permutahedron", {"d": 10}, 1000),
    "3 of 10": ("k_subsets", {"d": 10, "k": 3}, 1000),
    "birkhoff 5": ("birkhoff", {"n": 5}, 300),
    "birkhoff 30": ("birkhoff", {"n": 30}, 50),
    "birkhoff 10, Euclidean": ("birkhoff", {"n": 10, "psi": osp.SquaredNorm()}, 50),
    "spanning trees of K5": ("graphic_matroid", {"graph": 5}, 50),
}


def cases(short: bool) -> Iterator[Case]:
    """One case per space: seconds per row."""
    for name in list(SPACES)[::3] if short else SPACES:
        yield _predictions(name)


def _predictions(name: str) -> Case:
    kind, parameters, count = SPACES[name]
    space = osp.make_space(kind, **parameters)
    thetas = np.random.default_rng(0).standard_normal((count, space.dim))
    reference = np.array([space.predict(theta).point for theta in thetas])
    return Case(
        f"predict_many, {name}",
        count,
        lambda: space.predict_many(thetas).point,
        {"a loop": lambda: np.array([space.predict(theta).point for theta in thetas])},
        lambda points: float(np.abs(points - reference).max()),
        1e-9,
        {BEST: 0.95},
        units=count,
    )
