"""What the linear oracle alone can answer: the defaults of `OutputSpace`, slow and always there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osp_core.errors import Array, InvalidInputError, NotAVertexError, UnsupportedError, as_vector
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.offsets import FAR, without_offset
from osp_core.geometry.predictions import Prediction

if TYPE_CHECKING:
    from osp_core.spaces.base import OutputSpace
    from osp_core.spaces.pictures import Picture


def nearest_vertex(space: OutputSpace, point: Array) -> Array:
    """Return the vertex nearest to `point` in `norm`; a candidate where `nearest_is_exact` is False."""
    if space.equal_norm and space.norm == 2:
        return space.lmo(-point)
    try:
        candidates = space.vertices()
    except UnsupportedError:
        candidates = np.vstack([space.lmo(-point), space.lmo(space.lmo(-point) - point)])
    return np.array(candidates[np.argmin(space.distance(candidates, point))])


def nearest_is_exact(space: OutputSpace) -> bool:
    """Whether `nearest_vertex` is never beaten; if not, the decoder certifies what it can."""
    overridden = getattr(type(space).nearest_vertex, "__wrapped__", None) is not nearest_vertex
    if overridden or (space.equal_norm and space.norm == 2):
        return True
    try:
        space.vertices()
    except UnsupportedError:
        return False
    return True


def project(space: OutputSpace, point: Array) -> Prediction:
    """Return the Euclidean projection of `point` on conv(Y); the gap is that of ½‖y − point‖²."""
    from osp_core.frank_wolfe import Quadratic, minimize

    result = minimize(space.lmo, Quadratic(point), tol=projection_tol(space))
    return Prediction(result.point, result.combination, result.gap, result.status, result.lmo_calls)


def kl_project(space: OutputSpace, log_weights: Array) -> Prediction:
    """Return argmin Σ yᵢ ln yᵢ − ⟨log_weights, y⟩ over conv(Y)."""
    raise UnsupportedError(
        f"{space!r} has no entropic prediction; use psi=SquaredNorm(), which every space has."
    )


def binary_kl_project(space: OutputSpace, log_odds: Array) -> Prediction:
    """Return argmin Σ yᵢ ln yᵢ + (1−yᵢ) ln(1−yᵢ) − ⟨log_odds, y⟩ over conv(Y)."""
    raise UnsupportedError(
        f"{space!r} has no prediction for BinaryEntropy; use psi=SquaredNorm(), which every space has."
    )


def projection_tol(space: OutputSpace) -> float | None:
    """The accuracy of a space as the engine takes it for ½‖y − θ/scale‖²: relative to 1 + ½‖y‖²."""
    if space.accuracy is None:
        return None
    return space.accuracy / space.psi.scale / (1.0 + 0.5 * space.max_square)


def decompose(space: OutputSpace, point: Array) -> ConvexCombination:
    """Write a point of conv(Y) as a convex combination of vertices."""
    from osp_core.frank_wolfe import Quadratic, minimize

    size = 1.0 + float(np.abs(point).max())
    result = minimize(space.lmo, Quadratic(point), distance_tol=1e-12 * size)
    distance = float(np.linalg.norm(result.combination.mean - point))
    if distance > 1e-7 * size:
        raise InvalidInputError(
            f"The point is outside conv(Y) of {space!r}, by a distance of {distance:.3g}."
        )
    return result.combination


def marginals(space: OutputSpace, theta: Array) -> Array:
    """Return E[Y] for Y drawn with probability ∝ exp⟨θ, y⟩."""
    weights = np.exp((scores := _enumerated_scores(space, theta)) - scores.max())
    return np.asarray(weights @ space.vertices() / weights.sum())


def log_partition(space: OutputSpace, theta: Array) -> float:
    """Return log Σ_y exp⟨θ, y⟩."""
    scores = _enumerated_scores(space, theta)
    return float(scores.max() + np.log(np.exp(scores - scores.max()).sum()))


def centred(space: OutputSpace, theta: Array) -> Array:
    """Return scores with the same predictions and losses, near 0 where an offset is large.

    A space whose outputs all have the same mass does not care what is added to all scores, but digits are
    lost beside a large offset. `theta` is a vector or a batch of rows; regularizers call this first.
    """
    # A large offset shows in every score, so one of them is looked at before all of them are.
    first = abs(theta.item(0)) if theta.ndim == 1 else np.abs(theta[:, 0]).max(initial=0.0)
    if first <= FAR * space.psi.scale:
        return theta
    return without_offset(theta) if space.constant_mass else theta


def is_vertex(space: OutputSpace, y: Array) -> bool:
    """Whether `y` is one of the outputs."""
    try:
        combination = space.decompose(y)
    except InvalidInputError:
        return False
    # An extreme point has no decomposition but itself.
    return len(combination) == 1 and bool(np.array_equal(combination.vertex(0), y))


def from_label(space: OutputSpace, label: Any) -> Array:
    """Return the vertex of what a person writes: here, the vertex itself."""
    try:
        y = as_vector(label, space.dim, "The output")
    except InvalidInputError as error:
        raise NotAVertexError(str(error)) from error
    if not space.is_vertex(y):
        raise NotAVertexError(f"{np.array2string(y, threshold=12)} is not an output of {space!r}.")
    return y


def as_vertex(space: OutputSpace, y: Any) -> Array:
    """Return the vertex of an output given as a vertex (a numpy vector) or as a label."""
    vector = isinstance(y, np.ndarray) and y.shape == (space.dim,) and y.dtype.kind in "fiub"
    return y.astype(np.float64) if vector and space.is_vertex(y) else space.from_label(y)


def _enumerated_scores(space: OutputSpace, theta: Array) -> Array:
    try:
        return np.asarray(space.vertices() @ theta)
    except UnsupportedError as error:
        raise UnsupportedError(
            f"{space!r} has no tractable Gibbs marginals; use psi=SquaredNorm(), which every space has."
        ) from error


def to_label(space: OutputSpace, vertex: Array) -> Any:
    """Return what a person would write for `vertex`."""
    return vertex


def draw(space: OutputSpace, point: Array) -> Picture | None:
    """What a point of conv(Y) looks like, for a report; None for a bar chart of its coordinates."""
    return None


def contains(space: OutputSpace, point: ArrayLike, tol: float = 1e-9) -> bool:
    """Whether `point` is within Euclidean distance `tol` of conv(Y)."""
    vector = as_vector(point, space.dim, "point")
    return bool(np.linalg.norm(space.project(vector).point - vector) <= tol)


def vertices(space: OutputSpace) -> Array:
    """Return all outputs, one a row, for spaces small enough to list."""
    raise UnsupportedError(f"The outputs of {space!r} cannot be enumerated.")


def distance(space: OutputSpace, points: Array, point: Array) -> Array:
    """‖points − point‖ in the norm of the space, row by row."""
    return np.asarray(np.linalg.norm(points - point, ord=space.norm, axis=-1))


def least_distance(space: OutputSpace, point: Array) -> float:
    """A distance from `point` that no output falls short of, cheaper than finding the nearest one."""
    return 0.0


def memory(space: OutputSpace) -> dict[str, NDArray[Any]]:
    """What earlier calls left behind that later answers depend on; checkpoints keep it."""
    return {}


def recall(space: OutputSpace, memory: Mapping[str, NDArray[Any]]) -> None:
    """Continue from what `memory` returned."""
    if memory:
        raise InvalidInputError(f"{space!r} remembers nothing, but was given {', '.join(sorted(memory))}.")
