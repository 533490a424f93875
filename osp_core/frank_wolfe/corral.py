"""Wolfe's corral: an affinely independent active set with its Cholesky factor."""

from __future__ import annotations

import numpy as np

from osp_core.errors import Array
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
        self.refactor()

    def refactor(self) -> None:
        """Compute the factor anew; atoms that depend on earlier ones are dropped."""
        gram = self.active.atoms.gram()
        sigma = _positive(gram.diagonal().max())
        factor = AffineFactor.of(gram, sigma)
        if factor is not None and factor.least_pivot() > _DOUBTFUL:
            self._factor = factor
            return
        self._rebuild(sigma)

    def push(self, vertex: Array) -> bool:
        """Add a vertex with weight zero; False when it depends affinely on the corral."""
        active, factor = self.active, self._factor
        if len(active) > active.dim:
            return False
        offset = vertex - active.atoms.origin
        column = factor.column(active.products(offset))
        size = float(offset @ offset) + factor.sigma
        pivot = size - float(column @ column)
        if pivot <= _DOUBTFUL * size:
            pivot = self._exact_pivot(offset, column)
            if pivot <= _DEPENDENT * size:
                return False
        active.add(vertex)
        factor.append(column, pivot)
        if len(active) == 2 and factor.sigma < size - factor.sigma:
            self.refactor()  # only now is the length of the vectors known, which σ should match
        return True

    def pivot(self, vertex: Array) -> bool:
        """Exchange an atom for a vertex that depends affinely on the corral.

        With vertex ≈ Σ aᵢvᵢ, Σ aᵢ = 1, the weights w − t·a and t of the vertex give nearly the same mean;
        t grows until an atom has no weight left.
        """
        offset = vertex - self.active.atoms.origin
        coordinates = self._factor.constrained(self.active.products(offset), 1.0)
        weights = self.active.weights
        ratios = np.full(weights.size, np.inf)
        np.divide(weights, coordinates, out=ratios, where=coordinates > NEGLIGIBLE)
        leaving = int(np.argmin(ratios))
        amount = float(ratios[leaving])
        self.active.set_weights(np.maximum(weights - amount * coordinates, 0.0))
        self._drop(leaving)
        entered = self.push(vertex)
        if entered:
            final = self.active.weights.copy()
            final[-1] = amount
            self.active.set_weights(final)
        self.active.normalise()
        return entered

    def settle(self, objective: Quadratic) -> None:
        """Move to the minimiser over the corral's convex hull or a face of it: Wolfe's minor cycle."""
        active = self.active
        while True:
            # The step from the current weights, not the minimiser itself: the error of the solve is then
            # relative to the step, and repeating it is iterative refinement.
            products = active.products(objective.gradient(active.mean))
            step = self._factor.constrained(products.mean() - products, 0.0)
            weights = active.weights
            shrinking = step < 0.0
            ratios = np.full(weights.size, np.inf)
            np.divide(weights, -step, out=ratios, where=shrinking)
            length = min(1.0, float(ratios.min()))
            moved = np.maximum(weights + length * step, 0.0)
            if length < 1.0:
                moved[ratios == length] = 0.0
            active.set_weights(moved)
            self._drop_negligible()
            active.normalise()
            if length == 1.0:
                return

    def _drop_negligible(self) -> None:
        for position in np.flatnonzero(self.active.weights <= NEGLIGIBLE)[::-1]:
            self._drop(int(position))

    def _drop(self, position: int) -> None:
        self._factor.delete(position)
        self.active.drop(position)

    def _exact_pivot(self, offset: Array, column: Array) -> float:
        """The squared distance from (offset, √σ) to the span of all (vᵢ, √σ), without cancellation."""
        atoms, factor = self.active.atoms, self._factor
        coordinates = factor.solve(column)
        for _ in range(2):  # the second round refines the first
            residual = offset - atoms.combine(coordinates)
            defect = 1.0 - float(coordinates.sum())
            squared = float(residual @ residual) + factor.sigma * defect**2
            correction = factor.column(atoms.products(residual) + factor.sigma * (defect - 1.0))
            coordinates = coordinates + factor.solve(correction)
        return squared

    def _rebuild(self, sigma: float) -> None:
        """Add the atoms one by one, leaving out those that depend on the ones before."""
        old = self.active
        vertices = [old.atoms.dense(position) for position in range(len(old))]
        weights = old.weights.copy()
        for position in range(len(old) - 1, -1, -1):
            old.drop(position)
        old.add(vertices[0])
        self._factor = AffineFactor(sigma)
        self._factor.append(np.empty(0), float(old.atoms.gram()[0, 0]) + sigma)
        kept = [weights[0]]
        for vertex, weight in zip(vertices[1:], weights[1:], strict=True):
            if self.push(vertex):
                kept.append(weight)
        old.set_weights(np.asarray(kept))
        if not old.weights.any():
            old.set_weights(np.ones(len(old)))
        old.normalise()


def _positive(value: float) -> float:
    return float(value) if value > 0 else 1.0
