"""The derivative of ŷ(θ), by implicit differentiation on the face that ŷ lies in.

Where the face does not change near θ, which is almost everywhere, ŷ solves an equality-constrained problem:
dŷ = argmin ½⟨v, ∇²Ψ(ŷ)v⟩ − ⟨dθ, v⟩ over the directions v of the face. With D = ∇²Ψ(ŷ)⁻¹ diagonal and N a
basis of the directions orthogonal to the face, the Jacobian is D − DN(NᵀDN)⁺NᵀD. It is symmetric, so that
products with it and with its transpose are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers import BinaryEntropy, GibbsEntropy, NegativeEntropy, SquaredNorm

if TYPE_CHECKING:
    from osp_core.spaces.base import OutputSpace

SHARPNESS = 1e7  # how much more the slope counts than a trial direction when a face is explored
LARGEST_DIMENSION = 2048  # of the systems to be solved
TIGHT = 1e-9
NOT_IN_USE = 1e-9  # atoms of less weight do not say in which face a point is
TINY = 1e-300

RowProduct = Callable[[Array, Prediction, Array], Array]


def jacobian_product(space: OutputSpace, thetas: Array, predictions: Predictions, directions: Array) -> Array:
    """Return the Jacobian of ŷ at every row of `thetas`, times the same row of `directions`.

    Exact up to rounding almost everywhere; where ŷ has a kink, the derivative in an adjoining region. The
    Jacobian is symmetric. An UnsupportedError says that ŷ cannot be differentiated, for no rows as well.
    """
    return implicit_product(space, thetas, predictions, directions)


def implicit_product(
    space: OutputSpace, thetas: Array, predictions: Predictions, directions: Array, *, binds: bool = True
) -> Array:
    """The same by implicit differentiation.

    Without `binds` no inequality of conv(Y) is tight at any ŷ: the face need not be looked for.
    """
    product = _gibbs(space) if isinstance(space.psi, GibbsEntropy) else _implicit(space, binds)
    rows = zip(thetas, predictions, directions, strict=True)
    return np.array([product(*row) for row in rows]).reshape(directions.shape)


def _implicit(space: OutputSpace, binds: bool) -> RowProduct:
    if not isinstance(space.psi, SquaredNorm | NegativeEntropy | BinaryEntropy):
        raise UnsupportedError(
            f"There is no backward pass for {space.psi!r} on {space!r}; SquaredNorm has one on every space."
        )
    if space.dim > LARGEST_DIMENSION:
        raise UnsupportedError(
            f"The backward pass on {space!r} would solve a system of {space.dim} unknowns per row; at most "
            f"{LARGEST_DIMENSION} are allowed. FenchelYoungLoss needs no backward pass of this kind."
        )

    def product(theta: Array, prediction: Prediction, direction: Array) -> Array:
        y = prediction.point
        slope = _slope(space, theta, y) if binds else np.zeros_like(y)
        normals = face_normals(space, slope, theta, prediction)
        root = np.sqrt(_inverse_hessian(space, y))
        weighted = root * direction
        along = root[:, np.newaxis] * normals
        if along.shape[1]:
            weighted = weighted - along @ np.linalg.lstsq(along, weighted, rcond=None)[0]
        return np.asarray(root * weighted)

    return product


def face_normals(space: OutputSpace, slope: Array, theta: Array, prediction: Prediction) -> Array:
    """An orthonormal basis of what is orthogonal to the face where ⟨slope, ·⟩ is least.

    Starts from the active set of the prediction, where there is one, and asks the oracle along a random
    remaining direction whether the face extends further: it nearly always does not, which takes two calls.
    """
    rng = np.random.default_rng(0)
    unknown = _complement(_active_differences(prediction), space.dim)
    sharp = slope * (SHARPNESS / (1.0 + float(np.abs(theta).max(initial=0.0))))
    while unknown.shape[1]:
        trial = unknown @ rng.normal(size=unknown.shape[1])
        trial /= np.linalg.norm(trial)
        difference = space.lmo(sharp - trial) - space.lmo(sharp + trial)
        if float(trial @ difference) <= TIGHT * (1.0 + float(np.linalg.norm(difference))):
            break
        inside = unknown.T @ difference
        unknown = unknown @ _complement(inside[:, np.newaxis], len(inside))
    return unknown


def _active_differences(prediction: Prediction) -> Array:
    """The atoms of a prediction relative to the heaviest, one a column."""
    combination = prediction.combination
    if combination is None:
        return np.zeros((prediction.point.size, 0))
    used = np.flatnonzero(combination.weights > NOT_IN_USE)
    atoms = np.array([combination.vertex(int(i)) for i in used])
    heaviest = int(np.argmax(combination.weights[used]))
    return np.asarray((atoms - atoms[heaviest]).T)


def _complement(columns: Array, dim: int) -> Array:
    """An orthonormal basis of the orthogonal complement of some columns."""
    if not columns.shape[1]:
        return np.eye(dim)
    left, values, _ = np.linalg.svd(columns, full_matrices=True)
    rank = int((values > TIGHT * values.max(initial=0.0)).sum())
    return np.asarray(left[:, rank:])


def _slope(space: OutputSpace, theta: Array, y: Array) -> Array:
    inside = np.maximum(y, TINY)
    if isinstance(space.psi, BinaryEntropy):
        return space.psi.scale * (np.log(inside) - np.log(np.maximum(1.0 - y, TINY))) - theta
    return space.psi.gradient(inside if isinstance(space.psi, NegativeEntropy) else y) - theta


def _inverse_hessian(space: OutputSpace, y: Array) -> Array:
    """The diagonal of ∇²Ψ(y)⁻¹."""
    if isinstance(space.psi, NegativeEntropy):
        diagonal = np.maximum(y, 0.0)
    elif isinstance(space.psi, BinaryEntropy):
        diagonal = np.maximum(y * (1.0 - y), 0.0)
    else:
        diagonal = np.ones_like(y)
    return np.asarray(diagonal / space.psi.scale)


def _gibbs(space: OutputSpace) -> RowProduct:
    """The covariance of the Gibbs distribution, by enumeration."""
    try:
        vertices = space.vertices()
    except UnsupportedError as error:
        raise UnsupportedError(
            f"There is no backward pass for GibbsEntropy on {space!r}, whose outputs cannot be listed; use "
            "SquaredNorm, or FenchelYoungLoss, which needs none."
        ) from error

    def product(theta: Array, prediction: Prediction, direction: Array) -> Array:
        scores = vertices @ theta / space.psi.scale
        law = np.exp(scores - scores.max())
        law /= law.sum()
        centred = vertices - prediction.point
        return np.asarray((law * (centred @ direction)) @ centred / space.psi.scale)

    return product
