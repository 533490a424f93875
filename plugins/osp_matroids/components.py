"""Disjoint sets of indices that are joined pair by pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class UnionFind:
    """A partition of 0, …, size − 1 that starts with singletons."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, item: int) -> int:
        """The representative of the set that has `item`."""
        parent = self._parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, first: int, second: int) -> bool:
        """Merge two sets; False when they are one already."""
        first, second = self.find(first), self.find(second)
        if first == second:
            return False
        # The lower index represents, so that labels come out in the order of first members.
        self._parent[max(first, second)] = min(first, second)
        return True

    def labels(self) -> NDArray[np.intp]:
        """The number of the set of every item, counted by first members."""
        roots = np.array([self.find(item) for item in range(len(self._parent))])
        return np.unique(roots, return_inverse=True)[1].astype(np.intp)
