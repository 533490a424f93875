"""Streams labelled by a teacher."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from osp_core.errors import Array, InvalidInputError, as_count, as_positive
from osp_core.guarantees import margin, separating_factor
from osp_core.online.streams import Stream
from osp_core.regularizers import SquaredNorm
from osp_core.spaces import OutputSpace


def linear_teacher(
    space: OutputSpace, rounds: int, n_features: int = 8, noise: float = 0.1, seed: int = 0
) -> Stream:
    """Inputs uniform on the unit sphere, so C = 1; y is the best output for a random linear model's scores.

    Parameters
    ----------
    space : OutputSpace
    rounds : int
    n_features : int
    noise : float
        Standard deviation of Gaussian noise on the scores, relative to the scores' own.
    seed : int
        Of the teacher, the inputs and the noise.
    """
    return drifting_teacher(space, rounds, n_features, segments=1, noise=noise, seed=seed)


def drifting_teacher(
    space: OutputSpace,
    rounds: int,
    n_features: int = 8,
    segments: int = 10,
    noise: float = 0.1,
    seed: int = 0,
) -> Stream:
    """A linear teacher that is replaced by a new one `segments` − 1 times, at equal intervals; C = 1.

    Parameters
    ----------
    space, rounds, n_features, noise, seed
        As for the linear teacher, which has one segment.
    segments : int
    """
    rounds, n_features = as_count(rounds, "rounds"), as_count(n_features, "n_features")
    segments = as_count(segments, "segments")
    if not noise >= 0:
        raise InvalidInputError(f"noise must be at least 0, got {noise}.")
    starts = {rounds * segment // segments for segment in range(segments)}

    def generate() -> Iterator[tuple[Array, Array]]:
        rng = np.random.default_rng(seed)
        teacher = np.zeros((space.dim, n_features))
        for number in range(rounds):
            if number in starts:
                teacher = rng.standard_normal((space.dim, n_features))
            x = on_sphere(n_features, rng)
            # ‖x‖ = 1, so each score has variance 1 over the teachers.
            scores = teacher @ x + noise * rng.standard_normal(space.dim)
            yield x, space.lmo(-scores)

    kind = "linear teacher" if segments == 1 else f"drifting teacher, {segments} segments"
    return Stream(space, n_features, 1.0, rounds, generate, f"{kind}, noise {noise:g}, seed {seed}")


def separable(
    space: OutputSpace, rounds: int, n_features: int = 8, least_margin: float = 0.1, seed: int = 0
) -> Stream:
    """Inputs on the unit sphere (C = 1) at which a teacher U₀, ‖U₀‖ = 1, has d(U₀x, F) ≥ least_margin.

    This is the setting of [SBTO24, App. F.2], where the risk falls like 1/T. With Ψ = scale/2·‖·‖² the stream
    carries the comparator U = f·U₀ with S_t(U) = 0 in every round; f is corrected, see `separating_factor`.

    Parameters
    ----------
    space : OutputSpace
        One that can list its outputs, for the margins.
    rounds, n_features, seed
        As for the linear teacher.
    least_margin : float
        Inputs with a smaller margin are rejected. Too large a value is refused.
    """
    rounds, n_features = as_count(rounds, "rounds"), as_count(n_features, "n_features")
    least = as_positive(least_margin, "least_margin")
    teacher = np.random.default_rng(seed).standard_normal((space.dim, n_features))
    teacher /= np.linalg.norm(teacher)

    def generate() -> Iterator[tuple[Array, Array]]:
        rng = np.random.default_rng([seed, 1])
        for _ in range(rounds):
            x = _separated(space, teacher, least, rng)
            yield x, space.lmo(-(teacher @ x))

    quadratic = isinstance(space.psi, SquaredNorm)
    comparator = separating_factor(space, least) * teacher if quadratic else None
    description = f"separable with margin {least:g}, seed {seed}"
    return Stream(space, n_features, 1.0, rounds, generate, description, comparator)


def on_sphere(dim: int, rng: np.random.Generator) -> Array:
    """A point drawn uniformly from the unit sphere."""
    x = rng.standard_normal(dim)
    return np.asarray(x / np.linalg.norm(x))


def _separated(space: OutputSpace, teacher: Array, least: float, rng: np.random.Generator) -> Array:
    for _ in range(10_000):
        x = on_sphere(teacher.shape[1], rng)
        if margin(space, teacher @ x) >= least:
            return x
    raise InvalidInputError(
        f"No input among 10000 had a margin of {least:g} on {space!r}; ask for a smaller least_margin."
    )
