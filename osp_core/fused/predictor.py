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
Revealed = tuple[Array, Array, float]


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
        self._learn_round, self._learn_rounds = functions.learn_round, functions.learn_rounds
        self._charge = functions.charge
        self._scores, self._theta, self._costs = np.empty(dim), np.empty(dim), np.empty(len(FIELDS))
        self._p = np.empty(dim if self.blockwise else 1)
        self._remembers = type(predictor.target).reveal is AffineLoss.reveal
        self._revealed: dict[Hashable, Revealed] = {}

    def step(self, x: Any, y: Any) -> Round | None:
        """Play for x and learn from y; None, with nothing changed, when compiled code does not take it."""
        if x.__class__ is not np.ndarray or x.dtype is not FLOAT64 or x.shape != self.shape:
            x = self.predictor.model.read(x, self.space.dim)
        return self._learn(x, y, None)

    def learn(self, play: Play, y: Any) -> Round | None:
        """Learn from y what was played with the present weights: the same as `step` would have."""
        return self._learn(play.x, y, play.vertex)

    def _learn(self, x: Any, y: Any, played: Array | None) -> Round | None:
        revealed = self.reveal(y)
        if revealed is None:
            return None
        truth, cost, constant = revealed
        y_hat, nearest = np.empty(truth.size), np.empty(truth.size)
        learner, costs = self.learner, self._costs
        array = learner._array
        if not self._learn_round(
            (array.core, array.residue, array.numbers),
            learner._numbers,
            (x, NO_COLUMNS) if x.__class__ is np.ndarray and x.flags.carray else _as_row(x),
            revealed,
            self.setup,
            self.params,
            (self._scores, self._theta, y_hat, nearest, self._p),
            costs,
        ):
            return None
        learner.rounds += 1
        loss, expected, surrogate, p, _ = costs.tolist()
        vertex = self._draw(y_hat, nearest) if played is None else played
        if vertex is not nearest:
            loss = self._charge(cost, constant, vertex)
        decoder, space = self.predictor.decoder, self.space
        return Round(
            space, vertex, truth, loss, expected, surrogate, p, 0.0, lambda: decoder.law(Prediction(y_hat))
        )

    def learn_many(self, rows: Rows, Y: Sequence[Any]) -> Array:
        """Learn from rounds in order, up to the first that is not for compiled code; return their trace."""
        index, feedback = self._encode(Y)
        dim, array = self.space.dim, self.learner._array
        table = np.zeros((len(index), len(FIELDS)))
        if not len(index):
            return table
        done = self._learn_rounds(
            (array.core, array.residue, array.numbers),
            self.learner._numbers,
            rows,
            index,
            feedback,
            self.setup,
            self.params,
            (self._scores, self._theta, np.empty(dim), np.empty(dim), self._p),
            np.empty(dim),
            self.predictor.rng,
            table,
        )
        self.learner.rounds += done
        return table[:done]

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
        truth, cost = np.array(truth, dtype=np.float64), np.array(loss.cost, dtype=np.float64)
        truth.flags.writeable = False  # shared by all rounds with this label
        return truth, cost, float(loss.constant)

    def _encode(self, Y: Sequence[Any]) -> tuple[Any, tuple[Array, Array, Array]]:
        """Number the outputs of a chunk, up to the first bad one, with a table of what they reveal."""
        numbers: dict[int, int] = {}
        revealed: list[Revealed] = []
        index = np.empty(len(Y), dtype=np.int64)
        for t, y in enumerate(Y.tolist() if isinstance(Y, np.ndarray) and Y.ndim == 1 else Y):
            try:
                told = self.reveal(y)
            except OspError:
                told = None
            if told is None:
                index = index[:t]
                break
            # What is remembered is one object per label, and the list keeps the others alive.
            k = numbers.setdefault(id(told), len(revealed))
            if k == len(revealed):
                revealed.append(told)
            index[t] = k
        dim = self.space.dim
        truths = np.array([told[0] for told in revealed]).reshape(-1, dim)
        costs = np.array([told[1] for told in revealed]).reshape(-1, dim)
        return index, (truths, costs, np.array([told[2] for told in revealed]))

    def _draw(self, y_hat: Array, nearest: Array) -> Array:
        """Draw as the law of the round would."""
        rng = self.predictor.rng
        if self.blockwise:
            randomised = rng.random(len(nearest)) < self._p
            if not randomised.any():
                return nearest
            vertex = nearest.copy()
            vertex[randomised] = rng.random(int(randomised.sum())) < y_hat[randomised]
            return vertex
        p = self._p.item()
        if p <= 0.0 or rng.random() >= p:
            return nearest
        return self.space.sample_vertex(y_hat, rng)


Rows = tuple[Any, Any, Array]
"""Rows of inputs: where each starts, the columns of the entries (empty when dense), and the entries."""


def _as_row(x: Any) -> tuple[Array, Any]:
    """An input as the compiled round takes it: a copy where it is read-only or in pieces."""
    if isinstance(x, np.ndarray):
        return x.copy(), NO_COLUMNS
    values, columns = x
    if columns is None:
        return values, NO_COLUMNS
    if not len(columns):  # no columns would mean dense
        return np.zeros(1), np.zeros(1, dtype=np.int64)
    return np.array(values), columns.astype(np.int64)


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
