"""Results as JSON, as Markdown tables with ratios and verdicts, and as plots of cost against size."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness import BEST, Fact, Row, Timing

RESULTS = Path(__file__).parent / "results"
VERDICT = {True: "met", False: "**missed**", None: ""}


def write(family: str, rows: list[Row], facts: list[Fact], form: str) -> str:
    """Write <family>.json and .png; return the Markdown of the family."""
    results = folder(form)
    document = {**machine(), "form": form, "rows": [_record(row) for row in rows]}
    document["facts"] = [{**vars(fact), "met": fact.met} for fact in facts]
    text = json.dumps(document, indent=1, ensure_ascii=False, default=float)
    (results / f"{family}.json").write_text(text + "\n", encoding="utf-8")
    _plot(rows, results / f"{family}.png")
    parts = [f"## {family}"]
    if rows:
        parts.append("\n".join(_table(rows)))
    slopes = list(_slopes(rows))
    if slopes:
        parts.append("\n".join(["| cost against size | slope | theory |", "|---|---|---|", *slopes]))
    if facts:
        parts.append("\n".join(["| | value | meant | verdict |", "|---|---|---|---|", *map(_fact, facts)]))
    return "\n\n".join(parts)


def folder(form: str) -> Path:
    """Where the results of a form go; those of the short one do not replace the full ones."""
    results = RESULTS if form == "full" else RESULTS / form
    results.mkdir(parents=True, exist_ok=True)
    return results


def machine() -> dict[str, Any]:
    """What the numbers were measured on, in general terms."""
    from osp_core import kernels

    return {
        "python": platform.python_version(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "threads": 1,
        "clock": "processor time of the process, median and quartiles of repeats that take turns",
        "kernels": kernels.selected(),
    }


def slope(points: Iterable[tuple[float, float]]) -> float | None:
    """The least-squares slope of log y against log x, over the upper half of the sizes and at least two."""
    usable = sorted(points)
    usable = usable[-max(2, (len(usable) + 1) // 2) :]
    if len(usable) < 2:
        return None
    xs, ys = zip(*((math.log(x), math.log(y)) for x, y in usable), strict=True)
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread


def human(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _record(row: Row) -> dict[str, Any]:
    ratios = {timing.who: row.ratio(timing.who) for timing in row.timings[1:]}
    return {
        **vars(row),
        "timings": [vars(timing) for timing in row.timings],
        "ratios": ratios,
        "ratio": row.ratio(),
        "met": row.met,
    }


def _table(rows: list[Row]) -> list[str]:
    lines = ["| primitive | size | ours | best peer | ratio | target | verdict | others |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    return lines + [_line(row) for row in rows]


def _line(row: Row) -> str:
    peer, ratio = row.best_peer, row.ratio()
    goals = [f"≥ {goal:g}×" if who == BEST else f"≥ {goal:g}× {who}" for who, goal in row.targets.items()]
    others = [_cell(timing, row) for timing in row.timings[1:] if timing is not peer]
    cells = [
        row.primitive,
        f"{row.size:g}" if row.size < 1e4 else f"{row.size:.0e}".replace("e+0", "e"),
        _cell(row.timings[0], None),
        _cell(peer, None) if peer else "—",
        f"{ratio:.2f}×" if ratio else "—",
        ", ".join(goals),
        VERDICT[row.met] or ("no peer" if row.targets else ""),
        "; ".join(others) or "—",
    ]
    return "| " + " | ".join(cells) + " |"


def _cell(timing: Timing, row: Row | None) -> str:
    who = "" if timing.who == "ours" else f"{timing.who} "
    if timing.seconds is None:
        return f"{who}({timing.note})"
    low, high = timing.spread or (timing.seconds, timing.seconds)
    times = f", {ratio:.1f}×" if row is not None and (ratio := row.ratio(timing.who)) else ""
    error = "" if timing.error is None else f", error {timing.error:.0e}"
    note = f", {timing.note}" if timing.note else ""
    return f"{who}{human(timing.seconds)} ({human(low)}–{human(high)}{error}{times}{note})"


def _slopes(rows: list[Row]) -> Iterable[str]:
    for primitive, exponent in dict.fromkeys((row.primitive, row.exponent) for row in rows):
        if exponent is None:
            continue
        chosen = [row for row in rows if row.primitive == primitive]
        found = slope((row.size, s) for row in chosen if (s := row.timings[0].seconds))
        if found is not None:
            yield f"| {primitive} | {found:.2f} | {exponent:g} |"


def _fact(fact: Fact) -> str:
    meant = f"≤ {fact.at_most:g}" if fact.at_most is not None else ""
    if fact.at_least is not None:
        meant = f"≥ {fact.at_least:g}"
    note = f" ({fact.note})" if fact.note else ""
    return f"| {fact.name} | {fact.value:.4g} {fact.unit}{note} | {meant} | {VERDICT[fact.met]} |"


def _plot(rows: list[Row], path: Path) -> None:
    """Cost against size on log axes, one panel a primitive that has several sizes."""
    primitives = [
        name
        for name in dict.fromkeys(row.primitive for row in rows)
        if len({row.size for row in rows if row.primitive == name}) > 1
    ]
    try:
        import matplotlib
    except ImportError:
        return
    if not primitives:
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(3, len(primitives))
    height = -(-len(primitives) // columns)
    figure, axes = plt.subplots(height, columns, figsize=(5 * columns, 4 * height), squeeze=False)
    for axis in axes.flat[len(primitives) :]:
        axis.set_visible(False)
    for axis, primitive in zip(axes.flat, primitives, strict=False):
        _panel(axis, [row for row in rows if row.primitive == primitive], primitive)
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _panel(axis: Any, rows: list[Row], title: str) -> None:
    for who in dict.fromkeys(timing.who for row in rows for timing in row.timings):
        points = [(row.size, t.seconds) for row in rows for t in row.timings if t.who == who and t.seconds]
        if points:
            style = {"linewidth": 2.5, "color": "black"} if who == "ours" else {"linewidth": 1.2}
            axis.loglog(*zip(*sorted(points), strict=True), marker="o", markersize=4, label=who, **style)
    exponent = rows[0].exponent
    ours = sorted((row.size, s) for row in rows if (s := row.timings[0].seconds))
    if exponent is not None and ours:
        size, seconds = ours[-1]
        line = [(x, seconds * (x / size) ** exponent) for x, _ in ours]
        axis.loglog(*zip(*line, strict=True), ":", color="0.5", label=f"size^{exponent:g}")
    axis.set(title=title, xlabel="size", ylabel="seconds")
    axis.grid(True, which="major", alpha=0.3)
    axis.legend(fontsize=7)
