"""What a report knows of one run: its trace, a comparator, the bounds, and how the decoder behaves."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from osp_core.errors import Array, OspError
from osp_core.guarantees import Bound
from osp_core.online.comparator import best_comparator
from osp_core.online.predictor import OnlinePredictor
from osp_core.online.trace import Trace
from osp_core.surrogates.laws import Law

KINDS = ("expected", "high_probability", "online_to_batch", "nonstationary")
FITTED_ROUNDS = 1000  # the comparator is fitted to at most so many, and judged on all
WATCHED_ROUNDS = 100
DRAWS = 10
CHUNK = 256


@dataclass(frozen=True)
class Statement:
    """A bound of one kind, or the reason why there is none."""

    kind: str
    bound: Bound | None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Hindsight:
    """A comparator U judged on the stream.

    Attributes
    ----------
    losses : array
        ΣS_i(U) over the first t rounds, for every t that was judged.
    norm : float
        ‖U‖.
    """

    losses: Array
    norm: float


@dataclass(frozen=True, eq=False)
class Watched:
    """A law of the final weights on an input of the stream, a play with its loss, and the mean of several."""

    law: Law
    played: Array
    mean_played: Array
    truth: Array
    loss: float
    expected_loss: float
    drawn_loss: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """One run, as a report shows it.

    Attributes
    ----------
    hindsight : Hindsight or None
        None when the stream could not be read again; `reason` says why.
    watched : tuple of Watched
        The last inputs, the latest first, decoded with the final weights.
    seconds : mapping
        What took how long.
    """

    predictor: OnlinePredictor
    trace: Trace
    seed: int
    hindsight: Hindsight | None
    statements: tuple[Statement, ...]
    watched: tuple[Watched, ...]
    seconds: dict[str, float]
    reason: str = ""

    @property
    def bound(self) -> Bound | None:
        """The bound on the expected regret, if there is one."""
        return self.statements[0].bound

    @property
    def rounds(self) -> int:
        """The rounds that the comparator was judged on."""
        return len(self.trace) if self.hindsight is None else len(self.hindsight.losses)

    @property
    def regret(self) -> Array | None:
        """ΣE L − ΣS(U) after every round."""
        if self.hindsight is None:
            return None
        return np.cumsum(self.trace.expected_loss[: self.rounds]) - self.hindsight.losses

    @property
    def lemma_holds(self) -> bool | None:
        """Whether E L ≤ (1 − a)·(S + gap) in every round, [SBTO24, Lemma 4]; None where a is not known."""
        a = self.predictor.certificate.a
        if a is None:
            return None
        surrogate = self.trace.surrogate_loss + self.trace.gap
        return bool((self.trace.expected_loss <= (1.0 - a) * surrogate + 1e-9 * (1.0 + surrogate)).all())

    @property
    def regret_holds(self) -> bool | None:
        """Whether the regret stayed below the bound after every round; None where there is no bound."""
        if self.regret is None or self.bound is None:
            return None
        return bool((self.regret <= self.bound.value + 1e-9 * (1.0 + abs(self.bound.value))).all())


def gather(
    predictor: OnlinePredictor,
    trace: Trace,
    pairs: Callable[[], Iterable[tuple[Any, Any]]],
    *,
    seed: int = 0,
    seconds: float = 0.0,
    time_limit: float = 10.0,
    max_iter: int = 60,
) -> Evidence:
    """Look at a run after it ended.

    Parameters
    ----------
    predictor, trace
        After the last round.
    pairs : callable
        Returns a fresh iterator over the (x, y) pairs that were played, read twice and never kept whole.
    seed : int
        Of the run, for the report, and of the draws made here.
    seconds : float
        How long the run took.
    time_limit : float
        For fitting the comparator, and again for judging it: every U is a valid comparator, and the bound
        holds after every round, so stopping early costs sharpness and not truth.
    max_iter : int
        Iterations of the fit, which unlike seconds are the same everywhere.
    """
    began = time.monotonic()
    hindsight, reason = None, ""
    tail: list[tuple[Any, Any]] = []
    try:
        if len(trace):
            weights = _fit(predictor, pairs, len(trace), time_limit, max_iter)
            hindsight, tail = _judge(predictor, pairs, len(trace), weights, time_limit)
    except OspError as error:
        reason = f"The stream could not be read again: {error}"
    norm = hindsight.norm if hindsight is not None else 1.0
    watched = _watch_all(predictor, tail, np.random.default_rng([seed, 1]), time_limit / 2)
    return Evidence(
        predictor,
        trace,
        seed,
        hindsight,
        tuple(_statement(predictor, kind, norm) for kind in KINDS),
        watched,
        {"learning": seconds, "comparator and examples": time.monotonic() - began},
        reason or ("" if len(trace) else "No round was played."),
    )


def _statement(predictor: OnlinePredictor, kind: str, norm_U: float) -> Statement:
    try:
        return Statement(kind, predictor.guarantee(kind, norm_U=norm_U))
    except OspError as error:
        return Statement(kind, None, str(error))


def _fit(
    predictor: OnlinePredictor,
    pairs: Callable[[], Iterable[tuple[Any, Any]]],
    rounds: int,
    time_limit: float,
    max_iter: int,
) -> Array:
    """U from evenly spaced rounds, inside the ball of the learner where it has one."""
    kept = max(1, -(-rounds // FITTED_ROUNDS))
    chosen = list(itertools.islice(pairs(), 0, rounds, kept))
    X: Any = [x for x, _ in chosen]
    if hasattr(X[0], "tocsr"):
        from scipy.sparse import vstack

        X = vstack(X, format="csr")
    elif np.ndim(X[0]) == 1:
        X = np.asarray(X, dtype=np.float64)
    space, certificate = predictor.space, predictor.certificate
    truths = [predictor.target.reveal(space, y)[0] for _, y in chosen]
    # ‖U‖² weighs as much less as there are fewer rounds; without a bound, as if there were one with a = 1/2.
    a = certificate.a if certificate.certified else 0.5
    certificate = replace(certificate, a=a, b=certificate.b * len(chosen) / rounds)
    fitted = best_comparator(
        space, X, truths, certificate, model=predictor.model, time_limit=time_limit, max_iter=max_iter
    )
    return _inside(predictor, fitted.weights)


def _inside(predictor: OnlinePredictor, weights: Array) -> Array:
    """Shrink U into the domain of learners that are bounded to a ball."""
    # Not learner.ball: with ParameterFree only the directions that it bets on are in one, not the weights.
    radius, diameter = (getattr(predictor.learner, name, None) for name in ("radius", "diameter"))
    if diameter is not None:
        radius = diameter / 2.0
    if radius is None:
        return weights
    return np.asarray(weights * min(1.0, radius / max(float(np.linalg.norm(weights)), 1e-300)))


def _judge(
    predictor: OnlinePredictor,
    pairs: Callable[[], Iterable[tuple[Any, Any]]],
    rounds: int,
    weights: Array,
    time_limit: float,
) -> tuple[Hindsight, list[tuple[Any, Any]]]:
    """ΣS_t(U) round by round, and the last pairs on the way."""
    space, model, deadline = predictor.space, predictor.model, time.monotonic() + time_limit
    losses: list[Array] = []
    tail: deque[tuple[Any, Any]] = deque(maxlen=WATCHED_ROUNDS)
    for chunk in _chunks(itertools.islice(pairs(), rounds)):
        thetas = np.array([model.scores(weights, model.read(x, space.dim)) for x, _ in chunk])
        truths = np.array([predictor.target.reveal(space, y)[0] for _, y in chunk])
        losses.append(predictor.loss.values_and_gradients(thetas, truths)[0])
        tail.extend(chunk)
        if time.monotonic() > deadline:
            break
    return Hindsight(np.cumsum(np.concatenate(losses)), float(np.linalg.norm(weights))), list(tail)


def _chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, CHUNK)):
        yield chunk


def _watch_all(
    predictor: OnlinePredictor, tail: list[tuple[Any, Any]], rng: np.random.Generator, time_limit: float
) -> tuple[Watched, ...]:
    """The latest first, as many as there is time for: drawing from a large space may be slow."""
    watched: list[Watched] = []
    deadline = time.monotonic() + time_limit
    for x, y in reversed(tail):
        watched.append(_watch(predictor, x, y, rng))
        if time.monotonic() > deadline:
            break
    return tuple(watched)


def _watch(predictor: OnlinePredictor, x: Any, y: Any, rng: np.random.Generator) -> Watched:
    law = predictor.law(x)
    truth, loss = predictor.target.reveal(predictor.space, y)
    draws = np.array([law.sample(rng) for _ in range(DRAWS)])
    losses = [loss(draw) for draw in draws]
    mean = float(np.mean(losses))
    return Watched(law, draws[0], draws.mean(axis=0), truth, losses[0], law.expected_loss(loss), mean)
