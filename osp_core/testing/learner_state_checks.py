"""Checks of the state of a learner: it has all that matters, and is looked at before it is taken."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from osp_core.errors import OspError
from osp_core.learners import OnlineLearner
from osp_core.online.predictor import OnlinePredictor
from osp_core.spaces import OutputSpace
from osp_core.testing.games import ADVERSARIES, N_FEATURES, Game, play_against
from osp_core.testing.sample import show

LearnerFactory = Callable[[], OnlineLearner]


def play(learner: OnlineLearner, space: OutputSpace, seed: int, rounds: int) -> Game:
    """Let a learner play against the adaptive adversary."""
    return play_against(learner, space, ADVERSARIES["adaptive"], np.random.default_rng(seed), rounds)


def check_learner_state_round_trip(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """A learner that loads a state in mid-stream goes on bit for bit as the one that wrote it."""
    seed, half = int(rng.integers(2**32)), max(2, rounds // 2)
    old = play(factory(), space, seed, half)
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


def check_learner_refuses_spoiled_states(
    factory: LearnerFactory, space: OutputSpace, rng: np.random.Generator, rounds: int
) -> None:
    """A state with NaN, an infinity or a negative number of rounds is refused, and nothing changes by it."""
    seed = int(rng.integers(2**32))
    learner = play(factory(), space, seed, max(2, rounds // 4)).predictor.learner
    before = copy.deepcopy(learner.state())
    for what, state in _spoiled(before):
        try:
            learner.load_state(state)
        except OspError:
            _assert_same_state(before, learner.state(), f"because load_state refused one whose {what}")
            continue
        except Exception as error:
            raise AssertionError(
                f"load_state raised {type(error).__name__}: {error} for a state whose {what}; it must raise "
                "an OspError."
            ) from error
        raise AssertionError(f"load_state accepted a state whose {what}.")


def _spoiled(state: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The state with one entry spoiled, and which."""
    for key, value in state.items():
        for bad in (np.nan, np.inf):
            if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
                spoiled = value.copy()
                spoiled.flat[-1] = bad
                yield f"{key!r} has the entry {bad}", {**copy.deepcopy(dict(state)), key: spoiled}
            elif isinstance(value, float | np.floating):
                yield f"{key!r} is {bad}", {**copy.deepcopy(dict(state)), key: bad}
    if "rounds" in state:
        yield "'rounds' is -1", {**copy.deepcopy(dict(state)), "rounds": -1}


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
