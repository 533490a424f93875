"""What the checks look at: outputs, points of the hull, scores and predictions, drawn from one generator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from osp_core.errors import Array, MissingConstantError, UnsupportedError
from osp_core.geometry.predictions import Prediction
from osp_core.spaces import OutputSpace
from osp_core.targets import AffineLoss
from osp_core.testing.report import NotApplicable

RELATIVE = 1e-9  # constants are compared with this relative tolerance
ROUNDING = 1e-12  # rounding, relative to the size of the numbers that were added up
MOST_OUTPUTS = 600  # all pairs of outputs are looked at, so there must not be too many
MOST_LABELS = 32  # true outputs that losses are computed for


class Sample:
    """Outputs, hull points, scores and predictions of a space; each is computed once, when asked for.

    `Sample.of(space, rng)` returns the same object for equal generators in a row, so that the checks of one
    `check_space` share their predictions.
    """

    _latest: Sample | None = None

    def __init__(self, space: OutputSpace, seed: int) -> None:
        self.space, self.seed = space, seed

    @classmethod
    def of(cls, space: OutputSpace, rng: np.random.Generator) -> Sample:
        """The sample that belongs to the next number of the generator."""
        seed = int(rng.integers(2**32))
        latest = Sample._latest
        if latest is None or latest.space is not space or latest.seed != seed:
            Sample._latest = latest = Sample(space, seed)
        return latest

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose])

    @cached_property
    def enumerated(self) -> Array | None:
        """All outputs, or None where the space cannot list them."""
        try:
            return np.asarray(self.space.vertices(), dtype=np.float64)
        except UnsupportedError:
            return None

    @cached_property
    def outputs(self) -> Array:
        """Distinct outputs: all of them where they can be listed and are few, some of them otherwise."""
        if self.enumerated is not None and len(self.enumerated) <= MOST_OUTPUTS:
            return self.enumerated
        rng = self._rng(0)
        found = [self.space.lmo(cost) for cost in rng.standard_normal((60, self.space.dim))]
        for axis in rng.permutation(np.eye(self.space.dim))[:40]:
            found += [self.space.lmo(axis), self.space.lmo(-axis)]
        found += [vertex for _ in range(12) for vertex in _neighbours(self.space, rng)]
        if self.enumerated is not None:
            found += list(rng.permutation(self.enumerated)[:400])
        return np.unique(np.array(found), axis=0)

    @cached_property
    def labels(self) -> Array:
        """True outputs for losses: all where they are few."""
        if len(self.outputs) <= MOST_LABELS:
            return self.outputs
        return self._rng(1).permutation(self.outputs)[:MOST_LABELS]

    @cached_property
    def hull_points(self) -> Array:
        """Points of conv(Y): vertices, points near vertices, mixtures of a few, the centre."""
        rng, outputs = self._rng(2), self.outputs
        points = [outputs.mean(axis=0), outputs[0]]
        for size in (2, 2, 3, 4, 6):
            chosen = outputs[rng.integers(len(outputs), size=size)]
            points.append(rng.dirichlet(np.ones(size)) @ chosen)
        for step in (0.5, 0.3, 0.1, 1e-3, 1e-6):
            y, other = _two(outputs, rng)
            points.append((1 - step) * y + step * other)
        return np.array(points)

    @cached_property
    def faces(self) -> list[tuple[Array, Array]]:
        """Pairs of nearby hull points in the middle and near the ends of segments: where Ψ curves least."""
        rng, outputs, pairs = self._rng(3), self.outputs, []
        for _ in range(24):
            first = outputs[rng.random(len(outputs)) < 0.5]
            second = outputs[rng.integers(len(outputs), size=2)]
            ends = (first.mean(axis=0), outputs.mean(axis=0)) if len(first) else (second[0], second[1])
            for low, high in (ends, (second[0], second[1])):
                for middle in (0.5, 0.1, 0.01, 0.99):
                    radius = 0.5 * min(middle, 1 - middle) * rng.choice([1e-2, 1.0])
                    pairs.append(tuple(low + t * (high - low) for t in (middle - radius, middle + radius)))
        return pairs

    @cached_property
    def thetas(self) -> Array:
        """Scores at scales 1e−3 … 1e3, and scores whose prediction is a chosen point near a vertex."""
        rng, dim = self._rng(4), self.space.dim
        rows = [np.zeros(dim)]
        for scale in 10.0 ** np.arange(-3, 4):
            rows += [scale * rng.standard_normal(dim), scale * rng.integers(-1, 2, size=dim)]
        rows += list(rng.standard_normal((3, dim))) + list(3 * rng.standard_normal((3, dim)))
        with np.errstate(all="ignore"):
            for step in (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7):
                y, other = _two(self.outputs, rng)
                try:
                    # ŷ(∇Ψ(u)) = u by the first-order condition.
                    theta = psi_gradient(self.space, y + step * (other - y))
                except UnsupportedError:
                    break
                rows.append(np.clip(np.nan_to_num(theta), -40.0, 40.0))
        return np.array(rows) + 0.0

    @cached_property
    def predictions(self) -> list[Prediction]:
        """ŷ of every row of `thetas`."""
        return [self.space.predict(theta) for theta in self.thetas]

    @cached_property
    def losses(self) -> Array:
        """S(θ; y) + gap for every row of `thetas` and every label: never below the exact loss."""
        psi, space = self.space.psi, self.space
        rows = [
            [float(psi.loss(space, theta, y, prediction)) + prediction.gap for y in self.labels]
            for theta, prediction in zip(self.thetas, self.predictions, strict=True)
        ]
        return np.array(rows)

    @cached_property
    def loss_rounding(self) -> Array:
        """How far off `losses` may be, by row: they come from adding numbers of this size."""
        size = np.abs(self.outputs).sum(axis=1).max() + 1.0
        return np.asarray(10 * ROUNDING * size * (1.0 + np.abs(self.thetas).max(axis=1)))


def constant(value: Callable[[], float], name: str) -> float:
    """Return a constant of a space, or raise NotApplicable where the space does not know it."""
    try:
        return float(value())
    except (MissingConstantError, UnsupportedError) as error:
        raise NotApplicable(f"{name} is not known: {error}") from error


def usual_target(space: OutputSpace) -> AffineLoss:
    """Return the target of a space, or raise NotApplicable where it has none."""
    try:
        return space.target_loss()
    except (MissingConstantError, UnsupportedError) as error:
        raise NotApplicable(f"there is no target: {error}") from error


def psi_gradient(space: OutputSpace, point: Array) -> Array:
    """∇Ψ at a point; block by block where Ψ is a sum over blocks that knows no gradient itself."""
    try:
        return np.asarray(space.psi.gradient(point))
    except UnsupportedError:
        if not (blocks := space.blocks()):
            raise
    gradient = np.empty(space.dim)
    for block in blocks:
        for at in block.coordinates:
            gradient[at] = psi_gradient(block.space, point[at])
    return gradient


def psi_value(space: OutputSpace, points: Array) -> Array:
    """Ψ of a point or of every row; block by block where Ψ is a sum over blocks without a value itself."""
    try:
        return np.asarray(space.psi.value(points))
    except UnsupportedError:
        if not (blocks := space.blocks()):
            raise
    parts = [psi_value(block.space, points[..., at]) for block in blocks for at in block.coordinates]
    return np.asarray(np.sum(parts, axis=0))


def show(value: Any) -> str:
    """A vector for a message, abridged where it is long."""
    return np.array2string(np.asarray(value), threshold=40, precision=10, max_line_width=10**6)


def is_known(outputs: Array, vertex: Array) -> bool:
    """Whether a vector is one of the rows."""
    return bool((outputs == vertex).all(axis=1).any())


def norm_name(p: float) -> str:
    """How messages call the ℓp norm."""
    return "ℓ∞" if np.isinf(p) else f"ℓ{p:g}"


def _two(outputs: Array, rng: np.random.Generator) -> Array:
    """Two different outputs, where there are two."""
    return outputs[rng.choice(len(outputs), size=2, replace=len(outputs) < 2)]


def _neighbours(space: OutputSpace, rng: np.random.Generator) -> tuple[Array, Array]:
    """Two adjacent outputs: where the answer of the oracle changes between two costs."""
    low, high = rng.standard_normal((2, space.dim))
    at_low, at_high = space.lmo(low), space.lmo(high)
    for _ in range(40):
        if np.array_equal(at_low, at_high):
            break
        middle = (low + high) / 2
        if np.array_equal(at_middle := space.lmo(middle), at_low):
            low = middle
        else:
            high, at_high = middle, at_middle
    return at_low, at_high
