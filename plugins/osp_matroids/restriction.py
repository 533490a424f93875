"""A matroid on some of its elements."""

from __future__ import annotations

import numpy as np

from osp_matroids.space import Indices, MatroidSpace


class Restriction(MatroidSpace):
    """What a matroid says of the elements `kept`, with the same Ψ and norm.

    Parameters
    ----------
    whole : MatroidSpace
    kept : array of int
        Indices of elements of `whole`.
    """

    def __init__(self, whole: MatroidSpace, kept: Indices) -> None:
        names = [whole.elements[i] for i in kept]
        super().__init__(names, bases=whole.bases, psi=whole.psi, norm=whole.norm)
        self._whole, self._kept = whole, np.asarray(kept, dtype=np.intp)
        self._place = np.zeros(whole.dim, dtype=np.intp)
        self._place[self._kept] = np.arange(self.dim)

    def greedy(self, order: Indices) -> Indices:
        return self._place[self._whole.greedy(self._kept[order])]
