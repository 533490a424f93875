"""Transversal matroids: elements that can be matched to distinct sets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from osp_core.regularizers import GibbsEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_matroids.set_families import as_sets
from osp_matroids.space import Indices, MatroidSpace


class TransversalMatroid(MatroidSpace):
    """Partial transversals of a family of sets: people who can be given distinct jobs, one each.

    Parameters
    ----------
    sets : sequence of collections
        Set j has the elements that may represent it (the people able to do job j).
    elements : sequence, optional
        The ground set in the order of the coordinates; by default the union of the sets in order of
        appearance. An element of no set is a loop.
    bases : bool
        True: as many sets represented as possible. False: all partial transversals.
    psi, norm
        SquaredNorm(1) and ℓ2 by default.
    """

    def __init__(
        self,
        sets: Iterable[Iterable[Hashable]],
        *,
        elements: Iterable[Hashable] | None = None,
        bases: bool = True,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        names, members = as_sets(sets, elements, "sets")
        super().__init__(names, bases=bases, psi=psi, norm=norm)
        self._sets_of: list[list[int]] = [[] for _ in range(self.dim)]
        for number, positions in enumerate(members):
            for position in positions:
                self._sets_of[position].append(number)
        self._set_count = len(members)

    def greedy(self, order: Indices) -> Indices:
        """Match elements one by one, along augmenting paths."""
        holder = [-1] * self._set_count  # the element that represents each set
        return np.array([e for e in order.tolist() if self._augment(e, holder)], dtype=np.intp)

    def circuit(self, basis: Indices, element: int) -> Indices:
        """The elements of the basis that alternating paths from the element reach."""
        holder = [-1] * self._set_count
        for member in basis.tolist():
            self._augment(member, holder)
        reached = self._search(element, holder)[1]
        return np.array(sorted(holder[number] for number in reached), dtype=np.intp)

    def _augment(self, element: int, holder: list[int]) -> bool:
        """Give the element a set, moving others along a path; False when there is none, and nothing moves."""
        free, came_from = self._search(element, holder)
        if free < 0:
            return False
        current = free
        while current >= 0:
            mover = came_from[current]
            previous = next((n for n in self._sets_of[mover] if holder[n] == mover), -1)
            holder[current] = mover
            current = previous if mover != element else -1
        return True

    def _search(self, element: int, holder: list[int]) -> tuple[int, dict[int, int]]:
        """Breadth first: a free set the element can reach, or −1, and who led to every set that was seen."""
        came_from: dict[int, int] = {}
        queue = [element]
        for current in queue:
            for number in self._sets_of[current]:
                if number in came_from:
                    continue
                came_from[number] = current
                if holder[number] < 0:
                    return number, came_from
                queue.append(holder[number])
        return -1, came_from

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        jobs = [["ann", "bob"], ["bob", "cyd"], ["cyd", "dan", "eve"]]
        return (
            cls(jobs),
            cls(jobs, bases=False, psi=SquaredNorm(2.0)),
            cls([[0, 1], [1], [1, 2]], elements=[3, 2, 1, 0], norm=1),
            cls([[0, 1, 2], [0, 1, 2]], psi=GibbsEntropy(1.0)),
            cls([["only"], []]),
        )
