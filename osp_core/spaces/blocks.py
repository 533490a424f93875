"""The blocks of a space whose outputs are chosen part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from osp_core.spaces.base import OutputSpace


@dataclass(frozen=True, eq=False)
class Block:
    """Equal factors of a product space: row i of `coordinates` holds the i-th copy of `space`."""

    space: OutputSpace
    coordinates: NDArray[np.intp]
