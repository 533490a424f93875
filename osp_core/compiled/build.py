"""Put the functions of a round together: compiled and cached on disk, or as plain Python."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from osp_core.compiled import functions, linear_kernel, round_kernel
from osp_core.compiled.parts import SpaceParts
from osp_core.learners import columns
from osp_core.learners.step_sizes import Rule
from osp_core.regularizers import summands
from osp_core.surrogates import mixing

Function = Callable[..., Any]
HELPERS = (
    summands.x_log_x,
    summands.binary_x_log_x,
    summands.linear_part,
    summands.squared_norm_part,
    mixing.significant,
    mixing.probability,
    mixing.mixture,
    mixing.randomises,
    functions.affine,
    functions.affine_loss,
    functions.mean_score,
    functions.shifted_squared_norm_loss,
    functions.distance,
    columns.catch_up,
    columns.settle_columns,
    linear_kernel.add_up,
    linear_kernel.add_up_active,
    linear_kernel.are_columns,
    linear_kernel.move,
    linear_kernel.move_active,
    linear_kernel.squared_norm,
    round_kernel.shrink,
)


@dataclass(frozen=True)
class RoundFunctions:
    """`learn_rounds` judges and learns, `draw_rounds` draws what to play, `charge` says what a play costs.

    `predict_row` finds the nearest output of one input.
    """

    learn_rounds: Function
    predict_row: Function
    draw_rounds: Function
    charge: Function


def assemble(parts: SpaceParts, rule: Rule, *, by_coordinate: bool, compiled: bool) -> RoundFunctions:
    """Return the rounds of a space, a learner and a decoder (by coordinate, or on the whole output)."""
    decode = functions.decode_coordinates if by_coordinate else functions.decode_whole
    draw = functions.draw_coordinates if by_coordinate else functions.draw_whole
    learning = (parts.predict, parts.loss, parts.nearest, decode, rule.amount, rule.multiplier, rule.admits)
    if compiled:
        return _compiled(learning, (draw, parts.sample), parts.helpers)
    return RoundFunctions(
        round_kernel.make_learn_rounds(learning),
        round_kernel.make_predict_row(parts.predict, parts.nearest),
        round_kernel.make_draw_rounds(draw, parts.sample),
        functions.affine_loss,
    )


@cache
def _compiled(
    learning: tuple[Function, ...], drawing: tuple[Function, Function], helpers: tuple[Function, ...]
) -> RoundFunctions:
    from numba import njit
    from numba.extending import register_jitable

    from osp_core.compiled import prefetch_numba  # noqa: F401 — gives `prefetch` its compiled form

    used: tuple[Function, ...] = (*HELPERS, *helpers, *learning, *drawing)
    for function in used:
        register_jitable(function)
    learn_rounds = round_kernel.make_learn_rounds(learning)
    draw_rounds = round_kernel.make_draw_rounds(*drawing)
    predicting = learning[0], learning[2]
    predict_row = round_kernel.make_predict_row(*predicting)
    # numba keeps what it compiles in a file named after the function, and numbers the variants in it:
    # processes that compile different variants at once would mix them up. So every variant gets a name, and
    # a file, of its own; and since numba looks at the text of the caller alone, the name depends on all.
    learn_rounds.__qualname__ = f"learn_rounds_{_digest((*HELPERS, *helpers, *learning))}"
    predict_row.__qualname__ = f"predict_row_{_digest((*HELPERS, *helpers, *predicting))}"
    draw_rounds.__qualname__ = f"draw_rounds_{_digest((*HELPERS, *helpers, *drawing))}"
    compiled = njit(cache=True)
    return RoundFunctions(
        compiled(learn_rounds), compiled(predict_row), compiled(draw_rounds), compiled(functions.affine_loss)
    )


def _digest(used: Sequence[Function]) -> str:
    """A short name for these functions and the files they stand in."""
    digest = hashlib.sha256()
    for function in used:
        digest.update(f"{function.__module__}.{function.__qualname__}\n".encode())
    for file in sorted({inspect.getfile(function) for function in used}):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:16]
