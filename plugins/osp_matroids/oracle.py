"""Matroids given by an independence oracle, and the check that it is one."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from osp_core.errors import InvalidInputError
from osp_core.regularizers import GibbsEntropy, Regularizer, SquaredNorm
from osp_core.spaces import OutputSpace
from osp_matroids.space import Indices, MatroidSpace

Independence = Callable[[frozenset[Hashable]], bool]

MOST_CHECKED = 10  # elements up to which a new matroid is checked without being asked
MOST_CHECKABLE = 16


class Matroid(MatroidSpace):
    """Any matroid, known through a function that says whether a set is independent.

    Parameters
    ----------
    ground : iterable of hashables
        The elements.
    independent : callable
        Takes a frozenset of elements, returns whether it is independent. It must be a matroid: the greedy
        algorithm returns wrong answers otherwise. Up to ten elements this is checked.
    bases : bool
        True: the maximal independent sets. False: all of them.
    psi, norm
        SquaredNorm(1) and ℓ2 by default.
    """

    def __init__(
        self,
        ground: Iterable[Hashable],
        independent: Independence,
        *,
        bases: bool = True,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(ground, bases=bases, psi=psi, norm=norm)
        if not callable(independent):
            raise InvalidInputError(
                f"independent must be a function of a set of elements, got {independent!r}."
            )
        self._independent = independent
        if self.dim <= MOST_CHECKED:
            check_matroid(self.elements, independent)

    def greedy(self, order: Indices) -> Indices:
        kept: list[int] = []
        chosen: frozenset[Hashable] = frozenset()
        for position in order.tolist():
            larger = chosen | {self.elements[position]}
            if self._independent(larger):
                kept.append(position)
                chosen = larger
        return np.array(kept, dtype=np.intp)

    def independent(self, chosen: Indices) -> bool:
        return bool(self._independent(frozenset(self.elements[i] for i in chosen)))

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        return (
            cls(range(7), _off_lines),
            cls("abc", _at_most_one, psi=GibbsEntropy(1.0)),
            cls("abc", _at_most_one, bases=False, norm=1, psi=SquaredNorm(3.0)),
            cls(["loop"], operator.not_),
        )


_FANO = ({0, 1, 3}, {1, 2, 4}, {2, 3, 5}, {3, 4, 6}, {4, 5, 0}, {5, 6, 1}, {6, 0, 2})


def _off_lines(chosen: frozenset[Hashable]) -> bool:
    return len(chosen) <= 3 and chosen not in _FANO


def _at_most_one(chosen: frozenset[Hashable]) -> bool:
    return len(chosen) <= 1


@dataclass(frozen=True)
class Violation:
    """Sets that show why a family of sets is no matroid.

    Attributes
    ----------
    axiom : {"empty", "hereditary", "exchange"}
    larger : frozenset
        An independent set.
    smaller : frozenset
        Hereditary: its subset that is not independent. Exchange: an independent set with one element less
        that no element of `larger` extends.
    """

    axiom: str
    larger: frozenset[Hashable]
    smaller: frozenset[Hashable]

    def __str__(self) -> str:
        larger, smaller = _shown(self.larger), _shown(self.smaller)
        if self.axiom == "empty":
            return "the empty set is not independent"
        if self.axiom == "hereditary":
            return f"{larger} is independent, but its subset {smaller} is not"
        return f"{smaller} and {larger} are independent, but no element of {larger} can be added to {smaller}"


def find_violation(ground: Iterable[Hashable], independent: Independence) -> Violation | None:
    """Return sets that break an axiom of matroids, or None if `independent` is a matroid.

    It suffices to look at subsets with one element less, and to exchange between sets that differ in one
    element on one side and two on the other [Schrijver 2003, Thm 39.1]. Needs 2^m calls of `independent`.
    """
    elements = list(ground)
    if len(elements) > MOST_CHECKABLE:
        raise InvalidInputError(
            f"Checking the axioms takes 2^{len(elements)} calls of the oracle; "
            f"the largest ground set that is checked has {MOST_CHECKABLE} elements."
        )
    masks = range(1 << len(elements))

    def names(mask: int) -> frozenset[Hashable]:
        return frozenset(element for i, element in enumerate(elements) if mask >> i & 1)

    family = {mask for mask in masks if independent(names(mask))}
    if 0 not in family:
        return Violation("empty", frozenset(), frozenset())
    bits = [1 << i for i in range(len(elements))]
    for mask in sorted(family):
        for bit in bits:
            if mask & bit and mask ^ bit not in family:
                return Violation("hereditary", names(mask), names(mask ^ bit))
    for mask in sorted(family):
        stuck = [bit for bit in bits if not mask & bit and mask | bit not in family]
        for first, second in itertools.combinations(stuck, 2):
            for bit in bits:
                if mask & bit and (mask ^ bit) | first | second in family:
                    return Violation("exchange", names((mask ^ bit) | first | second), names(mask))
    return None


def check_matroid(ground: Iterable[Hashable], independent: Independence) -> None:
    """Raise an error that names the offending sets if `independent` is no matroid on `ground`."""
    violation = find_violation(ground, independent)
    if violation is not None:
        raise InvalidInputError(f"This is no matroid: {violation}.")


def _shown(elements: frozenset[Hashable]) -> str:
    return "{" + ", ".join(sorted(map(repr, elements))) + "}"
