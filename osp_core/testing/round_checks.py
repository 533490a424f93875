"""Check of the functions a space offers to compiled rounds."""

from __future__ import annotations

import numpy as np

from osp_core.spaces import OutputSpace
from osp_core.testing.report import NotApplicable
from osp_core.testing.sample import Sample, show


def check_round_parts(space: OutputSpace, rng: np.random.Generator) -> None:
    """The functions of `round_parts` answer as the methods of the space do, and draw as `sample_vertex`."""
    parts = space.round_parts()
    if parts is None:
        raise NotApplicable("the space offers no functions for compiled rounds")
    sample = Sample.of(space, rng)
    params, y_hat, nearest, drawn = parts.params, *(np.empty(space.dim) for _ in range(3))
    for row, theta in enumerate(sample.thetas):
        prediction, size = sample.predictions[row], 1.0 + float(np.abs(theta).max())
        parts.predict(theta.copy(), params, y_hat)
        assert np.allclose(y_hat, prediction.point, rtol=0.0, atol=1e-9), (
            f"parts.predict({show(theta)}) is {show(y_hat)}; predict says {show(prediction.point)}."
        )
        # The point of `predict`, whose ties are those of `nearest_vertex`.
        point = prediction.point.copy()
        parts.nearest(point, params, nearest)
        assert np.array_equal(nearest, space.nearest_vertex(point)), (
            f"parts.nearest({show(point)}) is {show(nearest)}, not what nearest_vertex says."
        )
        for y in sample.labels[:4]:
            value, loss = parts.loss(theta, params, y, point), space.psi.loss(space, theta, y, prediction)
            assert abs(max(0.0, value) - float(loss)) <= 1e-9 * size, (
                f"parts.loss is {value:.9g} at θ = {show(theta)}, y = {show(y)}; Ψ says {float(loss):.9g}."
            )
        seed = int(rng.integers(2**32))
        one, other = (np.random.default_rng(seed) for _ in range(2))
        parts.sample(point, params, one, drawn)
        assert np.array_equal(drawn, space.sample_vertex(point, other)), (
            f"parts.sample({show(point)}) and sample_vertex differ for equal generators."
        )
        assert one.bit_generator.state == other.bit_generator.state, (
            "parts.sample and sample_vertex take different amounts of random numbers."
        )
