"""Wolfe's corral: an affinely independent active set with its Cholesky factor."""

from __future__ import annotations

import math

import numpy as np

from osp_core import kernels
from osp_core.errors import Array, NumericalError
from osp_core.frank_wolfe.active_set import NEGLIGIBLE, ActiveSet
from osp_core.frank_wolfe.cholesky import AffineFactor
from osp_core.frank_wolfe.objectives import Quadratic

_DOUBTFUL = 1e-6  # relative Schur complements below this are recomputed without cancellation
_DEPENDENT = 1e-13  # below this the new vertex counts as affinely dependent on the corral


class Corral:
    """The active set of the min-norm-point method [Wolfe 1976].

    Its atoms are affinely independent, so there are at most dim + 1 of them, and the minimiser over their
    affine hull is one solve with the factor.
    """

    def __init__(self, active: ActiveSet) -> None:
        self.active = active
        self._kernels = kernels.load("osp_core.frank_wolfe")
        self.refactor()

    def refactor(self) -> None:
        """Compute the factor anew, and make the atoms affinely independent if they are not."""
        factor = AffineFactor.of(self.active.atoms.gram()) if len(self.active) > 1 else None
        if factor is None:
            self._rebuild()
        else:
            self._factor = factor

    def push(self, vertex: Array) -> bool:
        """Add a vertex with weight zero; False when it depends affinely on the corral."""
        active, factor = self.active, self._factor
        if len(active) > active.dim:
            return False
        offset = vertex - active.atoms.origin
        half, coordinates = factor.solve(active.atoms.products(offset) + factor.sigma)
        size = _square(offset) + factor.sigma
        pivot = size - _square(half)
        if pivot <= _DOUBTFUL * size:
            pivot, coordinates = self._exact_pivot(offset, coordinates)
            if pivot <= _DEPENDENT * size:
                return False
        active.add(vertex)
        factor.append(coordinates, pivot)
        if len(active) == 2 and factor.sigma < size - factor.sigma:
            self.refactor()  # only now is the length of the vectors known, which σ should match
        return True

    def pivot(self, vertex: Array) -> bool:
        """Exchange an atom for a vertex that depends affinely on the corral.

        With vertex ≈ Σ aᵢvᵢ, Σ aᵢ = 1, the weights w − t·a and t of the vertex give nearly the same mean;
        t grows until an atom has no weight left.
        """
        coordinates = self._coordinates(vertex)
        weights = self.active.weights
        ratios = _ratios(weights, coordinates)
        leaving = int(np.argmin(ratios))
        amount = float(ratios[leaving])
        self.active.set_weights(np.maximum(weights - amount * coordinates, 0.0))
        self._drop(leaving)
        entered = self.push(vertex)
        if entered:
            self.active.add(vertex, amount)
        self.active.normalise()
        return entered

    def settle(self, objective: Quadratic, step: Array | None = None) -> None:
        """Move to the minimiser over the corral's convex hull or a face of it: Wolfe's minor cycle.

        `step` is the first change of the weights, where the caller knows it already.
        """
        step = self._newton_step(objective) if step is None else step
        while self._advance(step) < 1.0:
            step = self._newton_step(objective)

    def entering_step(self, gap: float) -> Array:
        """The step that settles the corral after a vertex of this gap was pushed onto a settled one."""
        return self._factor.last_direction(gap)

    def _newton_step(self, objective: Quadratic) -> Array:
        # The step from the current weights, not the minimiser itself: the error of the solve is then
        # relative to the step, and repeating it is iterative refinement.
        slopes = self.active.slopes(objective.gradient(self.active.mean))
        return self._factor.constrained(slopes.mean() - slopes, 0.0)

    def _advance(self, step: Array) -> float:
        """Change the weights by `step`, or by the part of it that leaves none negative; return that part."""
        moved, length = self._kernels.advance(self.active.weights, step)
        if not math.isfinite(moved.sum()):
            raise NumericalError("The min-norm-point method broke down; use BlendedPairwise() instead.")
        self.active.set_weights(moved)
        self._drop_negligible()
        self.active.normalise()
        return float(length)

    def _drop_negligible(self) -> None:
        if self.active.weights.min() > NEGLIGIBLE:
            return
        for position in np.flatnonzero(self.active.weights <= NEGLIGIBLE)[::-1]:
            self._drop(int(position))

    def _drop(self, position: int) -> None:
        self._factor.delete(position)
        self.active.drop(position)

    def _coordinates(self, vertex: Array) -> Array:
        """The affine coordinates, summing to 1, of the point of the affine hull nearest to `vertex`."""
        offset = vertex - self.active.atoms.origin
        return self._factor.constrained(self.active.atoms.products(offset), 1.0)

    def _exact_pivot(self, offset: Array, coordinates: Array) -> tuple[float, Array]:
        """The squared distance from (offset, √σ) to the span of all (vᵢ, √σ), without cancellation.

        Returns it with the coordinates of the nearest point of the span, refined.
        """
        atoms, sigma = self.active.atoms, self._factor.sigma
        for _ in range(3):
            residual, defect = offset - atoms.combine(coordinates), 1.0 - float(coordinates.sum())
            coordinates = coordinates + self._factor.solve(atoms.products(residual) + sigma * defect)[1]
        residual, defect = offset - atoms.combine(coordinates), 1.0 - float(coordinates.sum())
        return _square(residual) + sigma * defect**2, coordinates

    def _rebuild(self) -> None:
        """Add the atoms one by one, those that depend on the ones before without changing the mean."""
        old = self.active.drain()
        self.active.add(old.atoms.dense(0), float(old.weights[0]))
        squares = [_square(old.atoms.dense(each) - self.active.atoms.origin) for each in range(len(old))]
        self._factor = AffineFactor(max(squares) or 1.0)
        self._factor.append(np.empty(0), squares[0] + self._factor.sigma)
        for position in range(1, len(old)):
            self._insert(old.atoms.dense(position), float(old.weights[position]))
        self.active.normalise()

    def _insert(self, vertex: Array, weight: float) -> None:
        """Add an atom with its weight; Carathéodory's exchange when it depends on the corral."""
        if self.push(vertex):
            self.active.add(vertex, weight)
            return
        coordinates = self._coordinates(vertex)
        ratios = _ratios(self.active.weights, -coordinates)
        leaving = int(np.argmin(ratios))
        amount = min(weight, float(ratios[leaving]))
        self.active.set_weights(np.maximum(self.active.weights + amount * coordinates, 0.0))
        if amount < weight:
            self._drop(leaving)
            self._insert(vertex, weight - amount)


def _ratios(weights: Array, decrease: Array) -> Array:
    """For every weight, how often `decrease` can be subtracted from it before it is zero."""
    ratios = np.full(weights.size, np.inf)
    np.divide(weights, decrease, out=ratios, where=decrease > 0.0)
    return ratios


def _square(vector: Array) -> float:
    return float(vector @ vector)
