"""The active set: vertices with weights, whose mean is the current point."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.frank_wolfe.atoms import Atoms, DenseAtoms, IndexAtoms, with_room
from osp_core.geometry.combinations import ConvexCombination

NEGLIGIBLE = 1e-15
"""Atoms of at most this weight are dropped."""

_REFRESH = 100  # moves after which the mean is recomputed from the atoms


class ActiveSet:
    """Distinct vertices and their convex weights.

    Invariants, after every public method: no two atoms have the same key, weights are non-negative,
    and a dropped atom leaves no trace: neither in the list, nor in the index by key, nor in the mean.
    The mean follows single moves by an update and is recomputed from the atoms every hundred of them.

    Parameters
    ----------
    dim : int
        Length of the vertices.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.atoms: Atoms = IndexAtoms(dim)
        self._weights: Array = np.zeros(8)
        self._keys: list[bytes] = []
        self._index: dict[bytes, int] = {}
        self._mean: Array = np.zeros(dim)
        self._moves = _REFRESH

    @classmethod
    def from_combination(cls, combination: ConvexCombination) -> ActiveSet:
        """Return the active set of an earlier run; repeated atoms are merged."""
        active = cls(int(combination.atoms.shape[1]))
        for vertex, weight in zip(_rows(combination.atoms), combination.weights, strict=True):
            if weight > NEGLIGIBLE:
                active.add(vertex, float(weight))
        active.normalise()
        return active

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def weights(self) -> Array:
        """The weights, one per atom: a view that must not be written to."""
        return self._weights[: len(self._keys)]

    @property
    def mean(self) -> Array:
        """The current point Σ wᵢ vᵢ: a view that must not be written to."""
        if self._moves >= _REFRESH:
            self.refresh()
        return self._mean

    def find(self, vertex: Array) -> int | None:
        """Return the position of `vertex` among the atoms, or None."""
        key = self.atoms.key(vertex)
        return None if key is None else self._index.get(key)

    def add(self, vertex: Array, weight: float = 0.0) -> int:
        """Add weight to an atom, which becomes active if it was not, and return its position."""
        key = self.atoms.key(vertex)
        if key is None:
            self._make_dense()
            return self.add(vertex, weight)
        position = self._index.setdefault(key, len(self._keys))
        if position == len(self._keys):
            self._keys.append(key)
            self.atoms.append(vertex, key)
            self._weights = with_room(self._weights, len(self._keys))
            self._weights[position] = 0.0
        if weight:
            self._weights[position] += weight
            self._moves = _REFRESH
        return position

    def drop(self, position: int) -> None:
        """Remove one atom with whatever weight it has."""
        count = len(self._keys)
        self.atoms.delete(position)
        self._weights[position : count - 1] = self._weights[position + 1 : count].copy()
        del self._index[self._keys.pop(position)]
        for later in range(position, count - 1):
            self._index[self._keys[later]] = later
        self._moves = _REFRESH

    def drain(self) -> ActiveSet:
        """Move everything to a new active set and leave this one empty."""
        drained = copy(self)
        vars(self).update(vars(ActiveSet(self.dim)))
        return drained

    def set_weights(self, weights: Array) -> None:
        """Replace all weights; atoms of weight zero stay until `prune` or `drop`."""
        self.weights[:] = weights
        self._moves = _REFRESH

    def move(self, vertex: Array, step: float) -> None:
        """Move the mean towards `vertex`: x ← x + step·(vertex − x)."""
        mean = self.mean + step * (vertex - self.mean)
        self.weights[:] *= 1.0 - step
        moves = self._moves
        position = self.add(vertex)
        self._weights[position] += step
        self._after_move(mean, moves)

    def move_away(self, position: int, step: float) -> None:
        """Move the mean away from an atom: x ← x + step·(x − atom)."""
        mean = self.mean + step * (self.mean - self.atoms.dense(position))
        self.weights[:] *= 1.0 + step
        self._weights[position] -= step
        # A long step multiplies the rounding errors of the weights: recompute instead of updating.
        self._after_move(mean, self._moves if step < 1.0 else _REFRESH)

    def transfer(self, source: int, vertex: Array, amount: float) -> None:
        """Move weight from one atom to a vertex, active or not."""
        mean = self.mean + amount * (vertex - self.atoms.dense(source))
        moves = self._moves
        self._weights[source] -= amount
        position = self.add(vertex)
        self._weights[position] += amount
        self._after_move(mean, moves)

    def slopes(self, gradient: Array) -> Array:
        """Return ⟨gradient, vᵢ⟩ for every atom, up to a constant common to all of them."""
        return self.atoms.slopes(gradient)

    def prune(self) -> None:
        """Drop the atoms of negligible weight."""
        for position in np.flatnonzero(self.weights <= NEGLIGIBLE)[::-1]:
            self.drop(int(position))

    def normalise(self) -> None:
        """Rescale the weights to the sum 1."""
        self.weights[:] /= self.weights.sum()
        self._moves = _REFRESH

    def refresh(self) -> None:
        """Recompute the mean from the atoms."""
        self._mean = self.atoms.combine(self.weights) + self.atoms.origin
        self._moves = 0

    def combination(self) -> ConvexCombination:
        """Return atoms and weights as they are now."""
        return ConvexCombination(self.atoms.matrix(), self.weights.copy())

    def _after_move(self, mean: Array, moves: int) -> None:
        if (self.weights <= NEGLIGIBLE).any():
            self.prune()
            self.normalise()
            return
        self._mean, self._moves = mean, moves + 1
        if self._moves >= _REFRESH:
            self.normalise()

    def _make_dense(self) -> None:
        """Give up the 0/1 storage: a vertex with another entry has come."""
        dense = DenseAtoms(self.dim)
        for position in range(len(self._keys)):
            vertex = self.atoms.dense(position)
            self._keys[position] = dense.key(vertex)
            dense.append(vertex, self._keys[position])
        self._index = {key: position for position, key in enumerate(self._keys)}
        self.atoms = dense


def _rows(atoms: Any) -> Iterator[Array]:
    """The rows of a dense or sparse matrix, one at a time: all at once may not fit into memory."""
    if isinstance(atoms, np.ndarray):
        yield from atoms.astype(np.float64)
        return
    sparse = atoms.tocsr()
    for begin, end in pairwise(sparse.indptr):
        vertex = np.zeros(sparse.shape[1])
        vertex[sparse.indices[begin:end]] = sparse.data[begin:end]
        yield vertex
