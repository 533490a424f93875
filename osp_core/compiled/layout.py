"""What compiled rounds are handed: the arrays, in order, and what their entries mean.

All are arrays, as few as can be, and not in tuples: a single step spends more time on handing them over than
on the round. So numbers of different kinds share an array, and have a name for their place here.
"""

from __future__ import annotations

from typing import NamedTuple

SCALE, LARGEST_SQUARE, NU, ORDER, BALL, PARAMS = range(6)
"""Entries of `setup`: scale of the loss, (feature bound)², ν, order of the norm, radius of the ball; then the
numbers of the space."""

Y_HAT, CORNER = range(2)
"""Rows of `points`: ŷ, and the output nearest to it."""

TARGET, EXPECTED, SURROGATE, P = range(4)
"""Columns of `rows`, in the order of the columns of a trace."""


class Argument(NamedTuple):
    """An array that a round is handed.

    Its `shape` is in numbers and these words: d coordinates, `columns` of weights (one per feature), `rounds`
    of the chunk, `entries` of its inputs, `labels` that differ, and `blocks` that are decoded one by one.
    """

    shape: tuple[int | str, ...]
    meaning: str


ARGUMENTS = {
    "memory": Argument(("columns", 2, "d"), "core and residue of the weights; see LazyWeights; changed"),
    "behind": Argument(("columns",), "the epoch of every column; changed"),
    "epochs": Argument(("epochs", 2), "factor and mass at the end of the past epochs; changed"),
    "weights": Argument((5,), "factor, mass, ‖core‖², updates, past epochs; changed"),
    "rule": Argument(("numbers",), "what the rule of the learner remembers; see its functions; changed"),
    "setup": Argument(("settings",), "SCALE, LARGEST_SQUARE, NU, ORDER, BALL, then those of the space"),
    "work": Argument(("4d",), "room for core·x, θ, and what a step adds to core and residue per unit of x"),
    "starts": Argument(("rounds + 1",), "where the entries of every input begin, and where the last end"),
    "columns": Argument(("entries or 0",), "the column of every entry; empty where inputs are dense"),
    "values": Argument(("entries",), "the entries of the inputs"),
    "index": Argument(("rounds",), "the row of `revealed` that belongs to a round"),
    "revealed": Argument(("labels", "2d + 1"), "the true vertex, then cost and constant of its target loss"),
    "points": Argument((2, "rounds", "d"), "Y_HAT and CORNER of every round; written"),
    "ps": Argument(("rounds", "blocks"), "the probability of randomising, one or one per block; written"),
    "rows": Argument(("rounds", 5), "TARGET, EXPECTED, SURROGATE and P, as in a trace; written"),
}
"""The arguments of `learn_rounds` in order. Losses and E L are in units of the target, S times SCALE."""
