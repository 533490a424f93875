"""Streams that mean the learner no good."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array, InvalidInputError, UnsupportedError, as_count
from osp_core.online.streams import AdversarialStream, Stream
from osp_core.spaces import OutputSpace
from osp_streams.teacher import on_sphere

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor

MOST_CANDIDATES = 256


def lower_bound(space: OutputSpace, rounds: int, hard_rounds: int = 20, seed: int = 0) -> Stream:
    """The stream on which no learner does better than Ω(‖U‖²/ln²d), [SBTO24, Thm 13]; C = 1.

    The first `hard_rounds` inputs are new unit vectors, each with a uniform class; one last unit vector
    repeats with a frozen class. The comparator has the columns ln(2d)·e_y and, in the end, ln(2dT)·e_y. The
    paper's last column, ln(dT)·e_{M+1}, has the wrong index and is too short for its claim.

    Parameters
    ----------
    space : OutputSpace
        A simplex.
    rounds : int
        T, more than `hard_rounds`.
    hard_rounds : int
        M.
    seed : int
        Of the classes.
    """
    rounds, hard = as_count(rounds, "rounds"), as_count(hard_rounds, "hard_rounds")
    if rounds < hard + 1:
        raise InvalidInputError(f"The stream needs more rounds than its {hard} hard ones, got {rounds}.")
    if not (space.zero_one and space.max_mass == 1.0 and space.constant_mass and space.dim >= 2):
        raise InvalidInputError(f"The lower-bound stream is one of d ≥ 2 classes; {space!r} is no simplex.")
    classes = np.random.default_rng(seed).integers(space.dim, size=hard + 1)
    lengths = np.full(hard + 1, math.log(2 * space.dim))
    lengths[-1] = math.log(2 * space.dim * rounds)
    comparator = np.zeros((space.dim, hard + 1))
    comparator[classes, np.arange(hard + 1)] = lengths

    def generate() -> Iterator[tuple[Array, Array]]:
        outputs, inputs = np.eye(space.dim), np.eye(hard + 1)
        for number in range(rounds):
            column = min(number, hard)
            yield inputs[column].copy(), outputs[classes[column]].copy()

    description = f"lower bound, {hard} hard rounds, ‖U‖ = {np.linalg.norm(comparator):.4g}, seed {seed}"
    return Stream(space, hard + 1, 1.0, rounds, generate, description, comparator)


def adaptive_adversary(
    space: OutputSpace, rounds: int, n_features: int = 8, seed: int = 0
) -> AdversarialStream:
    """Random inputs on the unit sphere (C = 1); y maximises the expected loss of what is about to be played.

    The adversary sees the law of the coming play, not its outcome: exactly what the guarantees allow.

    Parameters
    ----------
    space : OutputSpace
    rounds : int
    n_features : int
    seed : int
        Of the inputs.
    """
    rounds, n_features = as_count(rounds, "rounds"), as_count(n_features, "n_features")

    def respond(predictor: OnlinePredictor) -> Iterator[tuple[Array, Array]]:
        rng, outputs = np.random.default_rng(seed), listed_outputs(space)
        for _ in range(rounds):
            x = on_sphere(n_features, rng)
            yield x, worst_output(space, outputs, predictor, x)

    description = f"adaptive adversary, seed {seed}"
    return AdversarialStream.of(space, n_features, 1.0, rounds, respond, description)


def listed_outputs(space: OutputSpace) -> Array | None:
    """All outputs of a space that has few, else None."""
    try:
        outputs = space.vertices()
    except UnsupportedError:
        return None
    return outputs if len(outputs) <= MOST_CANDIDATES else None


def worst_output(space: OutputSpace, outputs: Array | None, predictor: OnlinePredictor, x: Array) -> Array:
    """The output with the greatest expected loss for x; among `outputs`, else among three candidates."""
    mean = predictor.law(x).mean
    if outputs is None:
        # The targets fall with ⟨y′, y⟩, or with a distance: what lies opposite to the mean costs most.
        outputs = np.array([space.lmo(mean), space.lmo(2.0 * mean - 1.0), space.lmo(-mean)])
    losses = [predictor.target.at(y)(mean) for y in outputs]
    return np.array(outputs[int(np.argmax(losses))])
