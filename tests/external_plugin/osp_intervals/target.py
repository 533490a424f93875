"""What a wrong cell costs."""

from __future__ import annotations

import numpy as np

from osp_core import AffineLoss, OutputSpace
from osp_core.errors import Array, as_positive


class MissedCells(AffineLoss):
    """Σ over cells of |y′ − y|, cells that should be inside counting `miss` times; over the number of cells.

    Parameters
    ----------
    space : OutputSpace
        Of 0/1 vectors; a run hands its own over.
    miss : float
    """

    def __init__(self, space: OutputSpace, miss: float = 2.0) -> None:
        self.space, self.miss = space, as_positive(miss, "miss")
        super().__init__(self._cost, self._constant, name="missed_cells")

    def _cost(self, y: Array) -> Array:
        return np.where(y > 0.5, -self.miss, 1.0) / self.space.dim

    def _constant(self, y: Array) -> float:
        return self.miss * float(y.sum()) / self.space.dim
