"""How large E L/S becomes: the quantity that Lemma 4 bounds, measured in batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_core.spaces import OutputSpace
from osp_core.surrogates.mixing import mixture, probability, significant
from osp_core.targets import AffineLoss


@dataclass(frozen=True, eq=False)
class RatioTable:
    """E L of Algorithm 1, the loss S, ‖ŷ − y‖₂² and the gap, for every pair of scores and outputs.

    Attributes
    ----------
    expected_loss, surrogate_loss, squared_gradient : array of shape (scores, outputs)
    gap : array of shape (scores,)
    """

    expected_loss: Array
    surrogate_loss: Array
    squared_gradient: Array
    gap: Array

    def violations(self, ratio: float) -> int:
        """How many pairs have E L > ratio·(S + gap), beyond rounding: [SBTO24, Lemma 4] fails there."""
        return self._exceeding(self.expected_loss, ratio)

    def gradient_violations(self, ratio: float) -> int:
        """How many pairs have ‖ŷ − y‖₂² > ratio·(S + gap), beyond rounding: [SBTO24, Prop. 3] fails there."""
        return self._exceeding(self.squared_gradient, ratio)

    def _exceeding(self, values: Array, ratio: float) -> int:
        allowed = ratio * (self.surrogate_loss + self.gap[:, np.newaxis])
        return int((values > allowed * (1 + 1e-9) + 1e-12).sum())

    def largest(self, *, least_loss: float = 1e-9) -> tuple[float, int, int]:
        """The greatest E L/(S + gap) over pairs whose loss is above rounding, and where it is."""
        losses = self.surrogate_loss + self.gap[:, np.newaxis]
        ratios = np.where(losses > least_loss, self.expected_loss / np.maximum(losses, least_loss), 0.0)
        best = int(np.argmax(ratios))
        row, column = divmod(best, ratios.shape[1])
        return float(ratios.flat[best]), row, column


def ratio_table(space: OutputSpace, target: AffineLoss, thetas: Array, ys: Array) -> RatioTable:
    """Decode every row of `thetas` by Algorithm 1 and judge it against every row of `ys`."""
    predictions = space.predict_many(thetas)
    nearest = space.nearest_vertex_many(predictions.point)
    distance = significant(np.atleast_1d(space.distance(nearest, predictions.point)))
    p = probability(distance, space.nu)[:, np.newaxis]
    means = mixture(p, nearest, predictions.point)
    expected, losses, squares = (np.empty((len(thetas), len(ys))) for _ in range(3))
    for column, y in enumerate(ys):
        affine = target.at(y)
        expected[:, column] = np.maximum(0.0, means @ affine.cost + affine.constant)
        losses[:, column] = space.psi.loss(space, thetas, np.broadcast_to(y, thetas.shape), predictions)
        squares[:, column] = np.square(predictions.point - y).sum(axis=1)
    return RatioTable(expected, losses, squares, np.asarray(predictions.gap))


def some_outputs(space: OutputSpace, count: int, rng: np.random.Generator) -> Array:
    """All outputs where there are at most `count`, else so many random ones."""
    try:
        vertices = space.vertices()
    except UnsupportedError:
        vertices = np.unique(space.lmo_many(rng.standard_normal((4 * count, space.dim))), axis=0)
    if len(vertices) <= count:
        return np.asarray(vertices)
    return np.asarray(vertices[rng.choice(len(vertices), size=count, replace=False)])


def random_scores(space: OutputSpace, count: int, rng: np.random.Generator) -> Array:
    """Gaussian scores at scales from 1e−3 to 1e3, half of them around a random output."""
    scales = 10.0 ** rng.uniform(-3, 3, size=(count, 1))
    thetas = scales * rng.standard_normal((count, space.dim))
    near = rng.random(count) < 0.5
    centres = space.lmo_many(rng.standard_normal((count, space.dim)))
    thetas[near] = centres[near] * space.psi.scale + 0.5 * thetas[near] / np.maximum(1.0, scales[near])
    return thetas


def steepest_scores(space: OutputSpace, target: AffineLoss, ys: Array) -> Array:
    """Scores that push ŷ away from an output along the direction in which its target loss grows fastest.

    Where that direction is feasible and Ψ quadratic, L = γ‖ŷ − y‖ and Lemma 4 is tight.
    """
    costs = np.array([space.project_direction(target.at(y).cost) for y in ys])
    costs /= np.maximum(1e-12, np.linalg.norm(costs, axis=1, keepdims=True))
    return np.vstack([space.psi.scale * (ys + length * costs) for length in (0.01, 0.1, 0.3, 0.45)])


def largest_ratio(
    space: OutputSpace, target: AffineLoss, rng: np.random.Generator, *, samples: int = 400, climbs: int = 40
) -> float:
    """Search for the supremum of E L/S: random scores, then hill climbing from the best.

    Always a lower bound of the supremum.
    """
    outputs = some_outputs(space, 64, rng)
    thetas = np.vstack([random_scores(space, samples, rng), steepest_scores(space, target, outputs)])
    best, row, column = ratio_table(space, target, thetas, outputs).largest()
    theta, y, spread = thetas[row], outputs[[column]], 0.5
    for _ in range(climbs):
        around = theta + spread * np.abs(theta).max() * rng.standard_normal((32, space.dim))
        value, row, _ = ratio_table(space, target, around, y).largest()
        if value > best:
            best, theta = value, around[row]
        else:
            spread *= 0.7
    return best
