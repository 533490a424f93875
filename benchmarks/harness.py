"""Measure our primitives and those of the peers side by side: one process, one thread, warm."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Case:
    """One primitive at one size.

    Attributes
    ----------
    primitive : str
        What is measured, the same for all sizes.
    size : int
        n or d.
    ours : callable
        Returns our answer.
    peers : mapping
        Name → a callable that returns the peer's answer, or the reason why it cannot run.
    error : callable
        From an answer to its error; an answer beyond `tolerance` is not timed.
    tolerance : float
    """

    primitive: str
    size: int
    ours: Callable[[], Any]
    peers: dict[str, Callable[[], Any] | str]
    error: Callable[[Any], float]
    tolerance: float


@dataclass(frozen=True)
class Timing:
    """Median and quartiles of the seconds of one call, with the error of its answer."""

    who: str
    seconds: float | None
    spread: tuple[float, float] | None
    error: float | None
    note: str = ""


@dataclass
class Row:
    """All timings of one case, ours first."""

    primitive: str
    size: int
    timings: list[Timing] = field(default_factory=list)

    @property
    def best_peer(self) -> Timing | None:
        """The fastest peer whose answer is right."""
        timed = [timing for timing in self.timings[1:] if timing.seconds is not None]
        return min(timed, key=lambda timing: timing.seconds or 0.0, default=None)

    @property
    def ratio(self) -> float | None:
        """How many times faster we are than the best peer."""
        ours, peer = self.timings[0].seconds, self.best_peer
        return peer.seconds / ours if ours and peer is not None and peer.seconds else None


def measure(cases: Iterable[Case], *, quick: bool = False) -> Iterator[Row]:
    """Check and time every case."""
    budget = 0.1 if quick else 0.5
    for case in cases:
        row = Row(case.primitive, case.size)
        for who, call in [("ours", case.ours), *case.peers.items()]:
            row.timings.append(_time(who, call, case, budget))
        yield row


def _time(who: str, call: Callable[[], Any] | str, case: Case, budget: float) -> Timing:
    if isinstance(call, str):
        return Timing(who, None, None, None, call)
    try:
        error = float(case.error(call()))  # this call also warms caches and compiles
    except Exception as failure:  # a peer may raise anything; ours must show up in the table as well
        return Timing(who, None, None, None, f"{type(failure).__name__}: {failure}")
    if not error <= case.tolerance:
        return Timing(who, None, None, error, f"wrong by {error:.1e}")
    once = _seconds(call, 1)
    repeats = max(1, int(budget / 20 / max(once, 1e-9)))
    samples = [_seconds(call, repeats) for _ in range(5 if once > budget else 20)]
    quartiles = statistics.quantiles(samples, n=4)
    return Timing(who, statistics.median(samples), (quartiles[0], quartiles[2]), error)


def _seconds(call: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def report(rows: list[Row], title: str) -> str:
    """Write results/<title>.json and .png, and return a Markdown table."""
    RESULTS.mkdir(exist_ok=True)
    document = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "rows": [{**vars(row), "timings": [vars(timing) for timing in row.timings]} for row in rows],
    }
    (RESULTS / f"{title}.json").write_text(json.dumps(document, indent=1))
    _plot(rows, RESULTS / f"{title}.png")
    lines = ["| primitive | size | ours | best peer | ratio | others |", "|---|---|---|---|---|---|"]
    lines += [_line(row) for row in rows]
    return "\n".join(lines)


def _line(row: Row) -> str:
    peer, ratio = row.best_peer, row.ratio
    others = ", ".join(_cell(timing) for timing in row.timings[1:] if timing is not peer)
    cells = [
        row.primitive,
        str(row.size),
        _cell(row.timings[0]),
        _cell(peer) if peer else "none",
        f"{ratio:.2f}×" if ratio else "—",
        others or "—",
    ]
    return "| " + " | ".join(cells) + " |"


def _cell(timing: Timing) -> str:
    if timing.seconds is None:
        return f"{timing.who} ({timing.note})"
    return f"{timing.who} {_human(timing.seconds)} (error {timing.error:.0e})"


def _human(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _plot(rows: list[Row], path: Path) -> None:
    """Cost against size on log axes, one panel a primitive."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    primitives = list(dict.fromkeys(row.primitive for row in rows))
    columns = min(3, len(primitives))
    height = -(-len(primitives) // columns)
    figure, axes = plt.subplots(height, columns, figsize=(5 * columns, 4 * height), squeeze=False)
    for axis in axes.flat[len(primitives) :]:
        axis.set_visible(False)
    for axis, primitive in zip(axes.flat, primitives, strict=False):
        chosen = [row for row in rows if row.primitive == primitive]
        for who in dict.fromkeys(timing.who for row in chosen for timing in row.timings):
            points = [
                (row.size, t.seconds) for row in chosen for t in row.timings if t.who == who and t.seconds
            ]
            if points:
                style = {"linewidth": 2.5, "color": "black"} if who == "ours" else {"linewidth": 1.2}
                axis.loglog(*zip(*points, strict=True), marker="o", markersize=4, label=who, **style)
        axis.set(title=primitive, xlabel="size", ylabel="seconds per call")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
