"""Long runs: memory, invariants and throughput, chunk after chunk.

python benchmarks/long_run.py --space simplex --learner ogd --rounds 10000000
python benchmarks/long_run.py --space birkhoff --learner parameter_free --rounds 100000 --audit
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import osp_core as osp

SPACES = {"simplex": {"d": 5}, "birkhoff": {"n": 5}, "hypercube": {"d": 6}}
LEARNERS = {
    "ogd": {},
    "adaptive_ogd": {"diameter": 20.0},
    "parameter_free": {},
    "polyak_ogd": {"diameter": 20.0},
}
N_FEATURES = 8
WINDOW = 256  # rounds of a chunk that are played one by one, to add up their weights


@dataclass(frozen=True)
class Mark:
    """What is measured at the end of a chunk.

    Attributes
    ----------
    drift : float
        By how much W̄ differs from an average of the weights that was computed apart, relative to its largest
        entry: over all rounds when audited, over a window of the chunk otherwise.
    log_wealth : float or None
        Of the learner that bets.
    """

    rounds: int
    rate: float
    resident: float
    expected_loss: float
    norm: float
    drift: float
    log_wealth: float | None


def long_run(predictor, rounds: int, chunk: int, *, audit: bool = False, seed: int = 0) -> Iterator[Mark]:
    """Play a noisy linear teacher, and check the state after every chunk.

    Parameters
    ----------
    predictor : OnlinePredictor
    rounds, chunk : int
    audit : bool
        Play all rounds one by one and add their weights up in extended precision.
    seed : int
    """
    rng, space = np.random.default_rng(seed), predictor.space
    teacher = rng.standard_normal((space.dim, N_FEATURES))
    sums = Sums(predictor)
    while sums.rounds < rounds:
        X, Y = examples(space, teacher, min(chunk, rounds - sums.rounds), rng)
        alone = len(Y) if audit else min(WINDOW, len(Y))
        started = time.process_time()  # of this process alone: the machine may be shared
        loss = float(osp.run(predictor, X[alone:], Y[alone:]).expected_loss.sum()) if len(Y) > alone else 0.0
        if audit:
            loss += sums.play(X, Y)
        rate = (len(Y) if audit else len(Y) - alone) / max(1e-9, time.process_time() - started)
        if not audit:
            sums.begin_window()
            loss += sums.play(X[:alone], Y[:alone])
        sums.rounds += len(Y)
        yield mark(predictor, sums, rate, loss / len(Y))


class Sums:
    """The weights of the rounds, added up apart from the learner."""

    def __init__(self, predictor) -> None:
        self.predictor, self.rounds = predictor, 0
        self.begin_window()

    def begin_window(self) -> None:
        learner = self.predictor.learner
        self.before = learner.rounds * learner.average_weights.astype(np.longdouble)
        self.added = np.zeros_like(self.before)

    def play(self, X, Y) -> float:
        loss = 0.0
        for x, y in zip(X, Y, strict=True):
            self.added += self.predictor.learner.weights
            loss += self.predictor.step(x, y).expected_loss
        return loss

    def drift(self) -> float:
        learner = self.predictor.learner
        wanted = (self.before + self.added) / learner.rounds
        return float(np.abs(learner.average_weights - wanted).max() / max(1e-300, np.abs(wanted).max()))


def examples(space, teacher, count, rng):
    """Inputs on the unit sphere, and the teacher's outputs for noisy scores."""
    X = rng.standard_normal((count, N_FEATURES))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    scores = X @ teacher.T
    return X, space.lmo_many(-(scores + 0.3 * rng.standard_normal(scores.shape)))


def mark(predictor, sums: Sums, rate: float, loss: float) -> Mark:
    """Measure, and raise AssertionError where an invariant is broken."""
    learner = predictor.learner
    weights, average = learner.weights, learner.average_weights
    assert learner.rounds == sums.rounds, f"{learner.rounds} rounds counted, {sums.rounds} played"
    assert np.isfinite(weights).all(), "weights that are not finite"
    assert np.isfinite(average).all(), "an average that is not finite"
    norm = float(np.linalg.norm(weights))
    diameter = getattr(learner, "diameter", None)
    assert diameter is None or norm <= diameter / 2 * (1 + 1e-9), f"‖W‖ = {norm} has left the ball"
    log_wealth = learner.state().get("log_wealth")
    assert log_wealth is None or math.isfinite(log_wealth), f"the wealth is exp({log_wealth})"
    return Mark(sums.rounds, rate, resident_megabytes(), loss, norm, sums.drift(), log_wealth)


def resident_megabytes() -> float:
    """The memory of this process, now where the system tells, at its highest otherwise."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def make_predictor(space: str, learner: str):
    """The predictor of a long run."""
    made = osp.make_space(space, **SPACES[space])
    return osp.OnlinePredictor(
        made, N_FEATURES, learner=osp.make_learner(learner, **LEARNERS[learner]), seed=0
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--space", choices=SPACES, default="simplex")
    parser.add_argument("--learner", choices=LEARNERS, default="ogd")
    parser.add_argument("--rounds", type=int, default=200_000)
    parser.add_argument("--chunk", type=int, default=None, help="rounds between two lines")
    parser.add_argument("--audit", action="store_true", help="recompute the average over all rounds")
    given = parser.parse_args()
    chunk = given.chunk or max(1, min(given.rounds // 20, 250_000))
    print(f"{given.space}({SPACES[given.space]}), {given.learner}, {given.rounds} rounds")
    heads = {
        "rounds": 10,
        "rounds/s": 10,
        "RSS MB": 8,
        "E L": 8,
        "‖W‖": 10,
        "drift of W̄": 12,
        "log wealth": 11,
    }
    print(" ".join(f"{head:>{width}}" for head, width in heads.items()))
    marks = []
    for one in long_run(make_predictor(given.space, given.learner), given.rounds, chunk, audit=given.audit):
        wealth = "" if one.log_wealth is None else f"{one.log_wealth:11.3f}"
        line = (
            f"{one.rounds:10d} {one.rate:10.0f} {one.resident:8.1f} {one.expected_loss:8.4f} {one.norm:10.4f}"
        )
        print(f"{line} {one.drift:11.2e} {wealth}", flush=True)
        marks.append(one)
    half = len(marks) // 2 or 1
    slowed = np.median([m.rate for m in marks[-half:]]) / np.median([m.rate for m in marks[:half]])
    grown = marks[-1].resident - marks[min(1, len(marks) - 1)].resident
    print(f"speed of the second half over the first {slowed:.3f}; RSS grew by {grown:.1f} MB since line 2")
    print(f"worst drift {max(m.drift for m in marks):.1e}")


if __name__ == "__main__":
    main()
