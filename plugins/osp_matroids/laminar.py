"""Laminar matroids: nested or disjoint sets, each with a capacity."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from osp_core.errors import InvalidInputError
from osp_core.regularizers import GibbsEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_matroids.set_families import as_capacities, as_sets
from osp_matroids.space import Indices, MatroidSpace


class LaminarMatroid(MatroidSpace):
    """Sets that take at most `capacities[j]` elements of the j-th set of a laminar family.

    Parameters
    ----------
    family : sequence of collections
        Any two of these sets are disjoint, or one contains the other.
    capacities : int or sequence of int
        How many elements of each set may be taken; one number is meant for all sets.
    elements : sequence, optional
        The ground set in the order of the coordinates; by default the union of the family in order of
        appearance. Elements of no set are always allowed.
    bases : bool
        True: maximal sets. False: all that respect the capacities.
    psi, norm
        SquaredNorm(1) and ℓ2 by default.
    """

    def __init__(
        self,
        family: Iterable[Iterable[Hashable]],
        capacities: int | Sequence[int],
        *,
        elements: Iterable[Hashable] | None = None,
        bases: bool = True,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        names, members = as_sets(family, elements, "family")
        self.capacities = as_capacities(capacities, len(members))
        super().__init__(names, bases=bases, psi=psi, norm=norm)
        _check_laminar(members, names)
        # For every element the sets that have it, the smallest first.
        self._sets_of: list[list[int]] = [[] for _ in range(self.dim)]
        for number in sorted(range(len(members)), key=lambda j: (len(members[j]), self.capacities[j])):
            for position in members[number]:
                self._sets_of[position].append(number)

    def greedy(self, order: Indices) -> Indices:
        room = list(self.capacities)
        kept = []
        for element in order.tolist():
            sets = self._sets_of[element]
            if all(room[number] for number in sets):
                kept.append(element)
                for number in sets:
                    room[number] -= 1
        return np.array(kept, dtype=np.intp)

    def circuit(self, basis: Indices, element: int) -> Indices:
        """What the basis has of the smallest full set that has the element."""
        used = np.zeros(len(self.capacities), dtype=np.intp)
        for member in basis.tolist():
            used[self._sets_of[member]] += 1
        full = next(number for number in self._sets_of[element] if used[number] == self.capacities[number])
        return np.array([member for member in basis if full in self._sets_of[member]], dtype=np.intp)

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        shop = [["ale", "beer", "cider"], ["ale", "beer"], ["rice", "soup"]]
        return (
            cls(shop, [2, 1, 1]),
            cls(shop, [2, 1, 1], bases=False),
            cls([[0, 1, 2, 3], [0, 1], [2, 3]], [2, 1, 2], norm=1, psi=GibbsEntropy(1.0)),
            cls([[0, 1], []], [1, 0], elements=[0, 1, 2], psi=SquaredNorm(2.0)),
            cls([["a"]], 0),
        )


def _check_laminar(members: list[list[int]], names: list[Hashable]) -> None:
    """Raise unless any two sets are nested or disjoint: the sets above an element must form a chain."""
    by_size = sorted(members, key=len, reverse=True)
    smallest: dict[int, int] = {}  # the last, hence smallest, set seen so far for every element
    for number, positions in enumerate(by_size):
        parents = {smallest.get(position, -1) for position in positions}
        if len(parents) > 1:
            other = by_size[max(parents)]
            first, second = ([names[i] for i in one] for one in (other, positions))
            raise InvalidInputError(
                f"The family is not laminar: {first!r} and {second!r} overlap, neither contains the other."
            )
        smallest.update(dict.fromkeys(positions, number))
