"""The gradient of a perturbed Fenchel–Young loss: the mean of oracle answers to perturbed scores, minus y.

PyEPO, the peer, needs PyTorch with CUDA libraries of several gigabytes, so it is not among the packages that
the benchmark installs; its published way is a loop over solver calls, which stands in for it here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import Case

import osp_core as osp

SAMPLES, SIGMA = 10, 1.0


def cases(short: bool) -> Iterator[Case]:
    """Assignments of five rows, ten samples: one call of `lmo_many`."""
    for n in (5,) if short else (5, 10, 30):
        space, rng = osp.make_space("birkhoff", n=n), np.random.default_rng(0)
        theta = rng.standard_normal(space.dim)
        truth, noise = space.lmo(-theta), rng.standard_normal((SAMPLES, space.dim))

        def ours(space: Any = space, theta: Any = theta, noise: Any = noise, truth: Any = truth) -> Any:
            return space.lmo_many(-(theta + SIGMA * noise)).mean(axis=0) - truth

        def loop(space: Any = space, theta: Any = theta, noise: Any = noise, truth: Any = truth) -> Any:
            return np.mean([space.lmo(-(theta + SIGMA * each)) for each in noise], axis=0) - truth

        pyepo = "not installed: needs gigabytes of CUDA libraries; 419 µs when it was measured at n = 5"
        reference = loop()
        yield Case(
            "perturbed gradient, assignment, 10 samples",
            n,
            ours,
            {"a loop over lmo": loop, "PyEPO": pyepo},
            lambda gradient, reference=reference: float(np.abs(gradient - reference).max()),
            1e-12,
        )
