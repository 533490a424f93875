"""The directions of a set, span(Y − Y), found and certified through its linear oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from osp_core.errors import Array

LARGEST_DIMENSION = 512  # the discovery costs up to 2·dim oracle calls and dim³ arithmetic


@dataclass(frozen=True, eq=False)
class Span:
    """span(Y − Y) through an orthonormal basis of its complement; an empty basis means all of R^d."""

    complement: Array

    def project(self, direction: Array) -> Array:
        """Return the orthogonal projection of `direction` on the span."""
        return np.asarray(direction - self.complement @ (self.complement.T @ direction))


def discover_span(lmo: Callable[[Array], Array], dim: int) -> Span:
    """Return span(Y − Y), or all of R^dim where the discovery would be too expensive.

    Every direction left in the complement has been certified: the oracle's least and greatest value
    along it are equal. Taking the span too large is safe for γ, which it can only enlarge.
    """
    if dim > LARGEST_DIMENSION:
        return Span(np.zeros((dim, 0)))
    unknown, certified = np.eye(dim), np.zeros((dim, 0))
    while unknown.shape[1]:
        normal = unknown[:, 0]
        difference = lmo(-normal) - lmo(normal)
        if float(normal @ difference) <= 1e-9 * (1.0 + float(np.linalg.norm(difference))):
            certified = np.column_stack([certified, normal])
            unknown = unknown[:, 1:]
        else:
            unknown = _without(difference, unknown)
    return Span(certified)


def _without(direction: Array, basis: Array) -> Array:
    """Return an orthonormal basis of the part of span(basis) that is orthogonal to `direction`."""
    coefficients = basis.T @ direction
    # A Householder reflection takes the coefficients to a multiple of e₁; the other columns remain.
    mirror = coefficients.copy()
    mirror[0] += np.copysign(np.linalg.norm(coefficients), coefficients[0])
    reflected = basis - np.outer(basis @ mirror, (2.0 / (mirror @ mirror)) * mirror)
    return np.asarray(reflected[:, 1:])
