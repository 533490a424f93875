"""Memory: the peak of one decoding, per space and size, next to the bytes of its input."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
from cases_decode import FAMILIES, SHORT
from harness import Case, Fact, Row

import osp_core as osp


def cases(short: bool) -> Iterator[Case]:
    """Nothing to race."""
    return iter(())


def facts(rows: list[Row], short: bool) -> Iterator[Fact]:
    """Peaks of what numpy and Python allocate (compiled kernels allocate through numpy's allocator too)."""
    for name, family in FAMILIES.items():
        if short and name not in SHORT:
            continue
        for size in family.sizes[-2:-1] if short else family.sizes[-2:]:
            space, rng = family.make(size), np.random.default_rng(0)
            decoder, theta = osp.RandomizedDecoder(space), rng.standard_normal(space.dim)
            decoder.decode(theta, rng)  # compiles, and fills what is cached for good
            tracemalloc.start()
            decoder.decode(theta, rng)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            yield Fact(
                f"decode, {name} = {size}",
                peak / 2**20,
                "MiB",
                note=f"{peak / theta.nbytes:.1f} × its scores",
            )
