"""A predictor's rounds in compiled code, where all its parts allow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core import kernels
from osp_core.decoding import BlockwiseDecoder, RandomizedDecoder
from osp_core.errors import LARGEST, Array
from osp_core.fused.assemble import assemble
from osp_core.fused.feedback import NO_COLUMNS, Feedback, Rows, as_row
from osp_core.fused.parts import SpaceParts
from osp_core.learners.rule_learner import RuleLearner
from osp_core.losses import FenchelYoungLoss
from osp_core.models import LinearModel
from osp_core.predictions import Prediction
from osp_core.rounds import Play, Round
from osp_core.trace import FIELDS

if TYPE_CHECKING:
    from osp_core.protocol import OnlinePredictor

FLOAT64 = np.dtype(np.float64)
FIRST = np.zeros(1, dtype=np.int64)


class FusedRounds:
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
        decoder, gap, dim = predictor.decoder, predictor.gap, predictor.space.dim
        self.blockwise = isinstance(decoder, BlockwiseDecoder)
        decoded = decoder.blocks[0].space if isinstance(decoder, BlockwiseDecoder) else self.space
        self.shape = (predictor.model.shape(dim)[1],)
        largest = min(LARGEST, gap.feature_bound * (1 + 1e-9)) ** 2
        setup = gap.loss.scale, largest, decoded.nu, decoded.norm, learner.ball, *parts.params
        self.setup = np.array(setup, dtype=np.float64)
        functions = assemble(parts, learner.rule, by_coordinate=self.blockwise, compiled=compiled)
        self._learn_rounds, self._draw_rounds = functions.learn_rounds, functions.draw_rounds
        self._charge, self._predict_row = functions.charge, functions.predict_row
        self._work = np.empty(4 * dim)
        self._width = dim if self.blockwise else 1
        self._one_p, self._one_row = np.empty((1, self._width)), np.zeros((1, len(FIELDS)))
        self._row_of_one = np.array([0, self.shape[0]])
        self.feedback = Feedback(self.space, predictor.target)

    def step(self, x: Any, y: Any) -> Round | None:
        """Play for x and learn from y; None, with nothing changed, when compiled code does not take it."""
        if x.__class__ is not np.ndarray or x.dtype != FLOAT64 or x.shape != self.shape:
            x = self.predictor.model.read(x, self.space.dim)
        return self._learn(x, y, None)

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
        return self._learn(play.x, y, play.vertex)

    def _learn(self, x: Any, y: Any, played: Array | None) -> Round | None:
        told = self.feedback.reveal(y)
        if told is None:
            return None
        rows = (self._row_of_one, NO_COLUMNS, x)
        if x.__class__ is not np.ndarray or not x.flags.carray:
            rows = as_row(x)
        points, ps, table = np.empty((2, 1, self.space.dim)), self._one_p, self._one_row
        if not self._call(rows, FIRST, told.row, points, ps, table):
            return None
        loss, expected, surrogate, p, gap = table[0].tolist()
        y_hat, nearest = points[0, 0], points[1, 0]
        vertex = self._draw(y_hat, nearest, ps) if played is None else played
        if vertex is None:
            vertex = nearest
        else:
            loss = self._charge(told.cost, told.constant, vertex)
        law = self.predictor.decoder.law
        return Round(
            self.space,
            vertex,
            told.truth,
            nearest,
            loss,
            expected,
            surrogate,
            p,
            gap,
            lambda: law(Prediction(y_hat)),
        )

    def learn_many(self, rows: Rows, Y: Sequence[Any]) -> Array:
        """Learn from rounds in order, up to the first that compiled code does not take; return the trace."""
        index, told = self.feedback.encode(Y)
        rounds, dim = len(index), self.space.dim
        table = np.zeros((rounds, len(FIELDS)))
        if not rounds:
            return table
        points, ps = np.empty((2, rounds, dim)), np.empty((rounds, self._width))
        done = self._call(rows, index, told, points, ps, table)
        rng, played = self.predictor.rng, np.empty(dim)
        self._draw_rounds(points, ps, index, told, self.setup, rng, played, table[:done])
        return table[:done]

    def _call(self, rows: Rows, index: Any, told: Array, points: Array, ps: Array, table: Array) -> int:
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
            told,
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
        p = ps.item()
        if p <= 0.0 or rng.random() >= p:
            return None
        return self.space.sample_vertex(y_hat, rng)


def fused_rounds(predictor: OnlinePredictor) -> FusedRounds | None:
    """Return the compiled rounds of a predictor; None where a part of it has none, or numba is not used."""
    space, learner, decoder = predictor.space, predictor.learner, predictor.decoder
    parts = space.round_parts()
    if (
        parts is None
        or predictor.verify
        or kernels.selected() != "numba"
        or type(predictor.model) is not LinearModel
        or type(predictor.loss) is not FenchelYoungLoss
        or not isinstance(learner, RuleLearner)
        or not _as_its_class_left_it(space, "round_parts", OF_THE_SPACE)
        or not _as_its_class_left_it(learner, "rule", OF_THE_LEARNER)
    ):
        return None
    if type(decoder) is RandomizedDecoder:
        fits = decoder.nu is not None and space.nearest_is_exact
    else:
        fits = type(decoder) is BlockwiseDecoder and _one_coordinate_each(decoder)
    return FusedRounds(predictor, learner, parts) if fits else None


OF_THE_SPACE = (
    "predict",
    "project",
    "kl_project",
    "binary_kl_project",
    "marginals",
    "nearest_vertex",
    "nearest_vertex_many",
    "distance",
    "sample_vertex",
    "sample_many",
    "at",
    "nu",
    "blocks",
)
OF_THE_LEARNER = ("update", "scores", "admit", "multiplier", "ball", "weights", "start", "_begin_round")


def _as_its_class_left_it(thing: Any, marker: str, names: Sequence[str]) -> bool:
    """Whether no subclass of the class that offers the compiled form overrides what that form replaces."""
    kind = type(thing)
    owner = next(cls for cls in kind.__mro__ if marker in cls.__dict__)
    return all(getattr(kind, name, None) is getattr(owner, name, None) for name in names) and not any(
        name in vars(thing) for name in names if name != "nu"
    )


def _one_coordinate_each(decoder: BlockwiseDecoder) -> bool:
    every = np.arange(decoder.space.dim)[:, np.newaxis]
    return len(decoder.blocks) == 1 and np.array_equal(decoder.blocks[0].coordinates, every)
