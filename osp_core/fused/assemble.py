"""Put the functions of a round together: compiled and cached on disk, or as plain Python."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from osp_core.fused import functions, rounds
from osp_core.fused.parts import SpaceParts
from osp_core.learners.rules import Rule

Function = Callable[..., Any]
HELPERS = (
    functions.affine_loss,
    functions.common_offset,
    functions.x_log_x,
    functions.distance,
    rounds.shrink,
    rounds.squared_norm,
)


@dataclass(frozen=True)
class RoundFunctions:
    """`learn_round` for one round, `learn_rounds` for a chunk of them, `charge` for the loss of a play."""

    learn_round: Function
    learn_rounds: Function
    charge: Function


def assemble(parts: SpaceParts, rule: Rule, *, by_coordinate: bool, compiled: bool) -> RoundFunctions:
    """Return the rounds of a space, a learner and a decoder (by coordinate, or on the whole output)."""
    opened = (
        parts.predict,
        parts.loss,
        parts.nearest,
        functions.decode_coordinates if by_coordinate else functions.decode_whole,
        rule.amount,
        rule.multiplier,
        rule.admits,
    )
    make_draw = rounds.make_draw_coordinates if by_coordinate else rounds.make_draw_whole
    if compiled:
        return _compiled(opened, parts.sample, make_draw, parts.helpers)
    learn_round = rounds.make_learn_round(opened)
    learn_rounds = rounds.make_learn_rounds(learn_round, make_draw(parts.sample))
    return RoundFunctions(learn_round, learn_rounds, functions.affine_loss)


@cache
def _compiled(
    opened: tuple[Function, ...], sample: Function, make_draw: Function, helpers: tuple[Function, ...]
) -> RoundFunctions:
    from numba import njit
    from numba.extending import register_jitable

    used: tuple[Function, ...] = (*HELPERS, *helpers, *opened, sample, make_draw)
    for function in used:
        register_jitable(function)
    learn_round = rounds.make_learn_round(opened)
    draw = register_jitable(make_draw(sample))
    learn_rounds = rounds.make_learn_rounds(register_jitable(learn_round), draw)
    # numba keeps what it compiles in a file named after the function, and numbers the variants in it:
    # processes that compile different variants at once would mix them up. So every variant gets a name, and
    # a file, of its own; and since numba looks at the text of the caller alone, the name depends on all.
    for made in (learn_round, learn_rounds):
        made.__qualname__ = f"{made.__name__}_{_digest(used)}"
    compiled = njit(cache=True)
    return RoundFunctions(compiled(learn_round), compiled(learn_rounds), compiled(functions.affine_loss))


def _digest(used: Sequence[Function]) -> str:
    """A short name for these functions and the files they stand in."""
    digest = hashlib.sha256()
    for function in used:
        digest.update(f"{function.__module__}.{function.__qualname__}\n".encode())
    for file in sorted({inspect.getfile(function) for function in used}):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:16]
