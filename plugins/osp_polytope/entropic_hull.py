"""Entropic predictions over the hull of integer points, which only an oracle knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from osp_core.errors import Array, NumericalError
from osp_core.frank_wolfe import VertexCache
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction
from osp_polytope.entropic_polytope import certified
from osp_polytope.entropies import Entropy
from osp_polytope.interior_point import EntropicProgram

_ENOUGH = 1e-10  # the relative gap at which to stop
_ROUNDS = 2000


class EntropicHull:
    """Column generation: minimise over the hull of known points, ask the oracle for a better one, repeat."""

    def __init__(self, cache: VertexCache, dim: int, entropy: Entropy) -> None:
        self.cache, self.dim, self.entropy = cache, dim, entropy
        self._points: dict[bytes, Array] = {}

    def known(self) -> Array:
        """The points found so far, one a row."""
        return np.array(list(self._points.values())).reshape(-1, self.dim)

    def learn(self, points: Array) -> None:
        """Know these points, and no others."""
        self._points = {point.tobytes(): point for point in np.array(points, dtype=np.float64)}

    def minimize(self, weights: Array, lmo: Callable[[Array], Array]) -> Prediction:
        """Return the minimiser with its Frank–Wolfe gap and the points it is made of."""
        calls = [0]

        def counted(cost: Array) -> Array:
            calls[0] += 1
            vertex = lmo(cost)
            self.cache.add(vertex)
            self._points.setdefault(vertex.tobytes(), vertex)
            return vertex

        moving = self._cover(counted)
        best: Prediction | None = None
        for _ in range(_ROUNDS):
            before = len(self._points)
            prediction = self._master(weights, moving, counted)
            if best is None or prediction.gap < best.gap:
                best = prediction
            enough = _ENOUGH * (1.0 + float(np.abs(weights).max(initial=0.0)))
            if prediction.gap <= enough or len(self._points) == before:
                self._forget(best)
                return replace(best, lmo_calls=calls[0])
        raise NumericalError("Column generation did not converge; use psi=SquaredNorm().")

    def _cover(self, lmo: Callable[[Array], Array]) -> Array:
        """Make sure that the known points together leave the ends of the domain wherever they can."""
        stuck = np.zeros(self.dim, dtype=bool)
        for end, sign in ((0.0, -1.0), (self.entropy.high, 1.0)):
            while np.isfinite(end):
                known = self.known()
                wanted = (known == end).all(axis=0) & ~stuck if len(known) else np.ones(self.dim, dtype=bool)
                if not wanted.any():
                    break
                vertex = lmo(sign * wanted.astype(np.float64))
                if (vertex[wanted] == end).all():
                    stuck |= wanted
        return ~stuck

    def _forget(self, prediction: Prediction) -> None:
        """Keep the problem small: drop points without weight when there are many."""
        combination = prediction.combination
        if len(self._points) <= 4 * self.dim + 50 or combination is None:
            return
        for vertex, share in zip(combination.vertices, combination.weights, strict=True):
            if share < 1e-9:
                self._points.pop(vertex.tobytes(), None)

    def _master(self, weights: Array, moving: Array, lmo: Callable[[Array], Array]) -> Prediction:
        points = self.known()
        count = len(points)
        program = EntropicProgram(
            np.ones((1, count)),
            points[:, moving].T,
            np.zeros(int(moving.sum())),
            np.zeros(count),
            np.full(count, np.inf),
            np.full(count, 1.0 / count),
            self.entropy,
            rest=(1.0 - points[:, moving].T, np.zeros(int(moving.sum()))) if self.entropy.binary else None,
        )
        shares, _, rest = program.solve(weights[moving])
        combination = ConvexCombination(points, shares / shares.sum())
        return certified(self.entropy, weights, combination.mean, moving, lmo, rest, combination)
