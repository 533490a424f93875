"""The plots of a report, over the seeds of one space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from osp_core.errors import Array, OspError
from osp_core.report.evidence import Evidence
from osp_core.report.figures import Line, Plot, numbers

POINTS = 120
BINS = 10


def run_plots(runs: Sequence[Evidence]) -> list[Plot]:
    """All plots that the evidence allows."""
    makers = (loss_plot, regret_plot, learning_plot, p_plot, deviation_plot, calibration_plot)
    plots = [make(runs) for make in makers]
    return [plot for plot in plots if plot is not None]


def loss_plot(runs: Sequence[Evidence]) -> Plot | None:
    """ΣE L below ΣS(U) + bound, on a logarithmic axis."""
    rounds = _common_rounds(runs)
    if not rounds:
        return None
    at = _grid(rounds)
    lines = [
        _line("expected target loss ΣE L", at, [np.cumsum(run.trace.expected_loss) for run in runs], "blue"),
    ]
    judged = [run.hindsight.losses for run in runs if run.hindsight is not None]
    if len(judged) == len(runs):
        lines.append(_line("comparator's surrogate ΣS(U)", at, judged, "green"))
        bounds = [run.bound.value for run in runs if run.bound is not None]
        if len(bounds) == len(runs):
            right = [losses + bound for losses, bound in zip(judged, bounds, strict=True)]
            lines.append(_line("promised: ΣS(U) + bound", at, right, "orange", dashed=True))
    return Plot(
        "losses",
        "Losses, summed over the rounds",
        "rounds",
        "total loss (log axis)",
        tuple(lines),
        x_scale="log",
        y_scale="log",
        caption="The expected target loss is promised to stay below the dashed line." + _bands(runs),
    )


def regret_plot(runs: Sequence[Evidence]) -> Plot | None:
    """ΣE L − ΣS(U) below its bound; the axis bends when the bound is far above."""
    regrets = [run.regret for run in runs if run.regret is not None]
    rounds = _common_rounds(runs)
    if not rounds or len(regrets) < len(runs):
        return None
    at = _grid(rounds)
    lines = [_line("regret ΣE L − ΣS(U)", at, regrets, "blue")]
    bounds = [run.bound.value for run in runs if run.bound is not None]
    scale = "linear"
    if len(bounds) == len(runs):
        flat = [np.full(rounds, bound) for bound in bounds]
        lines.append(_line("bound", at, flat, "orange", dashed=True))
        largest = max(float(np.abs(regret[:rounds]).max()) for regret in regrets)
        scale = "symlog" if max(bounds) > 8.0 * max(largest, 1e-9) else "linear"
    return Plot(
        "regret",
        "Regret against its bound",
        "rounds",
        "regret (total loss)" + (", symmetric log axis" if scale == "symlog" else ""),
        tuple(lines),
        y_scale="symlog" if scale == "symlog" else "linear",
        caption="Negative: the learner, measured by its target loss, beats the comparator's surrogate loss."
        + _bands(runs),
    )


def learning_plot(runs: Sequence[Evidence]) -> Plot | None:
    """Losses of a round, averaged over windows: what learning looks like."""
    rounds = min(len(run.trace) for run in runs)
    if not rounds:
        return None
    x, expected = _windows([run.trace.expected_loss for run in runs], rounds)
    _, allowed = _windows([_allowed(run) for run in runs], rounds)
    lines = [_banded("expected target loss E L", x, expected, "blue")]
    if np.isfinite(allowed).all():
        lines.append(_banded("allowed by Lemma 4: (1 − a)·S", x, allowed, "orange", dashed=True))
    return Plot(
        "learning",
        "Loss of a round",
        "rounds",
        "loss, mean over a window",
        tuple(lines),
        caption="Lemma 4 keeps the expected loss of every round below its surrogate loss." + _bands(runs),
    )


def p_plot(runs: Sequence[Evidence]) -> Plot | None:
    """The probability of randomising, averaged over windows."""
    rounds = min(len(run.trace) for run in runs)
    if not rounds:
        return None
    x, means = _windows([run.trace.p for run in runs], rounds)
    return Plot(
        "p",
        "Probability of randomising",
        "rounds",
        "p, mean over a window",
        (_banded("p", x, means, "violet"),),
        y_range=(0.0, 1.0),
        caption="p = 0 plays the nearest output, p = 1 a random one of mean ŷ." + _bands(runs),
    )


def deviation_plot(runs: Sequence[Evidence]) -> Plot | None:
    """What was played against what was expected, with two standard deviations at most."""
    rounds = min(len(run.trace) for run in runs)
    if not rounds:
        return None
    at = _grid(rounds)
    played = [np.cumsum(run.trace.target_loss - run.trace.expected_loss) for run in runs]
    lines = [_line("played − expected, Σ(L − E L)", at, played, "blue")]
    spread = _spread(runs, rounds)
    if spread is not None:
        x = numbers(at + 1)
        lines.append(
            Line("2 standard deviations at most", x, numbers(spread[at]), colour="orange", dashed=True)
        )
        lines.append(Line("", x, numbers(-spread[at]), colour="orange", dashed=True))
    return Plot(
        "deviation",
        "Played against expected loss",
        "rounds",
        "difference of total losses",
        tuple(lines),
        caption="The played losses scatter around their exact expectation." + _bands(runs),
    )


def calibration_plot(runs: Sequence[Evidence]) -> Plot | None:
    """Entries grouped by ŷ: what the law says, what was drawn, and what was true."""
    watched = [one for run in runs for one in run.watched]
    if not watched:
        return None
    y_hat, law, played, truth = (
        np.concatenate(values)
        for values in zip(
            *((one.law.prediction.point, one.law.mean, one.mean_played, one.truth) for one in watched),
            strict=True,
        )
    )
    edges = np.linspace(y_hat.min(), np.nextafter(y_hat.max(), np.inf), BINS + 1)
    group = np.clip(np.searchsorted(edges, y_hat, side="right") - 1, 0, BINS - 1)
    counts = np.bincount(group, minlength=BINS)
    used = np.flatnonzero(counts >= 5)
    x, expected, drawn, true = (
        numbers(np.bincount(group, weights=values, minlength=BINS)[used] / counts[used])
        for values in (y_hat, law, played, truth)
    )
    ends = numbers([y_hat.min(), y_hat.max()])
    return Plot(
        "calibration",
        "Calibration of the decoder",
        "ŷ, entry by entry",
        "mean of the entries",
        (
            Line("ŷ itself", ends, ends, colour="muted", dashed=True),
            Line("law (1 − p)y* + pŷ", x, expected, colour="violet"),
            Line("drawn", x, drawn, colour="blue", dots=True),
            Line("truth", x, true, colour="orange", dots=True),
        ),
        caption=f"{len(watched)} recent inputs under the final weights. Draws should lie on their law; "
        "the truth near the dashed line means that ŷ is calibrated too.",
    )


def _allowed(run: Evidence) -> Array:
    """(1 − a)·(S + gap) in every round; infinite where a is not known."""
    a = run.predictor.certificate.a
    return (np.inf if a is None else 1.0 - a) * (run.trace.surrogate_loss + run.trace.gap)


def _windows(columns: Sequence[Array], rounds: int) -> tuple[tuple[float, ...], Array]:
    """The middles of up to 40 windows, and the mean of every column in each."""
    edges = np.unique(np.linspace(0, rounds, min(rounds, 40) + 1).astype(int))
    sums = [np.add.reduceat(column[:rounds], edges[:-1]) for column in columns]
    return numbers((edges[:-1] + edges[1:] + 1) / 2), np.array(sums) / np.diff(edges)


def _spread(runs: Sequence[Evidence], rounds: int) -> Array | None:
    """2√(K·ΣE L): a loss between 0 and K has at most K times its expectation as variance."""
    try:
        largest = runs[0].predictor.certificate.largest_loss
    except OspError:
        return None
    expected = np.mean([np.cumsum(run.trace.expected_loss[:rounds]) for run in runs], axis=0)
    return np.asarray(2.0 * np.sqrt(largest * expected))


def _common_rounds(runs: Sequence[Evidence]) -> int:
    return min(run.rounds for run in runs)


def _grid(rounds: int) -> Array:
    """Rounds to draw, from 0: dense at the start, where curves bend on a logarithmic axis."""
    even = np.linspace(0, rounds - 1, POINTS)
    bent = np.geomspace(1, rounds, POINTS // 2) - 1
    return np.unique(np.concatenate([even, bent]).round().astype(int))


def _line(name: str, at: Array, curves: Sequence[Array], colour: str, *, dashed: bool = False) -> Line:
    return _banded(name, numbers(at + 1), np.array([curve[at] for curve in curves]), colour, dashed=dashed)


def _banded(name: str, x: tuple[float, ...], curves: Array, colour: str, *, dashed: bool = False) -> Line:
    """The mean over the seeds, between the lowest and the highest."""
    band = (numbers(curves.min(axis=0)), numbers(curves.max(axis=0))) if len(curves) > 1 else ((), ())
    return Line(name, x, numbers(curves.mean(axis=0)), *band, colour=colour, dashed=dashed)


def _bands(runs: Sequence[Evidence]) -> str:
    return f" Lines are means over {len(runs)} seeds, bands their range." if len(runs) > 1 else ""
