"""The protocol: receive x_t, play ŷ's random decoding, see y_t, update; [SBTO24, Algorithm 2]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from osp_core.decoding import Decoder, Law
from osp_core.errors import Array, GuaranteeError, InvalidInputError, OspError, as_positive
from osp_core.guarantees import Bound, SurrogateGap, surrogate_gap
from osp_core.learners import OGD, OnlineLearner, RunSummary
from osp_core.losses import FenchelYoungLoss
from osp_core.models import LinearModel, Model
from osp_core.spaces import OutputSpace
from osp_core.targets import AffineLoss, RoundLoss
from osp_core.trace import Trace


@dataclass(frozen=True, eq=False)
class Instance:
    """The space of a round, with the loss and the decoder on it."""

    space: OutputSpace
    loss: FenchelYoungLoss
    decoder: Decoder
    covered: bool
    """Whether its constants are no worse than those the guarantee was computed with."""


@dataclass(frozen=True, eq=False)
class Play:
    """What was played for an input, kept until its feedback comes."""

    label: Any
    vertex: Array
    law: Law
    theta: Array
    x: Any
    number: int
    instance: Instance


@dataclass(frozen=True, eq=False)
class Round:
    """What a round was and what it cost; see `Trace` for the numbers."""

    label: Any
    vertex: Array
    y: Array
    law: Law
    target_loss: float
    expected_loss: float
    surrogate_loss: float
    p: float
    gap: float


@dataclass(frozen=True, eq=False)
class _Assessment:
    """A round judged, before anything is changed."""

    target_loss: float
    expected_loss: float
    surrogate_loss: float
    score_gradient: Array
    gap: float


class OnlinePredictor:
    """Learns and plays, round by round.

    Parameters
    ----------
    space : OutputSpace
    n_features : int
        Length of x (columns of Φ for a FeatureModel).
    learner : OnlineLearner, optional
        OGD with the step of Thm 7 by default.
    model : Model, optional
        LinearModel by default.
    loss : FenchelYoungLoss, optional
        See `surrogate_gap` for the default scale.
    target : AffineLoss, optional
        The usual target of the space by default.
    decoder : Decoder, optional
        BlockwiseDecoder where space and target allow it, otherwise RandomizedDecoder.
    feature_bound : float
        C: inputs with a larger norm are refused, because the guarantee assumes there are none.
    inexactness : float, optional
        Let iterative predictions stop early: round t at a gap of inexactness/(t(t + 1)) of the loss, so that
        all rounds together add at most `inexactness` to the bound. To machine precision otherwise.
    seed : int, optional
        Of the generator that randomises the plays.
    """

    def __init__(
        self,
        space: OutputSpace,
        n_features: int,
        *,
        learner: OnlineLearner | None = None,
        model: Model | None = None,
        loss: FenchelYoungLoss | None = None,
        target: AffineLoss | None = None,
        decoder: Decoder | None = None,
        feature_bound: float = 1.0,
        inexactness: float | None = None,
        seed: int | None = None,
    ) -> None:
        if loss is not None and loss.space is not space:
            raise InvalidInputError("The loss belongs to another space than the predictor.")
        if decoder is not None and decoder.space is not space:
            raise InvalidInputError("The decoder belongs to another space than the predictor.")
        self.space = space
        self.model = model if model is not None else LinearModel(n_features)
        self.target = target if target is not None else space.target_loss()
        self.gap = surrogate_gap(space, self.target, loss=loss, decoder=decoder, feature_bound=feature_bound)
        self.loss, self.decoder = self.gap.loss, self.gap.decoder
        self.learner = learner if learner is not None else OGD()
        self.learner.start(self.model.shape(space.dim), gap=self.gap)
        self.inexactness = None if inexactness is None else as_positive(inexactness, "inexactness")
        self.rng = np.random.default_rng(seed)
        self._plays = 0
        self._waiting: set[int] = set()
        self._delay = 0
        self._total_gap = 0.0
        self._certified = True

    @property
    def average_weights(self) -> Array:
        """W̄, the average of the iterates: what online-to-batch conversion uses."""
        return self.learner.average_weights

    def predict(self, x: Any, *, context: Any = None) -> Any:
        """Return the label of the vertex nearest to ŷ: deterministic, changes nothing."""
        space = self.space.at(context)
        _, theta = self._scores(x, space)
        return space.to_label(space.nearest_vertex(space.predict(theta).point))

    def play(self, x: Any, *, context: Any = None) -> Play:
        """Play a random output for x; its feedback goes to `learn`, now or later."""
        instance = self._instance(context)
        read, theta = self._scores(x, instance.space)
        return self._commit_play(instance, read, theta, self._law(instance, theta))

    def learn(self, play: Play, y: Any) -> Round:
        """Learn from the true output (a vertex or a label) of an earlier play."""
        if play.number not in self._waiting:
            raise InvalidInputError(f"Play {play.number} waits for no feedback: it was learned from before.")
        truth, round_loss = self.target.reveal(play.instance.space, y)
        seen = _assess(play.instance, play.theta, play.law, truth, round_loss, play.vertex)
        return self._commit_learning(play, truth, seen)

    def step(self, x: Any, y: Any, *, context: Any = None) -> Round:
        """Play for x, then learn from y. If anything is wrong with either, nothing changes.

        `context` names the instance of the round where the space has several: see `OutputSpace.at`.
        """
        instance = self._instance(context)
        truth, round_loss = self.target.reveal(instance.space, y)
        read, theta = self._scores(x, instance.space)
        law = self._law(instance, theta)
        seen = _assess(instance, theta, law, truth, round_loss, law.nearest)  # raises before anything changes
        play = self._commit_play(instance, read, theta, law)
        return self._commit_learning(play, truth, replace(seen, target_loss=round_loss(play.vertex)))

    def summary(self) -> RunSummary:
        """What the run was like so far: the learner's bound asks for it."""
        return RunSummary(self.learner.rounds, self._delay, self._total_gap, self._certified)

    def guarantee(self, kind: str = "expected", *, norm_U: float = 1.0) -> Bound:
        """Return the bound on Σ E L − ΣS(U), ‖U‖ = norm_U, that holds for the learner and step that ran.

        Parameters
        ----------
        kind : {"expected"}
            The regret in expectation over the plays, [SBTO24, Thm 7].
        norm_U : float
            Frobenius norm of the comparator.
        """
        if kind != "expected":
            raise InvalidInputError(f"There is no guarantee of kind {kind!r}; there is: expected.")
        if not self._certified:
            raise GuaranteeError(
                "A round was decoded without a certificate: ν or the nearest output is not known on "
                f"{self.space!r}, or a context has worse constants than it. Give nu=… and nearest_vertex, or "
                "make the predictor with the worst instance."
            )
        bound = self.learner.bound(self.gap, self.summary(), norm_U)
        if bound is None:
            raise GuaranteeError(f"No theorem is known for the learner {self.learner!r}.")
        return bound

    def _instance(self, context: Any) -> Instance:
        space = self.space.at(context)
        if space is self.space:
            return Instance(space, self.loss, self.decoder, covered=True)
        loss, decoder = FenchelYoungLoss(space, self.loss.scale), self.decoder.at(space)
        gap = surrogate_gap(
            space, self.target, loss=loss, decoder=decoder, feature_bound=self.gap.feature_bound
        )
        return Instance(space, loss, decoder, _no_worse(gap, self.gap))

    def _scores(self, x: Any, space: OutputSpace) -> tuple[Any, Array]:
        read = self.model.read(x, space.dim)
        size, most = self.model.size(read), self.gap.feature_bound
        if size > most * (1 + 1e-9):
            raise InvalidInputError(
                f"x has norm {size:.6g}, above the feature bound {most:.6g}. Scale the inputs, or state a "
                "larger feature_bound=… when the predictor is made."
            )
        return read, self.model.scores(self.learner.weights, read)

    def _law(self, instance: Instance, theta: Array) -> Law:
        space = instance.space
        if self.inexactness is not None:
            t = self._plays + 1
            space = space.accurate_to(self.inexactness / (t * (t + 1)) / self.loss.scale)
        return instance.decoder.law(space.predict(theta))

    def _commit_play(self, instance: Instance, read: Any, theta: Array, law: Law) -> Play:
        vertex = law.sample(self.rng)
        self._delay = max(self._delay, len(self._waiting))
        self._plays += 1
        self._waiting.add(self._plays)
        return Play(instance.space.to_label(vertex), vertex, law, theta, read, self._plays, instance)

    def _commit_learning(self, play: Play, truth: Array, seen: _Assessment) -> Round:
        gradient = self.model.gradient(seen.score_gradient, play.x)
        self.learner.update(gradient, loss=seen.surrogate_loss, expected_loss=seen.expected_loss)
        self._waiting.remove(play.number)
        self._delay = max(self._delay, self._plays - play.number)
        self._total_gap += seen.gap
        self._certified = self._certified and play.law.certified and play.instance.covered
        return Round(
            play.label,
            play.vertex,
            truth,
            play.law,
            seen.target_loss,
            seen.expected_loss,
            seen.surrogate_loss,
            float(np.mean(play.law.p)),
            seen.gap,
        )


def _assess(
    instance: Instance, theta: Array, law: Law, truth: Array, round_loss: RoundLoss, played: Array
) -> _Assessment:
    """Judge a round from ŷ alone: nothing is predicted again, nothing is changed."""
    value, score_gradient = instance.loss.at(theta, law.prediction, truth)
    gap = instance.loss.scale * law.prediction.gap
    return _Assessment(round_loss(played), law.expected_loss(round_loss), value, score_gradient, gap)


def _no_worse(gap: SurrogateGap, reference: SurrogateGap) -> bool:
    """Whether what holds with the constants of `reference` holds with those of `gap`."""
    if gap.a is None or reference.a is None:
        return False
    return gap.a >= reference.a and gap.b <= reference.b


def run(
    predictor: OnlinePredictor,
    X: Any,
    Y: Iterable[Any] | None = None,
    *,
    progress: bool = False,
    callback: Callable[[int, Round], None] | None = None,
) -> Trace:
    """Step through a stream and return its trace.

    Parameters
    ----------
    predictor : OnlinePredictor
    X : array, sparse matrix or iterable
        Inputs; or, without Y, an iterable of (x, y) pairs, which may be a generator.
    Y : iterable, optional
        Outputs, as vertices or labels.
    progress : bool
        Show a progress bar on standard error.
    callback : callable, optional
        Called with the number of the round (from 1) and its `Round`.

    Raises
    ------
    OspError
        When a round is bad; the message has its number, and the predictor is as it was before it.
    """
    from osp_core.progress import progress_bar

    trace = Trace()
    total = _length(X, Y)
    for number, (x, y) in enumerate(progress_bar(_pairs(X, Y), total, enabled=progress), start=1):
        try:
            record = predictor.step(x, y)
        except OspError as error:
            error.args = (f"Round {number}: {error}", *error.args[1:])
            raise
        trace.append(record)
        if callback is not None:
            callback(number, record)
    return trace


def _pairs(X: Any, Y: Iterable[Any] | None) -> Iterator[tuple[Any, Any]]:
    if Y is None:
        yield from X
        return
    rows = (X[i : i + 1] for i in range(X.shape[0])) if hasattr(X, "tocsr") else iter(X)
    yield from zip(rows, Y, strict=True)


def _length(X: Any, Y: Any) -> int | None:
    for sized in (Y, X):
        if hasattr(sized, "__len__") or hasattr(sized, "shape"):
            return int(sized.shape[0]) if hasattr(sized, "shape") else len(sized)
    return None
