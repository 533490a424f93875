"""The constants of [SBTO24, Assumption 1] where a space does not state them: derived from its oracle.

`OutputSpace` has them as attributes of the same names, computed once for one Ψ and one norm (`derived`). All
err on the safe side: ν and λ too small, diameters and ranges too large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core.errors import Array, MissingConstantError, UnsupportedError
from osp_core.geometry.norms import norm_ratio

if TYPE_CHECKING:
    from osp_core.spaces.base import OutputSpace


def nu(space: OutputSpace) -> float:
    """ν: the least distance between two outputs, [SBTO24, Assumption 1 (I)]. Too small is safe."""
    try:
        vertices = space.vertices()
    except UnsupportedError as error:
        raise MissingConstantError(
            f"ν of {space!r} is not known; give nu=…, a lower bound of the distance between two outputs "
            f"in the ℓ{space.norm:g} norm (1 for integer outputs)."
        ) from error
    pairs = (space.distance(vertices[i + 1 :], vertices[i]).min() for i in range(len(vertices) - 1))
    return float(min(pairs, default=np.inf))


def kappa(space: OutputSpace) -> float:
    """κ with ‖y‖₂ ≤ κ‖y‖ in the norm of the space."""
    return norm_ratio(2.0, space.norm, space.dim)


def lam(space: OutputSpace) -> float:
    """λ of Ψ with respect to `norm`."""
    return space.psi.strong_convexity(space, space.norm)


def lam2(space: OutputSpace) -> float:
    """λ of Ψ with respect to ℓ2."""
    return space.psi.strong_convexity(space, 2.0)


def diameter(space: OutputSpace) -> float:
    """The diameter of Y in `norm`, never too small."""
    return space.diameter_in(space.norm)


def diameter2(space: OutputSpace) -> float:
    """The diameter of Y in ℓ2, never too small."""
    return space.diameter_in(2.0)


def min_entry(space: OutputSpace) -> float:
    """The least entry of any output."""
    return float(space._box[0].min())


def max_entry(space: OutputSpace) -> float:
    """The greatest entry of any output."""
    return float(space._box[1].max())


def min_mass(space: OutputSpace) -> float:
    """The least sum of the entries of an output."""
    return float(space.lmo(np.ones(space.dim)).sum())


def max_mass(space: OutputSpace) -> float:
    """The greatest ‖y‖₁ of an output."""
    if space.min_entry >= 0:
        return float(space.lmo(-np.ones(space.dim)).sum())
    return float(_largest_entries(space).sum())


def max_square(space: OutputSpace) -> float:
    """The greatest ‖y‖₂² of an output."""
    if space.equal_norm:
        return float(np.square(space.lmo(np.zeros(space.dim))).sum())
    return float(np.square(_largest_entries(space)).sum())


def constant_mass(space: OutputSpace) -> bool:
    """Whether all outputs have the same sum of entries."""
    most = float(space.lmo(-np.ones(space.dim)).sum())
    return bool(abs(most - space.min_mass) <= 1e-9 * (1.0 + abs(most)))


def box(space: OutputSpace) -> tuple[Array, Array]:
    """The least and greatest value of every coordinate: two oracle calls each."""
    axes = np.eye(space.dim)
    low = np.array([space.lmo(axis) @ axis for axis in axes])
    high = np.array([space.lmo(-axis) @ axis for axis in axes])
    return low, high


def span(space: OutputSpace) -> Any:
    """The directions of Y, span(Y − Y)."""
    from osp_core.geometry.directions import discover_span

    return discover_span(space.lmo, space.dim)


# --- constants in any norm, as methods --------------------------------------------------------------------


def nu_in(space: OutputSpace, p: float) -> float:
    """A lower bound of the distance between two outputs in the ℓp norm."""
    return space.nu / norm_ratio(space.norm, p, space.dim)


def diameter_in(space: OutputSpace, p: float) -> float:
    """An upper bound of the distance between two outputs in the ℓp norm."""
    low, high = space._box
    return float(np.linalg.norm(high - low, ord=p))


def gibbs_convexity(space: OutputSpace, p: float) -> float:
    """λ of the Gibbs entropy in ℓp: 4/D² by Pinsker, sharper than the 1/max‖y‖₁² of the paper."""
    diameter = space.diameter_in(p)
    return 4.0 / diameter**2 if diameter > 0 else np.inf


def project_direction(space: OutputSpace, direction: Array) -> Array:
    """Return the orthogonal projection of `direction` on span(Y − Y)."""
    return np.asarray(space._span.project(direction))


def _largest_entries(space: OutputSpace) -> Array:
    low, high = space._box
    return np.asarray(np.maximum(np.abs(low), np.abs(high)))
