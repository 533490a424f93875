"""Checks of learners: zero start, determinism, state, sparse inputs, and the bound they state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from osp_core.errors import Array, GuaranteeError, OspError
from osp_core.learners import OnlineLearner
from osp_core.protocol import OnlinePredictor
from osp_core.regularizers import GibbsEntropy
from osp_core.spaces import OutputSpace
from osp_core.testing.report import NotApplicable, Report, examine
from osp_core.testing.sample import RELATIVE, norm_name, show
from osp_core.testing.streams import ADVERSARIES, N_FEATURES, Game, play_against
from osp_core.vertices import Vertices

LearnerFactory = Callable[[], OnlineLearner]


def check_learner(
    learner_factory: LearnerFactory,
    *,
    space: OutputSpace | None = None,
    rounds: int = 80,
    expected_failures: Mapping[str, str] | Iterable[str] = (),
    seed: int = 0,
) -> None:
    """Run all checks on a learner and raise one error that lists every failure.

    Parameters
    ----------
    learner_factory : callable
        Returns a new learner each time: the class itself, or ``lambda: AdaptiveOGD(diameter=4)``.
    space : OutputSpace, optional
        Small, with known constants and a target. By default a logistic and a Euclidean one are used.
    rounds : int
        Length of the adversarial streams.
    expected_failures : mapping or iterable of str
        Names of checks that are known to fail → why.
    seed : int
        Of the streams.

    Raises
    ------
    ConformanceError
        When a check failed.
    """
    examine_learner(
        learner_factory, space=space, rounds=rounds, expected_failures=expected_failures, seed=seed
    ).raise_failures()


def examine_learner(
    learner_factory: LearnerFactory,
    *,
    space: OutputSpace | None = None,
    rounds: int = 80,
    expected_failures: Mapping[str, str] | Iterable[str] = (),
    seed: int = 0,
) -> Report:
    """Run the checks of `check_learner` and return their report."""
    spaces = default_spaces() if space is None else (space,)

    def run(check: LearnerCheck) -> None:
        for one in spaces:
            check(learner_factory, one, np.random.default_rng(seed), rounds)

    checks = [
        (check.__name__.removeprefix("check_"), lambda check=check: run(check)) for check in LEARNER_CHECKS
    ]
    return examine(f"learner {learner_factory()!r}", checks, expected_failures)


def default_spaces() -> tuple[OutputSpace, ...]:
    """A logistic space of three classes, and the Euclidean one on which Lemma 4 is tight."""
    return (Vertices(np.eye(3), psi=GibbsEntropy(1.0), norm=1.0), Vertices([[0.0], [1.0]]))


def check_learner_starts_at_zero(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """W₁ = 0, also when a used learner is started again, and rounds without a gradient leave it finite."""
    game = play_against(factory(), space, ADVERSARIES["random"], rng, 10)
    learner = game.predictor.learner
    learner.start((space.dim, N_FEATURES), gap=game.predictor.gap)
    assert learner.weights.shape == (space.dim, N_FEATURES), f"W₁ has shape {learner.weights.shape}."
    assert not learner.weights.any(), f"W₁ = {show(learner.weights)} after start(), instead of 0."
    assert learner.rounds == 0, f"rounds = {learner.rounds} after start(), instead of 0."
    predictor = OnlinePredictor(space, N_FEATURES, learner=factory())
    for _ in range(3):
        predictor.step(np.zeros(N_FEATURES), space.lmo(rng.standard_normal(space.dim)))
    assert not predictor.learner.weights.any(), "the weights moved, or became NaN, in rounds with x = 0."


def check_learner_is_deterministic(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """Two new learners on one stream have the same weights, bit for bit; so has one that is started again."""
    seed = int(rng.integers(2**32))
    first, second = (_play(factory(), space, seed, rounds) for _ in range(2))
    _assert_same_weights(first, second, "two runs on the same stream differ")
    third = _play(copy.deepcopy(second.predictor.learner), space, seed, rounds)
    _assert_same_weights(first, third, "a learner that is started again differs from a new one")


def check_learner_keeps_finite_weights(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """Weights are finite, callers cannot change them, and `average_weights` is the mean of W₁, …, W_T."""
    game = _play(factory(), space, int(rng.integers(2**32)), rounds)
    learner = game.predictor.learner
    assert np.isfinite(learner.weights).all(), (
        f"the weights are {show(learner.weights)} after {rounds} rounds."
    )
    mean = np.mean(game.iterates, axis=0)
    error, size = np.abs(learner.average_weights - mean).max(), 1.0 + np.abs(mean).max()
    assert error <= RELATIVE * size, (
        f"average_weights is off by {error:.3g} from the mean of W₁, …, W_T over {len(game.iterates)} rounds."
    )
    before, handed_out = learner.weights.copy(), learner.weights
    if handed_out.flags.writeable:
        handed_out += 1.0
    assert np.array_equal(learner.weights, before), "writing to `weights` changed the learner."


def check_learner_state_round_trip(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """A learner that loads a state in mid-stream goes on bit for bit as the one that wrote it."""
    seed, half = int(rng.integers(2**32)), max(2, rounds // 2)
    old = _play(factory(), space, seed, half)
    state = old.predictor.learner.state()
    kept = copy.deepcopy(state)
    _assert_plain(state)
    new = OnlinePredictor(space, N_FEATURES, learner=factory(), seed=0)
    new.learner.load_state(copy.deepcopy(state))
    resumed = np.random.default_rng(seed + 1)
    for t in range(half):
        x, y = ADVERSARIES["random"](old.predictor, t, resumed)
        for predictor in (old.predictor, new):
            predictor.step(x, y)
        left, right = old.predictor.learner.weights, new.learner.weights
        assert left.tobytes() == right.tobytes(), (
            f"{t + 1} rounds after the state was loaded the weights differ, by "
            f"{np.abs(left - right).max():.3g}: "
            "state() misses something that update() uses."
        )
    _assert_same_state(old.predictor.learner.state(), new.learner.state(), "at the end of the stream")
    _assert_same_state(kept, state, "because the learner went on: state() must return copies")
    _check_refuses_other_shape(new.learner, state)


def check_learner_sparse_equals_dense(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """Sparse rows give the weights and losses that the same rows give when they are dense."""
    from scipy.sparse import csr_array

    game = _play(factory(), space, int(rng.integers(2**32)), rounds)
    sparse = OnlinePredictor(space, N_FEATURES, learner=factory(), seed=0)
    for x, y in zip(game.inputs, game.outputs, strict=True):
        sparse.step(csr_array(x[np.newaxis]), y)
    left, right = game.predictor.learner.weights, sparse.learner.weights
    assert np.allclose(left, right, rtol=1e-8, atol=1e-8 * (1.0 + np.abs(left).max())), (
        f"sparse and dense inputs lead to weights that differ by {np.abs(left - right).max():.3g}."
    )


def check_learner_regret_is_below_its_bound(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """Σ E L − ΣS(U) ≤ bound(‖U‖) on random, drifting, adaptive and separable streams, for several U."""
    stated = 0
    for name, adversary in ADVERSARIES.items():
        for length in sorted({min(rounds, 12), rounds}):  # a bound holds at any time, and is tightest early
            game = play_against(factory(), space, adversary, rng, length)
            stated += sum(_regret_is_bounded(game, U, name) for U in game.comparators())
    if not stated:
        raise NotApplicable("the learner states no bound: bound() returns None or refuses every comparator")


LearnerCheck = Callable[[LearnerFactory, OutputSpace, np.random.Generator, int], None]

LEARNER_CHECKS: tuple[LearnerCheck, ...] = (
    check_learner_starts_at_zero,
    check_learner_is_deterministic,
    check_learner_keeps_finite_weights,
    check_learner_state_round_trip,
    check_learner_sparse_equals_dense,
    check_learner_regret_is_below_its_bound,
)
"""Every check of a learner, in the order of the report."""


def _play(learner: OnlineLearner, space: OutputSpace, seed: int, rounds: int) -> Game:
    return play_against(learner, space, ADVERSARIES["adaptive"], np.random.default_rng(seed), rounds)


def _regret_is_bounded(game: Game, U: Array, name: str) -> bool:
    """Whether the learner states a bound for this comparator; an error when the regret exceeds it."""
    predictor, norm_U = game.predictor, float(np.linalg.norm(U))
    try:
        bound = predictor.learner.bound(predictor.gap, predictor.summary(), norm_U)
    except GuaranteeError:
        return False  # for instance a comparator outside the domain of the learner
    if bound is None:
        return False
    surrogate, played = game.surrogate_loss(U), float(np.sum(game.expected_losses))
    assert played - surrogate <= bound.value + RELATIVE * (1.0 + played + surrogate), (
        f"the bound {bound.value:.8g} is too small: on the {name} stream of {len(game.inputs)} rounds over "
        f"{predictor.space!r}, Σ E L = {played:.8g} exceeds ΣS(U) = {surrogate:.8g} by "
        f"{played - surrogate:.8g} for "
        f"‖U‖ = {norm_U:.6g}. Premises: {'; '.join(bound.premises)}."
    )
    return True


def _assert_same_weights(first: Game, second: Game, what: str) -> None:
    pairs = zip(first.iterates, second.iterates, strict=True)
    for t, (left, right) in enumerate(pairs, start=1):
        assert left.tobytes() == right.tobytes(), (
            f"{what}: W_{t} is off by {np.abs(left - right).max():.3g} in the {norm_name(np.inf)} norm."
        )


def _assert_plain(state: Mapping[str, Any]) -> None:
    for key, value in state.items():
        plain = isinstance(value, np.ndarray) and value.dtype != object
        assert plain or isinstance(value, int | float | str | bool | np.generic | None), (
            f"state()[{key!r}] is a {type(value).__name__}; a state holds arrays, numbers and strings only."
        )


def _assert_same_state(left: Mapping[str, Any], right: Mapping[str, Any], when: str) -> None:
    assert left.keys() == right.keys(), f"states have the entries {sorted(left)} and {sorted(right)}."
    for key in left:
        same = np.asarray(left[key]).tobytes() == np.asarray(right[key]).tobytes()
        assert same, f"state()[{key!r}] differs {when}: {show(left[key])} and {show(right[key])}."


def _check_refuses_other_shape(learner: OnlineLearner, state: Mapping[str, Any]) -> None:
    """A state with weights of another shape is refused, and nothing changes by it."""
    shape, before = learner.weights.shape, learner.weights.tobytes()

    def widened(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.shape == shape:
            return np.hstack([value, value[:, :1]])
        return value

    wrong = {key: widened(value) for key, value in state.items()}
    if not any(isinstance(value, np.ndarray) and value.shape == shape for value in state.values()):
        return
    try:
        learner.load_state(wrong)
    except OspError:
        if learner.weights.tobytes() != before:
            raise AssertionError("load_state changed the weights, then refused the state.") from None
        return
    raise AssertionError(
        f"load_state accepted weights with one column more than the {shape} it was started with."
    )
