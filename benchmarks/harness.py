"""Measure our primitives and those of the peers side by side: one process, one thread, warm, taking turns.

Times are processor times of this process, so that other programs on a shared machine disturb little; what
has to be waited for in another process is measured by the clock.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false --xla_force_host_platform_device_count=1"
)

BEST = "the fastest peer"
PATIENCE = 2.0
"""Seconds: a contestant whose first call takes longer is timed on that call alone."""


@dataclass(frozen=True)
class Case:
    """One primitive at one size.

    Attributes
    ----------
    primitive : str
        What is measured, the same for all sizes.
    size : int
        n, d or the number of features.
    ours : callable
        Returns our answer.
    peers : mapping
        Name → a callable that returns the peer's answer, or the reason why it cannot run.
    error : callable
        From an answer (and the arguments it was for) to its error; an answer beyond `tolerance` is not timed.
    tolerance : float
    targets : mapping
        Peer, or BEST → how many times faster we mean to be.
    arguments : sequence of tuples
        What contestants are called with, in turn: one call without arguments by default.
    units : int
        How many rounds, rows or items one call handles; times are per unit.
    exponent : float, optional
        The power of the size that theory says our cost grows with.
    """

    primitive: str
    size: int
    ours: Callable[..., Any]
    peers: Mapping[str, Callable[..., Any] | str]
    error: Callable[..., float]
    tolerance: float
    targets: Mapping[str, float] = field(default_factory=dict)
    arguments: Sequence[tuple[Any, ...]] = ((),)
    units: int = 1
    exponent: float | None = None


@dataclass(frozen=True)
class Timing:
    """Median and quartiles of the seconds of one unit, with the largest error of the answers."""

    who: str
    seconds: float | None
    spread: tuple[float, float] | None
    error: float | None
    note: str = ""


@dataclass(frozen=True)
class Fact:
    """A number that is not a race: a count, a ratio, a size in memory, a time that stands alone."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the number is where it was meant to be; None where nothing was meant."""
        if self.at_most is None and self.at_least is None:
            return None
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )


@dataclass
class Row:
    """All timings of one case, ours first."""

    primitive: str
    size: int
    targets: Mapping[str, float]
    exponent: float | None = None
    timings: list[Timing] = field(default_factory=list)

    @property
    def best_peer(self) -> Timing | None:
        """The fastest peer whose answer is right."""
        timed = [timing for timing in self.timings[1:] if timing.seconds is not None]
        return min(timed, key=lambda timing: timing.seconds or 0.0, default=None)

    def ratio(self, peer: str = BEST) -> float | None:
        """How many times faster we are than a peer."""
        ours = self.timings[0].seconds
        named = [timing for timing in self.timings[1:] if timing.who.startswith(peer)]
        other = self.best_peer if peer == BEST else next(iter(named), None)
        return other.seconds / ours if ours and other is not None and other.seconds else None

    @property
    def met(self) -> bool | None:
        """Whether all targets are met; None where there is none, or no peer to compare with."""
        if self.targets and self.timings[0].seconds is None:
            return False
        verdicts = [ratio >= goal for who, goal in self.targets.items() if (ratio := self.ratio(who))]
        return all(verdicts) if verdicts else None


def measure(cases: Iterable[Case], *, short: bool = False) -> Iterator[Row]:
    """Check all answers of every case, then time the contestants in turns."""
    budget, repeats = (0.06, 7) if short else (0.4, 15)
    for case in cases:
        row = Row(case.primitive, case.size, case.targets, case.exponent)
        contestants = [
            _Contestant(who, call, case) for who, call in [("ours", case.ours), *case.peers.items()]
        ]
        for _ in range(repeats):
            for contestant in contestants:
                contestant.sample(budget / repeats, budget)
        row.timings = [contestant.timing() for contestant in contestants]
        yield row


class _Contestant:
    """One implementation: checked when it is made, timed a little at every turn."""

    def __init__(self, who: str, call: Callable[..., Any] | str, case: Case) -> None:
        self.who, self.call, self.case = who, call, case
        self.arguments = list(case.arguments)
        self.samples: list[float] = []
        self.error: float | None = None
        self.note = call if isinstance(call, str) else self._check(call)
        self.spent = 0.0
        if not self.note and not self.samples:
            self.once = self._pass(1)

    def _check(self, call: Callable[..., Any]) -> str:
        errors = []
        for number, arguments in enumerate(self.case.arguments):
            begin = time.process_time()
            try:
                answer = call(*arguments)  # the first call also warms caches and compiles
                seconds = time.process_time() - begin
                errors.append(float(self.case.error(answer, *arguments)))
            except Exception as failure:  # a peer may raise anything; ours must show up in the table as well
                return f"{type(failure).__name__}: {failure}"
            if number > 0 and seconds > PATIENCE and len(self.case.arguments) > 1:
                self.samples, self.arguments = [seconds / self.case.units], [arguments]
                break
        self.error = max(errors)
        return "" if self.error <= self.case.tolerance else f"wrong by {self.error:.1e}"

    def sample(self, share: float, budget: float) -> None:
        """Time as many passes as fit in a share of the budget; nothing when it is used up."""
        if self.note or len(self.arguments) < len(self.case.arguments):
            return
        if self.spent > 2 * budget and len(self.samples) >= 3:
            return
        repeats = max(1, int(share / max(self.once, 1e-9)))
        begin = time.process_time()
        self.samples.append(self._pass(repeats) / (len(self.arguments) * self.case.units))
        self.spent += time.process_time() - begin

    def _pass(self, repeats: int) -> float:
        """Seconds for a call with each of the arguments."""
        call = self.call
        begin = time.process_time()
        for _ in range(repeats):
            for arguments in self.arguments:
                call(*arguments)  # type: ignore[operator]
        return (time.process_time() - begin) / repeats

    def timing(self) -> Timing:
        if self.note:
            return Timing(self.who, None, None, self.error, self.note)
        middle = statistics.median(self.samples)
        quartiles = statistics.quantiles(self.samples, n=4) if len(self.samples) > 1 else [middle] * 3
        note = "" if len(self.arguments) == len(self.case.arguments) else "timed on one instance"
        return Timing(self.who, middle, (quartiles[0], quartiles[2]), self.error, note)


def seconds_of(call: Callable[[], Any], repeats: int = 5) -> float:
    """The median processor time of a call, after one to warm up."""
    call()
    samples = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        samples.append(time.process_time() - begin)
    return statistics.median(samples)
