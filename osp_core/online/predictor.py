"""The protocol: receive x_t, play ŷ's random decoding, see y_t, update; [SBTO24, Algorithm 2]."""

from __future__ import annotations

import functools
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from osp_core.errors import (
    Array,
    InvalidInputError,
    as_positive,
)
from osp_core.guarantees import Bound
from osp_core.learners import OGD, OnlineLearner, RunSummary
from osp_core.learners.ownership import enter_service, require_free
from osp_core.learners.states import count, entry, flag, generator, number
from osp_core.models import LinearModel, Model
from osp_core.models.feature_bound import read_within, rows_within
from osp_core.online.checks import no_worse, refuse_wild_weights, verify_round
from osp_core.online.guarantee import bound_of_what_ran
from osp_core.online.records import Assessment, Instance, Play, Round
from osp_core.online.run import run
from osp_core.online.trace import FIELDS
from osp_core.spaces import OutputSpace
from osp_core.surrogates.a_and_b import surrogate_gap
from osp_core.surrogates.decoders import Decoder
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.surrogates.laws import Law
from osp_core.surrogates.surrogate_gap import SurrogateGap
from osp_core.targets import AffineLoss, RoundLoss
from osp_core.targets.premises import reveal

if TYPE_CHECKING:
    from osp_core.online.compiled_rounds import CompiledRounds

__all__ = ["OnlinePredictor", "Play", "Round", "run"]

Method = TypeVar("Method", bound=Callable[..., Any])
PLAYS = 0x706C6179  # sets the numbers for plays apart from all others made of the same seed


def locked(method: Method) -> Method:
    """Let one thread at a time into a method: it holds the reentrant lock of its predictor."""

    @functools.wraps(method)
    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return method(self, *args, **kwargs)

    return cast(Method, alone)


class OnlinePredictor:
    """Learns and plays, round by round.

    Parameters
    ----------
    space : OutputSpace
    n_features : int
        Length of x (columns of Φ for a FeatureModel).
    learner : OnlineLearner, optional
        OGD with the step of Thm 7 by default. It serves this predictor alone.
    model : Model, optional
        LinearModel by default.
    loss : FenchelYoungLoss, optional
        See `surrogate_gap` for the default scale.
    target : AffineLoss, optional
        The usual target of the space by default.
    decoder : Decoder, optional
        BlockwiseDecoder where space and target allow it, otherwise RandomizedDecoder.
    feature_bound : float
        C: inputs with a larger norm are refused, because the guarantee assumes there are none. Those that
        are larger by the rounding of float32 or float16 are shortened to C.
    inexactness : float, optional
        Let iterative predictions stop early: round t at a gap of inexactness/(t(t + 1)) of the loss, so that
        all rounds together add at most `inexactness` to the bound. To machine precision otherwise.
    verify : bool
        Check in every round that E L ≤ (1 − a)·S (Lemma 4) and ‖∇S‖² ≤ b·S, and refuse the round otherwise.
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
        verify: bool = False,
        seed: int | None = None,
    ) -> None:
        if not isinstance(space, OutputSpace):
            raise InvalidInputError(f"space must be an OutputSpace, got {space!r}; see make_space.")
        if learner is not None and not isinstance(learner, OnlineLearner):
            raise InvalidInputError(f"learner must be an OnlineLearner, got {learner!r}; see make_learner.")
        if loss is not None and loss.space is not space:
            raise InvalidInputError("The loss belongs to another space than the predictor.")
        if decoder is not None and decoder.space is not space:
            raise InvalidInputError("The decoder belongs to another space than the predictor.")
        self.space = space
        self.model = model if model is not None else LinearModel(n_features)
        self.target = target if target is not None else space.target_loss()
        self.certificate = surrogate_gap(
            space, self.target, loss=loss, decoder=decoder, feature_bound=feature_bound
        )
        self.loss, self.decoder = self.certificate.loss, self.certificate.decoder
        self.inexactness = None if inexactness is None else as_positive(inexactness, "inexactness")
        self.verify = verify
        self.rng = _generator(seed)
        self._plays = 0
        self._waiting: dict[int, str] = {}  # the numbers of plays and their marks
        self._delay = 0
        self._total_gap = 0.0
        self._certified = True
        self._compiled: CompiledRounds | Literal[False] | None = False  # False: not asked for yet
        self._lock = threading.RLock()
        self.learner = learner if learner is not None else OGD()
        require_free(self.learner)
        self.learner.start(self.model.shape(space.dim), certificate=self.certificate)
        enter_service(self.learner)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = {**self.__dict__, "_compiled": False}  # copies make their own
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        enter_service(state["learner"])  # refused by a shallow copy, which would share it
        self.__dict__.update(state, _lock=threading.RLock())

    @property
    def compiled(self) -> CompiledRounds | None:
        """The rounds in compiled code, where there are any; decided when the first round is played."""
        if self._compiled is False:
            from osp_core.online.compiled_rounds import compiled_rounds

            self._compiled = compiled_rounds(self)
        return self._compiled

    @property
    def gap(self) -> SurrogateGap:
        """The older name of `certificate`."""
        return self.certificate

    @property
    def average_weights(self) -> Array:
        """W̄, the average of the iterates: what online-to-batch conversion uses."""
        return self.learner.average_weights

    def predict(self, x: Any, *, context: Any = None) -> Any:
        """Return the label of the vertex nearest to ŷ: deterministic, changes nothing."""
        return self.space.at(context).to_label(self.predict_vertex(x, context=context))

    @locked
    def predict_vertex(self, x: Any, *, context: Any = None) -> Array:
        """Return the vertex nearest to ŷ: what `predict` names."""
        if context is None and self.compiled is not None:
            vertex = self.compiled.nearest(x)
            if vertex is not None:
                return vertex
        space = self.space.at(context)
        _, theta = self._scores(x, space)
        return space.nearest_vertex(space.predict(theta).point)

    @locked
    def law(self, x: Any, *, context: Any = None) -> Law:
        """Return the distribution that `play` would draw from: what an adaptive adversary may look at."""
        instance = self._instance(context)
        return self._law(instance, self._scores(x, instance.space)[1])

    @locked
    def play(self, x: Any, *, context: Any = None) -> Play:
        """Play a random output for x; its feedback goes to `learn`, now or later."""
        instance = self._instance(context)
        read, theta = self._scores(x, instance.space)
        law = self._law(instance, theta)
        return self._commit_play(instance, read, theta, law, self._draw(law)[0])

    @locked
    def learn_many(self, X: Any, Y: Sequence[Any]) -> Array:
        """Step through rounds in compiled code; return their part of the trace.

        Ends before the first round that compiled code does not take: that one is for `step`. Ends at once
        where there is no compiled code.

        Parameters
        ----------
        X : array or csr matrix
            One input a row.
        Y : sequence
            As many outputs.
        """
        from osp_core.compiled.encoding import as_rows

        rows = None
        if self.compiled is not None and not self._waiting:
            rows = as_rows(rows_within(X, self.certificate.feature_bound), self.model.shape(self.space.dim))
        if rows is None or self.compiled is None:
            return np.empty((0, len(FIELDS)))
        table = self.compiled.learn_many(rows, Y)
        self._plays += len(table)
        return table

    @locked
    def learn(self, play: Play, y: Any) -> Round:
        """Learn from the true output (a vertex or a label) of an earlier play."""
        if not isinstance(play, Play):
            raise InvalidInputError(f"play must be what `play` returned, got {play!r}.")
        if self._waiting.get(play.number) != play.mark:
            raise InvalidInputError(
                f"Play {play.number} waits for no feedback here: it was learned from before or forgotten, or "
                "another predictor made it."
            )
        at_once = len(self._waiting) == 1 and play.rounds == self.learner.rounds
        if at_once and play.instance.space is self.space and self.compiled is not None:
            record = self.compiled.learn(play, y)  # the same as `step`, to the last bit
            if record is not None:
                self._waiting.clear()
                return record
        truth, round_loss = reveal(self.target, play.instance.space, y)
        seen = self._assess(play.instance, play.x, play.theta, play.law, truth, round_loss)
        return self._commit_learning(play, truth, seen, round_loss(play.vertex))

    def step(self, x: Any, y: Any, *, context: Any = None) -> Round:
        """Play for x, then learn from y. If anything is wrong with either, nothing changes.

        `context` names the instance of the round where the space has several: see `OutputSpace.at`.
        """
        with self._lock:  # not `locked`, which would take a tenth of a compiled round
            if context is None and not self._waiting:
                compiled = self._compiled if self._compiled is not False else self.compiled
                record = compiled.step(x, y) if compiled is not None else None
                if record is not None:
                    self._plays += 1
                    return record
            return self._step(x, y, context)

    def _step(self, x: Any, y: Any, context: Any) -> Round:
        instance = self._instance(context)
        truth, round_loss = reveal(self.target, instance.space, y)
        read, theta = self._scores(x, instance.space)
        law = self._law(instance, theta)
        seen = self._assess(instance, read, theta, law, truth, round_loss)  # raises before anything changes
        vertex, target_loss = self._draw(law, round_loss)
        play = self._commit_play(instance, read, theta, law, vertex)
        return self._commit_learning(play, truth, seen, target_loss)

    @locked
    def state(self) -> dict[str, Any]:
        """Everything that later rounds depend on, as arrays and JSON values."""
        return {
            "learner": self.learner.state(),
            "rng": self.rng.bit_generator.state,
            "plays": self._plays,
            "delay": self._delay,
            "total_gap": self._total_gap,
            "certified": self._certified,
        }

    @locked
    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` returned; plays that waited for feedback are forgotten.

        What no run could have led to is refused, and changes nothing.
        """
        rng, plays, delay = generator(state, "rng"), count(state, "plays"), count(state, "delay")
        total_gap, certified = number(state, "total_gap", least=0.0), flag(state, "certified")
        before = self.learner.state()
        try:
            self.learner.load_state(entry(state, "learner"))
            refuse_wild_weights(self.learner, plays)
        except BaseException:  # learners of others may change before they refuse
            self.learner.load_state(before)
            raise
        self.rng, self._waiting = rng, {}
        self._plays, self._delay = plays, delay
        self._total_gap, self._certified = total_gap, certified

    @locked
    def save(
        self, path: Any, *, extra: Mapping[str, Any] | None = None, forget_waiting: bool = False
    ) -> None:
        """Write a checkpoint, atomically.

        Parameters
        ----------
        path : path
        extra : mapping, optional
            JSON values to keep with it; `read_checkpoint` gives them back.
        forget_waiting : bool
            Save although plays wait for feedback, which the file will not remember.
        """
        from osp_core.persistence.predictor_file import save_predictor

        if self._waiting and not forget_waiting:
            raise InvalidInputError(
                f"{len(self._waiting)} plays wait for feedback and would be forgotten. Learn from "
                "them first, or save(path, forget_waiting=True)."
            )
        save_predictor(self, path, extra)

    @classmethod
    def load(cls, path: Any, **parts: Any) -> OnlinePredictor:
        """Read a checkpoint and continue exactly where it was written.

        Parameters
        ----------
        path : path
        **parts
            `space`, `learner`, `target` or `decoder`, for those the file cannot make again: spaces that
            were not made with `make_space`, unregistered learners, targets and decoders of your own.
        """
        from osp_core.persistence.predictor_file import load_predictor

        return load_predictor(cls, path, **parts)

    def summary(self) -> RunSummary:
        """What the run was like so far: the learner's bound asks for it."""
        return RunSummary(self.learner.rounds, self._delay, self._total_gap, self._certified)

    def guarantee(
        self, kind: str = "expected", *, norm_U: float = 1.0, delta: float = 0.05, path_length: float = 0.0
    ) -> Bound:
        """Return a bound on the surrogate regret against ‖U‖ = norm_U that holds for what really ran.

        Parameters
        ----------
        kind : {"expected", "high_probability", "online_to_batch", "nonstationary"}
            Of Σ E L − ΣS(U) [SBTO24, Thm 7]; of ΣL − ΣS(U), with probability 1 − delta and at any time
            [Thm 8]; of the risk of W̄ over that of U on independent data [Thm 11]; of Σ E L − ΣS_t(U_t) for
            comparators that move.
        norm_U : float
            Frobenius norm of the comparator.
        delta : float
            For "high_probability": how likely the bound may fail.
        path_length : float
            For "nonstationary": Σ‖U_{t+1} − U_t‖.
        """
        asked = {"norm_U": norm_U, "delta": delta, "path_length": path_length}
        return bound_of_what_ran(self, kind, **asked)

    def _instance(self, context: Any) -> Instance:
        space = self.space.at(context)
        if space is self.space:
            return Instance(space, self.loss, self.decoder, covered=True)
        loss, decoder = FenchelYoungLoss(space, self.loss.scale), self.decoder.at(space)
        own = surrogate_gap(
            space, self.target, loss=loss, decoder=decoder, feature_bound=self.certificate.feature_bound
        )
        return Instance(space, loss, decoder, no_worse(own, self.certificate))

    def _scores(self, x: Any, space: OutputSpace) -> tuple[Any, Array]:
        read = read_within(self.model, x, space.dim, self.certificate.feature_bound)
        return read, self.learner.scores(self.model, read)

    def _law(self, instance: Instance, theta: Array) -> Law:
        space = instance.space
        if self.inexactness is not None:
            t = self._plays + 1
            space = space.accurate_to(self.inexactness / (t * (t + 1)) / self.loss.scale)
        return instance.decoder.law(space.predict(theta))

    def _draw(self, law: Law, round_loss: Callable[[Array], float] | None = None) -> tuple[Array, float]:
        """Draw what to play, and what it costs where that is known; without random numbers if that fails."""
        before = self.rng.bit_generator.state
        try:
            vertex = np.array(law.sample(self.rng))
            return vertex, np.nan if round_loss is None else round_loss(vertex)
        except BaseException:  # a plugin may raise anything
            self.rng.bit_generator.state = before
            raise

    def _commit_play(self, instance: Instance, read: Any, theta: Array, law: Law, vertex: Array) -> Play:
        self._delay = max(self._delay, len(self._waiting))
        self._plays += 1
        mark = self._waiting[self._plays] = secrets.token_hex(8)
        return Play(vertex, law, theta, read, self._plays, instance, self.learner.rounds, mark)

    def _assess(
        self, instance: Instance, read: Any, theta: Array, law: Law, truth: Array, round_loss: RoundLoss
    ) -> Assessment:
        """Judge a round from ŷ alone: nothing is predicted again, nothing is changed."""
        value, score_gradient = instance.loss.at(theta, law.prediction, truth)
        gradient = self.model.gradient(score_gradient, read)
        expected, gap = law.expected_loss(round_loss), instance.loss.scale * law.prediction.gap
        self.learner.admit(gradient, loss=value, expected_loss=expected)
        if self.verify:
            verify_round(self.certificate, expected, value + gap, gradient.squared_norm)
        return Assessment(expected, value, gradient, gap)

    def _commit_learning(self, play: Play, truth: Array, seen: Assessment, target_loss: float) -> Round:
        self.learner.update(seen.gradient, loss=seen.surrogate_loss, expected_loss=seen.expected_loss)
        del self._waiting[play.number]
        self._delay = max(self._delay, self._plays - play.number)
        self._total_gap += seen.gap
        self._certified = self._certified and play.law.certified and play.instance.covered
        return Round(
            play.instance.space,
            play.vertex.copy(),
            np.array(truth),
            np.array(play.law.nearest),
            target_loss,
            seen.expected_loss,
            seen.surrogate_loss,
            float(np.mean(play.law.p)),
            seen.gap,
            play.law,
        )


def _generator(seed: int | None) -> np.random.Generator:
    """A generator whose numbers are not those of ``default_rng(seed)``.

    A stream is often made with the same seed as its predictor, and plays must be independent of the stream.
    """
    try:
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(PLAYS,)))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"seed must be a non-negative whole number or None, got {seed!r}.") from error
