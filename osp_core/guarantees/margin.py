"""Margins: how far scores are from a tie, and when the SparseMAP loss is zero; [SBTO24, App. F.2]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import InvalidInputError, as_positive, as_vector
from osp_core.regularizers import SquaredNorm
from osp_core.spaces import OutputSpace


def margin(space: OutputSpace, theta: ArrayLike) -> float:
    """Return d(θ, F): the Euclidean distance from θ to the scores with more than one best output.

    It equals min over y′ ≠ y of ⟨θ, y − y′⟩/‖y − y′‖₂ with y the best output: the cone lemma of the paper,
    which states one direction, read as an equation. Needs a space that can list its outputs.
    """
    scores = as_vector(theta, space.dim, "theta")
    y, others = _best_and_others(space, scores)
    if not len(others):
        raise InvalidInputError(f"{space!r} has a single output, so no scores are tied.")
    differences = y - others
    return max(0.0, float((differences @ scores / np.linalg.norm(differences, axis=1)).min()))


def has_separation_margin(space: OutputSpace, theta: ArrayLike, y: ArrayLike, *, tol: float = 0.0) -> bool:
    """Whether S(θ; y) = 0 for Ψ = scale/2·‖·‖²: ⟨θ, y − y′⟩ ≥ scale·⟨y, y − y′⟩ for every output y′.

    The paper's condition, with ½‖y − y′‖² in place of ⟨y, y − y′⟩, is the same only where all outputs have
    equal norms.
    """
    scores, truth = as_vector(theta, space.dim, "theta"), as_vector(y, space.dim, "y")
    differences = truth - space.vertices()
    return bool((differences @ (scores - _quadratic_scale(space) * truth) >= -tol).all())


def separating_factor(space: OutputSpace, least_margin: float) -> float:
    """Return f such that U = f·U₀ has S(Ux; y) = 0 wherever U₀ separates with margin `least_margin`.

    f = scale·max‖Py‖₂/t₀ with P the projector on span(Y − Y), since ⟨y, y − y′⟩ = ⟨Py, y − y′⟩. The paper's
    D/(2t₀) holds only where all outputs have equal norms.
    """
    t0 = as_positive(least_margin, "least_margin")
    y = space.lmo(np.zeros(space.dim))
    outside = y - space.project_direction(y)  # the same for every output
    largest = np.sqrt(max(0.0, space.max_square - float(outside @ outside)))
    return _quadratic_scale(space) * float(largest) / t0


def _quadratic_scale(space: OutputSpace) -> float:
    if not isinstance(space.psi, SquaredNorm):
        raise InvalidInputError(
            f"Only the SparseMAP loss reaches zero; {space!r} has {space.psi!r}. Use psi=SquaredNorm()."
        )
    return space.psi.scale


def _best_and_others(space: OutputSpace, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    vertices = space.vertices()
    best = int(np.argmax(vertices @ scores))
    return vertices[best], np.delete(vertices, best, axis=0)
