"""The derivative of ŷ(θ), by implicit differentiation on the face that ŷ lies in.

Where the face does not change near θ, which is almost everywhere, ŷ solves an equality-constrained problem:
dŷ = argmin ½⟨v, ∇²Ψ(ŷ)v⟩ − ⟨dθ, v⟩ over the directions v of the face. With D = ∇²Ψ(ŷ)⁻¹ diagonal and N a
basis of the directions orthogonal to the face, the Jacobian is D − DN(NᵀDN)⁺NᵀD. It is symmetric, so that
products with it and with its transpose are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from osp_core.errors import Array, UnsupportedError
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.registry.registry import registered_name
from osp_core.regularizers import BinaryEntropy, GibbsEntropy, NegativeEntropy, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_core.spaces.product import Product

SHARPNESS = 1e7  # how much more the slope counts than a trial direction when a face is explored
LARGEST_DIMENSION = 2048  # of the generic method, which solves a system of this size
TIGHT = 1e-9
NOT_IN_USE = 1e-9  # atoms of less weight do not say in which face a point is
TINY = 1e-300

ClosedForm = Callable[[Array, Array, float], Array]


def jacobian_products(
    space: OutputSpace, thetas: Array, predictions: Predictions, directions: Array
) -> Array:
    """Return the Jacobian of ŷ at every row of `thetas`, times the same row of `directions`.

    Exact up to rounding almost everywhere; where ŷ has a kink, the derivative in an adjoining region.
    """
    if isinstance(space, Product):
        return _factor_products(space, thetas, predictions, directions)
    name, psi = registered_name("space", type(space)), type(space.psi)
    closed_form = _CLOSED_FORMS.get((name, psi))
    if closed_form is not None:
        return closed_form(predictions.point, directions, space.psi.scale)
    if (name, psi) == ("permutahedron", SquaredNorm):
        rows = zip(predictions.point, directions, strict=True)
        products = [_centred_in_blocks(y, v, space.lmo(-y)) for y, v in rows]
        return np.array(products).reshape(directions.shape) / space.psi.scale
    product = _generic(space, name)
    rows_of = zip(thetas, predictions, directions, strict=True)
    return np.array([product(*row) for row in rows_of]).reshape(directions.shape)


def check_differentiable(space: OutputSpace) -> None:
    """Refuse a space whose ŷ this module cannot differentiate."""
    if isinstance(space, Product):
        for factor in space.factors:
            check_differentiable(factor)
        return
    _generic(space, registered_name("space", type(space)))


def _factor_products(space: Product, thetas: Array, predictions: Predictions, directions: Array) -> Array:
    products = np.empty_like(directions)
    for block in space.blocks():
        at = block.coordinates[0]
        points = Predictions.exact(predictions.point[:, at])
        products[:, at] = jacobian_products(block.space, thetas[:, at], points, directions[:, at])
    return products


def _generic(space: OutputSpace, name: str | None) -> Callable[[Array, Prediction, Array], Array]:
    psi = space.psi
    if isinstance(psi, GibbsEntropy):
        return _gibbs(space, name)
    if not isinstance(psi, SquaredNorm | NegativeEntropy | BinaryEntropy):
        raise UnsupportedError(
            f"There is no backward pass for {psi!r} on {space!r}; SquaredNorm has one on every space."
        )
    if space.dim > LARGEST_DIMENSION and (name, type(psi)) not in _CLOSED_FORMS and name != "permutahedron":
        raise UnsupportedError(
            f"The backward pass on {space!r} would solve a system of {space.dim} unknowns per row; at most "
            f"{LARGEST_DIMENSION} are allowed. FenchelYoungLoss needs no backward pass of this kind."
        )
    # With an entropy these polytopes never bind: all entries stay positive, and the rest is equations.
    never_binds = name in ("birkhoff", "matching") and isinstance(psi, NegativeEntropy)

    def product(theta: Array, prediction: Prediction, direction: Array) -> Array:
        y = prediction.point
        slope = np.zeros_like(y) if never_binds else _slope(space, theta, y)
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


def _gibbs(space: OutputSpace, name: str | None) -> Callable[[Array, Prediction, Array], Array]:
    """The covariance of the Gibbs distribution, by enumeration."""
    try:
        vertices = space.vertices()
    except UnsupportedError as error:
        if (name, GibbsEntropy) in _CLOSED_FORMS:
            return _unreachable
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


def _unreachable(theta: Array, prediction: Prediction, direction: Array) -> Array:
    raise AssertionError("a closed form comes first")


def _centred_in_blocks(y: Array, direction: Array, ranked: Array) -> Array:
    """Subtract the mean of every block between tight partial sums, the blocks that were pooled."""
    order = np.argsort(-y, kind="stable")
    weights = np.sort(ranked)[::-1]
    excess = np.abs(np.cumsum(y[order] - weights))
    ends = excess <= TIGHT * (1.0 + float(np.abs(weights).max()) * len(weights))
    blocks = np.concatenate([[0], np.cumsum(ends[:-1])])
    means = np.bincount(blocks, direction[order]) / np.bincount(blocks)
    centred = np.empty_like(direction)
    centred[order] = direction[order] - means[blocks]
    return centred


def _softmax(y: Array, v: Array, scale: float) -> Array:
    return np.asarray(y * (v - (y * v).sum(axis=1, keepdims=True)) / scale)


def _sparsemax(y: Array, v: Array, scale: float) -> Array:
    support = y > 0
    means = (v * support).sum(axis=1, keepdims=True) / support.sum(axis=1, keepdims=True)
    return np.asarray(np.where(support, v - means, 0.0) / scale)


def _clip(y: Array, v: Array, scale: float) -> Array:
    return np.asarray(np.where((y > 0) & (y < 1), v, 0.0) / scale)


def _sigmoid(y: Array, v: Array, scale: float) -> Array:
    return np.asarray(y * (1.0 - y) * v / scale)


def _capped_exponential(y: Array, v: Array, scale: float) -> Array:
    return np.asarray(np.where(y < 1, y * v, 0.0) / scale)


_CLOSED_FORMS: dict[tuple[Any, type], ClosedForm] = {
    ("simplex", NegativeEntropy): _softmax,
    ("simplex", GibbsEntropy): _softmax,
    ("simplex", SquaredNorm): _sparsemax,
    ("hypercube", SquaredNorm): _clip,
    ("hypercube", BinaryEntropy): _sigmoid,
    ("hypercube", GibbsEntropy): _sigmoid,
    ("hypercube", NegativeEntropy): _capped_exponential,
}
