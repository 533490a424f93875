"""Adversarial streams, and games that learners play against them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.learners import OnlineLearner
from osp_core.online.comparator import best_comparator
from osp_core.online.predictor import OnlinePredictor
from osp_core.spaces import OutputSpace

N_FEATURES = 5

Adversary = Callable[[OnlinePredictor, int, np.random.Generator], tuple[Array, Array]]
"""From a predictor and the number of the round (from 0) to the x and y of that round."""


@dataclass(frozen=True, eq=False)
class Game:
    """What happened when a learner met an adversary."""

    predictor: OnlinePredictor
    inputs: Array
    outputs: Array
    expected_losses: Array
    iterates: list[Array]

    def surrogate_loss(self, U: Array) -> float:
        """ΣS_t(U), on the scale of the loss."""
        values, _ = self.predictor.loss.values_and_gradients(self.inputs @ U.T, self.outputs)
        return float(values.sum())

    def comparators(self) -> list[Array]:
        """Comparators of all lengths: nearly the best for the bound, its multiples, and short ones."""
        predictor = self.predictor
        best = best_comparator(
            predictor.space, self.inputs, list(self.outputs), predictor.certificate, max_iter=25
        ).weights
        length = float(np.linalg.norm(best)) or 1.0
        multiples = [factor * best for factor in (0.0, 0.5, 1.0, 2.0)]
        return multiples + [best * (norm / length) for norm in (0.5, 1.0, 2.0, 4.0)]


def play_against(
    learner: OnlineLearner, space: OutputSpace, adversary: Adversary, rng: np.random.Generator, rounds: int
) -> Game:
    """Let a learner play against an adversary."""
    predictor = OnlinePredictor(space, N_FEATURES, learner=learner, seed=int(rng.integers(2**32)))
    inputs, outputs, expected, iterates = [], [], [], []
    for t in range(rounds):
        iterates.append(predictor.learner.weights.copy())
        x, y = adversary(predictor, t, rng)
        expected.append(predictor.step(x, y).expected_loss)
        inputs.append(x)
        outputs.append(y)
    return Game(predictor, np.array(inputs), np.array(outputs), np.array(expected), iterates)


def random_rounds(predictor: OnlinePredictor, t: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Inputs and outputs that have nothing to do with each other."""
    return _unit(rng), predictor.space.lmo(rng.standard_normal(predictor.space.dim))


def drifting_rounds(predictor: OnlinePredictor, t: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Outputs of a teacher that turns slowly and jumps every 40 rounds."""
    space, x = predictor.space, _unit(rng)
    teachers = np.random.default_rng(t // 40).standard_normal((2, space.dim, N_FEATURES))
    angle = 0.03 * t
    return x, space.lmo(-(np.cos(angle) * teachers[0] + np.sin(angle) * teachers[1]) @ x)


def adaptive_rounds(predictor: OnlinePredictor, t: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The output with the largest surrogate loss for the current weights: the worst that can happen."""
    space, x = predictor.space, np.eye(N_FEATURES)[t % N_FEATURES]
    theta = np.asarray(predictor.learner.weights @ x)
    prediction = space.predict(theta)
    candidates = _candidates(space, rng)
    losses = [predictor.loss.at(theta, prediction, y)[0] for y in candidates]
    return x, candidates[int(np.argmax(losses))]


def separable_rounds(predictor: OnlinePredictor, t: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The axes in turn, all with the output that is worst for W = 0.

    A good U has next to no loss here, so that the regret comes nearer to its bound than on noisy streams.
    """
    space = predictor.space
    law = predictor.decoder.law(space.predict(np.zeros(space.dim)))
    candidates = _candidates(space, np.random.default_rng(0))
    losses = [law.expected_loss(predictor.target, y) for y in candidates]
    return np.eye(N_FEATURES)[t % N_FEATURES], candidates[int(np.argmax(losses))]


ADVERSARIES: dict[str, Adversary] = {
    "random": random_rounds,
    "drifting": drifting_rounds,
    "adaptive": adaptive_rounds,
    "separable": separable_rounds,
}


def _unit(rng: np.random.Generator) -> Array:
    x = rng.standard_normal(N_FEATURES)
    return np.asarray(x / np.linalg.norm(x))


def _candidates(space: OutputSpace, rng: np.random.Generator) -> list[Any]:
    try:
        rows = space.vertices()
    except NotImplementedError:
        rows = np.array([space.lmo(cost) for cost in rng.standard_normal((8, space.dim))])
    return list(rows if len(rows) <= 32 else rng.permutation(rows)[:32])
