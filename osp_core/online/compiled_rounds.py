"""A predictor's rounds in compiled code, where all its parts allow it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core import kernels
from osp_core.compiled.build import assemble
from osp_core.compiled.eligible import parts_for
from osp_core.compiled.encoding import FLOAT64, NO_COLUMNS, Feedback, Revealed, Rows, as_row
from osp_core.compiled.layout import CORNER, Y_HAT
from osp_core.compiled.parts import SpaceParts
from osp_core.errors import LARGEST, Array, InvalidInputError
from osp_core.learners.rule_learner import RuleLearner
from osp_core.models.feature_bound import ROOM, read_within
from osp_core.online.records import LawToCome, Play, Round
from osp_core.online.trace import FIELDS
from osp_core.surrogates.decoders import BlockwiseDecoder
from osp_core.surrogates.laws import Law
from osp_core.surrogates.mixing import randomises

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor

FIRST = np.zeros(1, dtype=np.int64)


class CompiledRounds:
    """The rounds of one predictor, compiled.

    A round that is refused here is not an error: the general code takes it up, and says what is wrong if
    anything is.

    Parameters
    ----------
    predictor : OnlinePredictor
    learner : RuleLearner
        That of the predictor.
    parts : SpaceParts
        Of its space.
    compiled : bool
        False runs the same text as plain Python, which is how tests know what it should do.
    """

    def __init__(
        self, predictor: OnlinePredictor, learner: RuleLearner, parts: SpaceParts, *, compiled: bool = True
    ) -> None:
        self.predictor, self.space, self.learner = predictor, predictor.space, learner
        decoder, certificate, dim = predictor.decoder, predictor.certificate, predictor.space.dim
        self.blockwise = isinstance(decoder, BlockwiseDecoder)
        decoded = decoder.blocks[0].space if isinstance(decoder, BlockwiseDecoder) else self.space
        self.shape = (predictor.model.shape(dim)[1],)
        # Inputs whose norm is within rounding of what is allowed are for the general code to judge.
        largest = (min(LARGEST, certificate.feature_bound * (1 + ROOM)) * (1 - 1e-12)) ** 2
        setup = certificate.loss.scale, largest, decoded.nu, decoded.norm, learner.ball, *parts.params
        self.setup = np.array(setup, dtype=np.float64)
        functions = assemble(parts, learner.rule, by_coordinate=self.blockwise, compiled=compiled)
        self._learn_rounds, self._draw_rounds = functions.learn_rounds, functions.draw_rounds
        self._charge, self._predict_row = functions.charge, functions.predict_row
        self._parts, self._output = parts, (dim,)
        self._work = np.empty(4 * dim)
        self._width = dim if self.blockwise else 1
        self._one_p, self._one_row = np.empty((1, self._width)), np.zeros((1, len(FIELDS)))
        self._row_of_one = np.array([0, self.shape[0]])
        self.feedback = Feedback(self.space, predictor.target)

    def step(self, x: Any, y: Any) -> Round | None:
        """Play for x and learn from y; None, with nothing changed, when compiled code does not take it."""
        revealed = self.feedback.reveal(y)
        if revealed is None:
            return None
        if x.__class__ is not np.ndarray or x.dtype != FLOAT64 or x.shape != self.shape:
            x = read_within(self.predictor.model, x, self.space.dim, self.predictor.certificate.feature_bound)
        return self._learn(x, revealed, None)

    def nearest(self, x: Any) -> Array | None:
        """The output nearest to ŷ; None when compiled code does not take this input."""
        if x.__class__ is not np.ndarray or x.dtype != FLOAT64 or x.shape != self.shape:
            return None
        array, dim = self.learner._array, self.space.dim
        array.settle()
        times = self.learner.multiplier * array.factor
        corner = np.empty(dim)
        row = x if x.flags.carray else x.copy()
        taken = self._predict_row(array.memory, times, row, self.setup, self._work, np.empty(dim), corner)
        return corner if taken else None

    def learn(self, play: Play, y: Any) -> Round | None:
        """Learn from y what was played with the present weights: the same as `step` would have."""
        revealed = self.feedback.reveal(y)
        return (
            self._learn(play.x, revealed, play)
            if revealed is not None and self._is_output(play.vertex)
            else None
        )

    def _learn(self, x: Any, revealed: Revealed, play: Play | None) -> Round | None:
        rows = (self._row_of_one, NO_COLUMNS, x)
        if x.__class__ is not np.ndarray or not x.flags.carray:
            rows = as_row(x)
        points, ps, table = np.empty((2, 1, self.space.dim)), self._one_p, self._one_row
        if not self._call(rows, FIRST, revealed.row, points, ps, table):
            return None
        loss, expected, surrogate, p, gap = table[0].tolist()
        y_hat, nearest = points[Y_HAT, 0], points[CORNER, 0]
        law: Law | LawToCome
        if play is None:
            vertex, law = self._draw(y_hat, nearest, ps), LawToCome(self.predictor.decoder, y_hat)
        else:
            vertex, law = play.vertex.copy(), play.law
        if vertex is None:
            vertex = nearest.copy()
        else:
            loss = self._charge(revealed.cost, revealed.constant, vertex)
        truth = revealed.truth.copy()
        return Round(self.space, vertex, truth, nearest, loss, expected, surrogate, p, gap, law)

    def learn_many(self, rows: Rows, Y: Sequence[Any]) -> Array:
        """Learn from rounds in order, up to the first that compiled code does not take; return the trace."""
        if len(rows[0]) - 1 != len(Y):
            raise InvalidInputError(
                f"X has {len(rows[0]) - 1} rows and Y {len(Y)} outputs; there must be one y for every x."
            )
        index, revealed = self.feedback.encode(Y)
        rounds, dim = len(index), self.space.dim
        table = np.zeros((rounds, len(FIELDS)))
        if not rounds:
            return table
        points, ps = np.empty((2, rounds, dim)), np.empty((rounds, self._width))
        done = self._call(rows, index, revealed, points, ps, table)
        rng, played = self.predictor.rng, np.empty(dim)
        self._draw_rounds(points, ps, index, revealed, self.setup, rng, played, table[:done])
        return table[:done]

    def _call(self, rows: Rows, index: Any, revealed: Array, points: Array, ps: Array, table: Array) -> int:
        """Learn from rounds; the arrays are those of `layout.ARGUMENTS`, in that order."""
        learner = self.learner
        array = learner._array
        done: int = self._learn_rounds(
            array.memory,
            array.behind,
            array.epochs,
            array.numbers,
            learner._numbers,
            self.setup,
            self._work,
            *rows,
            index,
            revealed,
            points,
            ps,
            table,
        )
        learner.rounds += done
        return done

    def _draw(self, y_hat: Array, nearest: Array, ps: Array) -> Array | None:
        """Draw as the law of the round would; None for y*."""
        rng = self.predictor.rng
        if self.blockwise:
            randomised = rng.random(ps.shape[1]) < ps[0]
            if not randomised.any():
                return None
            vertex = nearest.copy()
            vertex[randomised] = rng.random(int(randomised.sum())) < y_hat[randomised]
            return np.asarray(vertex)
        return self._sample(y_hat, rng) if randomises(ps.item(), rng) else None

    def _sample(self, y_hat: Array, rng: np.random.Generator) -> Array:
        """A random output of mean ŷ, by the method of the space: for one, it is faster than compiled code.

        The round is learned from already, and must not end half done: where that method fails, which the
        conformance kit would have told, the compiled form is what draws.
        """
        vertex: Any = None
        with suppress(Exception):  # a plugin may raise anything
            vertex = self.space.sample_vertex(y_hat, rng)
        if not self._is_output(vertex):
            vertex = np.empty(self.space.dim)
            self._parts.sample(y_hat, self._parts.params, rng, vertex)
        own: Array = vertex.copy()  # the space may keep what it gives
        return own

    def _is_output(self, vertex: Any) -> bool:
        """Whether compiled code can read it."""
        return vertex.__class__ is np.ndarray and vertex.dtype == FLOAT64 and vertex.shape == self._output


def compiled_rounds(predictor: OnlinePredictor) -> CompiledRounds | None:
    """Return the compiled rounds of a predictor; None where a part of it has none, or numba is not used."""
    parts = parts_for(predictor) if kernels.selected() == "numba" else None
    if parts is None or not isinstance(predictor.learner, RuleLearner):
        return None
    return CompiledRounds(predictor, predictor.learner, parts)
