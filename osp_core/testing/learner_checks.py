"""Checks of learners: zero start, determinism, nothing shared, sparse inputs, and the bound they state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from osp_core.errors import Array, GuaranteeError
from osp_core.online.predictor import OnlinePredictor
from osp_core.regularizers import GibbsEntropy
from osp_core.spaces import OutputSpace
from osp_core.spaces.vertices import Vertices
from osp_core.testing.games import ADVERSARIES, N_FEATURES, Game, play_against
from osp_core.testing.learner_state_checks import (
    LearnerFactory,
    check_learner_refuses_spoiled_states,
    check_learner_state_round_trip,
    play,
)
from osp_core.testing.report import NotApplicable, Report, examine
from osp_core.testing.sample import RELATIVE, norm_name, show


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
    learner.start((space.dim, N_FEATURES), certificate=game.predictor.certificate)
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
    first, second = (play(factory(), space, seed, rounds) for _ in range(2))
    _assert_same_weights(first, second, "two runs on the same stream differ")
    third = play(copy.deepcopy(second.predictor.learner), space, seed, rounds)
    _assert_same_weights(first, third, "a learner that is started again differs from a new one")


def check_learner_shares_nothing(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """Two learners that play in turn have the weights each would have alone, and a factory makes new ones."""
    kept = factory()
    assert factory() is not kept, "the factory returned one and the same learner twice."
    seeds = [int(rng.integers(2**32)) for _ in range(2)]
    alone = [play(factory(), space, seed, rounds) for seed in seeds]
    predictors = [OnlinePredictor(space, N_FEATURES, learner=factory()) for _ in seeds]
    for t in range(rounds):
        for game, predictor in zip(alone, predictors, strict=True):
            found, expected = predictor.learner.weights, game.iterates[t]
            assert found.tobytes() == expected.tobytes(), (
                f"W_{t + 1} is off by {np.abs(found - expected).max():.3g} when another learner of the same "
                "kind plays in between: the two share something, in their class or in a module."
            )
            predictor.step(game.inputs[t], game.outputs[t])


def check_learner_keeps_finite_weights(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """Weights are finite, callers cannot change them, and `average_weights` is the mean of W₁, …, W_T."""
    game = play(factory(), space, int(rng.integers(2**32)), rounds)
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


def check_learner_sparse_equals_dense(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """Sparse rows give the weights and losses that the same rows give when they are dense."""
    from scipy.sparse import csr_array

    game = play(factory(), space, int(rng.integers(2**32)), rounds)
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
    check_learner_shares_nothing,
    check_learner_keeps_finite_weights,
    check_learner_state_round_trip,
    check_learner_refuses_spoiled_states,
    check_learner_sparse_equals_dense,
    check_learner_regret_is_below_its_bound,
)
"""Every check of a learner, in the order of the report."""


def _regret_is_bounded(game: Game, U: Array, name: str) -> bool:
    """Whether the learner states a bound for this comparator; an error when the regret exceeds it."""
    predictor, norm_U = game.predictor, float(np.linalg.norm(U))
    try:
        bound = predictor.learner.bound(predictor.certificate, predictor.summary(), norm_U)
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
