"""A predictor's rounds in compiled code, where all its parts allow it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core import kernels
from osp_core.decoding import BlockwiseDecoder, RandomizedDecoder
from osp_core.errors import LARGEST, Array, OspError
from osp_core.fused.assemble import assemble
from osp_core.fused.parts import SpaceParts
from osp_core.learners.rule_learner import RuleLearner
from osp_core.losses import FenchelYoungLoss
from osp_core.models import LinearModel
from osp_core.predictions import Prediction
from osp_core.rounds import Play, Round
from osp_core.targets import AffineLoss, RoundLoss
from osp_core.trace import FIELDS

if TYPE_CHECKING:
    from osp_core.protocol import OnlinePredictor

REMEMBERED = 4096  # labels whose vertex and loss are kept
NO_COLUMNS = np.empty(0, dtype=np.int64)
FLOAT64 = np.dtype(np.float64)
FIRST = np.zeros(1, dtype=np.int64)
Laws = tuple[Array, Array, Array]
Revealed = tuple[Array, Array, Array]
"""True vertices, costs of their losses (both one a row) and the constants."""


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
        self.setup = np.array([gap.loss.scale, largest, decoded.nu, decoded.norm, learner.ball])
        self.params = np.array(parts.params, dtype=np.float64)
        functions = assemble(parts, learner.rule, by_coordinate=self.blockwise, compiled=compiled)
        self._learn_rounds, self._draw_rounds = functions.learn_rounds, functions.draw_rounds
        self._charge, self._predict_row = functions.charge, functions.predict_row
        self._work = np.empty(dim), np.empty(dim)
        self._width = dim if self.blockwise else 1
        self._one_p, self._one_row = np.empty((1, self._width)), np.zeros((1, len(FIELDS)))
        self._row_of_one = np.array([0, self.shape[0]])
        self._remembers = type(predictor.target).reveal is AffineLoss.reveal
        self._revealed: dict[Hashable, Revealed] = {}

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
        taken = self._predict_row(
            array.memory,
            times,
            x if x.flags.carray else x.copy(),
            self.setup,
            self.params,
            self._work,
            np.empty(dim),
            corner,
        )
        return corner if taken else None

    def learn(self, play: Play, y: Any) -> Round | None:
        """Learn from y what was played with the present weights: the same as `step` would have."""
        return self._learn(play.x, y, play.vertex)

    def _learn(self, x: Any, y: Any, played: Array | None) -> Round | None:
        revealed = self.reveal(y)
        if revealed is None:
            return None
        rows = (self._row_of_one, NO_COLUMNS, x)
        if x.__class__ is not np.ndarray or not x.flags.carray:
            rows = _as_row(x)
        dim, table = self.space.dim, self._one_row
        y_hats = np.empty((1, dim))
        laws = y_hats, np.empty((1, dim)), self._one_p
        if not self._call(rows, FIRST, revealed, laws, table):
            return None
        truths, costs, constants = revealed
        loss, expected, surrogate, p, gap = table[0].tolist()
        vertex = self._draw(laws) if played is None else played
        nearest = laws[1][0]
        if vertex is None:
            vertex = nearest
        else:
            loss = self._charge(costs[0], constants[0], vertex)
        decoder, truth = self.predictor.decoder, truths[0]
        return Round(
            self.space,
            vertex,
            truth,
            nearest,
            loss,
            expected,
            surrogate,
            p,
            gap,
            lambda: decoder.law(Prediction(y_hats[0])),
        )

    def learn_many(self, rows: Rows, Y: Sequence[Any]) -> Array:
        """Learn from rounds in order, up to the first that compiled code does not take; return the trace."""
        index, feedback = self._encode(Y)
        laws, table = self._blank(len(index))
        if not len(index):
            return table
        done = self._call(rows, index, feedback, laws, table)
        played = np.empty(self.space.dim)
        self._draw_rounds(laws, index, feedback, self.params, self.predictor.rng, played, table[:done])
        return table[:done]

    def _blank(self, rounds: int) -> tuple[Laws, Array]:
        """Room for ŷ, y* and p of every round, and for their rows of the trace."""
        dim = self.space.dim
        laws = np.empty((rounds, dim)), np.empty((rounds, dim)), np.empty((rounds, self._width))
        return laws, np.zeros((rounds, len(FIELDS)))

    def _call(self, rows: Rows, index: Any, feedback: Revealed, laws: Laws, table: Array) -> int:
        learner = self.learner
        array = learner._array
        done: int = self._learn_rounds(
            (array.memory, array.behind, array.epochs, array.numbers),
            learner._numbers,
            rows,
            index,
            feedback,
            self.setup,
            self.params,
            self._work,
            laws,
            table,
        )
        learner.rounds += done
        return done

    def reveal(self, y: Any) -> Revealed | None:
        """The true vertex of a label, and the cost and constant of its loss; None if that is not affine."""
        if not self._remembers:  # what is told may depend on more than the label
            return self._reveal(y)
        key: Hashable = (y.__class__, y)
        if y.__class__ is np.ndarray:
            key = (y.dtype.str, y.shape, y.tobytes())
        try:
            return self._revealed[key]
        except KeyError:
            pass
        except TypeError:  # not hashable
            return self._reveal(y)
        revealed = self._reveal(y)
        if revealed is not None:
            if len(self._revealed) >= REMEMBERED:
                self._revealed.clear()
            self._revealed[key] = revealed
        return revealed

    def _reveal(self, y: Any) -> Revealed | None:
        truth, loss = self.predictor.target.reveal(self.space, y)
        if type(loss) is not RoundLoss:
            return None
        truths, costs = (np.array(row, dtype=np.float64)[np.newaxis] for row in (truth, loss.cost))
        truths.flags.writeable = False  # shared by all rounds with this label
        return truths, costs, np.array([loss.constant], dtype=np.float64)

    def _encode(self, Y: Sequence[Any]) -> tuple[Any, Revealed]:
        """Number the outputs of a chunk, up to the first bad one, with a table of what they reveal."""
        labels, index = Y, np.arange(len(Y))
        if isinstance(Y, np.ndarray) and Y.ndim == 1:
            if Y.dtype.kind in "iuU":
                labels, index = np.unique(Y, return_inverse=True)
            labels = labels.tolist()  # numbers and words of Python, as they would come one by one
        numbers: dict[int, int] = {}
        revealed: list[Revealed] = []
        code = np.full(len(labels), -1)
        for k, y in enumerate(labels):
            try:
                told = self.reveal(y)
            except OspError:
                told = None
            if told is not None:
                # What is remembered is one object per label, and the list keeps the others alive.
                code[k] = numbers.setdefault(id(told), len(revealed))
                if code[k] == len(revealed):
                    revealed.append(told)
            elif len(labels) == len(Y):
                break  # nothing after a bad round is looked at
        index = code[index]
        index = index[: np.argmax(index < 0)] if (index < 0).any() else index
        if not revealed:
            return index[:0], (np.empty((0, 0)), np.empty((0, 0)), np.empty(0))
        truths, costs, constants = (np.concatenate(column) for column in zip(*revealed, strict=True))
        truths.flags.writeable = False  # as those of one round are: one type, compiled once
        return index, (truths, costs, constants)

    def _draw(self, laws: Laws) -> Array | None:
        """Draw as the law of the round would; None for y*."""
        rng, (y_hats, corners, ps) = self.predictor.rng, laws
        if self.blockwise:
            randomised = rng.random(ps.shape[1]) < ps[0]
            if not randomised.any():
                return None
            vertex = corners[0].copy()
            vertex[randomised] = rng.random(int(randomised.sum())) < y_hats[0, randomised]
            return np.asarray(vertex)
        p = ps.item()
        if p <= 0.0 or rng.random() >= p:
            return None
        return self.space.sample_vertex(y_hats[0], rng)


Rows = tuple[Any, Any, Array]
"""Rows of inputs: where each starts, the columns of the entries (empty when dense), and the entries."""


def _as_row(x: Any) -> Rows:
    """One input: a copy where it is read-only or in pieces."""
    if isinstance(x, np.ndarray):
        return np.array([0, len(x)]), NO_COLUMNS, x.copy()
    values, columns = x
    if columns is None:
        return np.array([0, len(values)]), NO_COLUMNS, values
    if not len(columns):  # no columns would mean dense
        return np.array([0, 1]), np.zeros(1, dtype=np.int64), np.zeros(1)
    return np.array([0, len(values)]), columns.astype(np.int64), np.array(values)


def as_chunk(X: Any, shape: tuple[int, ...]) -> Rows | None:
    """Rows of a matrix for `learn_many`; None when it is no matrix of numbers as wide as the weights."""
    if getattr(X, "ndim", 0) != 2 or X.shape[1] != shape[-1] or X.dtype.kind not in "fiu":
        return None
    if isinstance(X, np.ndarray):
        values = np.ascontiguousarray(X, dtype=np.float64).reshape(-1)
        return np.arange(len(X) + 1) * X.shape[1], NO_COLUMNS, values
    if getattr(X, "format", None) != "csr" or not X.has_canonical_format or not len(X.indices):
        return None  # without any entry, no columns would mean dense
    return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)


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
