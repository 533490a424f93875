"""Long runs: bounded memory, no drift, weights that stay finite.

The figures are printed by ``python benchmarks/long_run.py``; the long ones are for ``pytest -m soak``.
"""

import gc
import importlib.util
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("long_run_figures", ROOT / "benchmarks" / "long_run.py")
figures = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = figures  # dataclasses look their module up
SPEC.loader.exec_module(figures)

CASES = [(space, learner) for space in ("simplex", "birkhoff") for learner in figures.LEARNERS]


def check(marks, rounds):
    assert marks[-1].rounds == rounds
    assert max(mark.drift for mark in marks) < 1e-8
    # The first chunks fill caches and buffers of the allocator.
    assert marks[-1].resident < marks[len(marks) // 4].resident + 8.0


@pytest.mark.parametrize(("space", "learner"), CASES)
def test_the_average_is_that_of_the_weights_of_every_round(space, learner):
    predictor = figures.make_predictor(space, learner)
    marks = list(figures.long_run(predictor, 300, 100, audit=True))
    assert marks[-1].rounds == 300
    assert max(mark.drift for mark in marks) < 1e-12


@pytest.mark.parametrize("audit", [True, False])
def test_the_check_of_the_average_sees_a_wrong_one(audit, monkeypatch):
    predictor = figures.make_predictor("simplex", "ogd")
    real = type(predictor.learner).average_weights.fget
    wrong = property(lambda learner: real(learner) * (1.0 + 1e-9 * learner.rounds))
    monkeypatch.setattr(type(predictor.learner), "average_weights", wrong)
    marks = list(figures.long_run(predictor, 1200, 600, audit=audit))
    assert max(mark.drift for mark in marks) > 1e-8


def test_rounds_that_are_not_counted_are_seen(monkeypatch):
    predictor = figures.make_predictor("simplex", "ogd")
    monkeypatch.setattr(
        figures.osp, "run", lambda predictor, X, Y: type("T", (), {"expected_loss": np.ones(3)})
    )
    with pytest.raises(AssertionError, match="rounds counted"):
        list(figures.long_run(predictor, 600, 600))


@pytest.mark.parametrize(("space", "learner"), [CASES[0], *CASES[2:5], CASES[6]])
def test_rounds_leave_nothing_behind_in_memory(space, learner):
    predictor = figures.make_predictor(space, learner)
    rng = np.random.default_rng(0)
    teacher = rng.standard_normal((predictor.space.dim, figures.N_FEATURES))
    X, Y = figures.examples(predictor.space, teacher, 100, rng)

    def play():
        for x, y in zip(X, Y, strict=True):
            predictor.step(x, y)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    for x, y in zip(X, Y, strict=True):  # compiles, and fills caches
        predictor.step(x, y)
    tracemalloc.start()
    try:
        sizes = [play() for _ in range(5)]
    finally:
        tracemalloc.stop()
    # Buffers grow now and then; what every round leaves behind would be there every time, 24 bytes or more.
    assert min(np.diff(sizes)) < 1600


@pytest.mark.soak
@pytest.mark.parametrize(
    ("space", "learner", "rounds"),
    [
        ("simplex", "ogd", 10_000_000),
        ("simplex", "parameter_free", 10_000_000),
        ("simplex", "adaptive_ogd", 10_000_000),
        ("birkhoff", "ogd", 100_000),
        ("birkhoff", "parameter_free", 100_000),
    ],
)
def test_memory_and_invariants_of_a_long_run(space, learner, rounds):
    check(
        list(figures.long_run(figures.make_predictor(space, learner), rounds, min(rounds // 20, 250_000))),
        rounds,
    )


@pytest.mark.soak
@pytest.mark.parametrize("learner", ["ogd", "parameter_free"])
def test_the_average_does_not_drift_over_a_million_rounds(learner):
    rounds = 1_000_000
    marks = figures.long_run(figures.make_predictor("simplex", learner), rounds, rounds // 20, audit=True)
    check(list(marks), rounds)
