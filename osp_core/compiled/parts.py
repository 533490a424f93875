"""What a space offers to compiled rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from osp_core.errors import Array

Vector = Any  # a float64 vector; Any, because numba compiles the functions that take it


@dataclass(frozen=True, eq=False)
class SpaceParts:
    """Functions of a space and its Ψ that numba can compile, defined at the top level of a module.

    All write their result into `out`, all of it, change nothing else, and allocate nothing that outlives
    them. They may assume finite input. The class whose `compiled_parts` returns them declares that they do
    what its methods do; those who inherit from it play plain rounds.

    Attributes
    ----------
    predict : callable
        (theta, params, out): ŷ(θ) into `out`.
    loss : callable
        (theta, params, y, y_hat): S(θ; y), possibly below 0 by rounding.
    nearest : callable
        (y_hat, params, out): the output nearest to ŷ.
    sample : callable
        (y_hat, params, rng, out): a random output of mean ŷ, drawn with the same numbers of `rng` in the same
        order as `sample_vertex` of the space.
    params : array
        Numbers the functions need; the first is the scale of Ψ.
    helpers : tuple of callables
        Functions that those above call.
    """

    predict: Callable[[Vector, Vector, Vector], None]
    loss: Callable[[Vector, Vector, Vector, Vector], float]
    nearest: Callable[[Vector, Vector, Vector], None]
    sample: Callable[[Vector, Vector, Any, Vector], None]
    params: Array
    helpers: tuple[Callable[..., Any], ...] = ()
