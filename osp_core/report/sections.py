"""From evidence to the parts of a page."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core import __version__
from osp_core.errors import OspError
from osp_core.report.document import Facts, Gallery, Items, Part, Table, Text
from osp_core.report.drawings import Example, draw_output
from osp_core.report.evidence import Evidence, Statement, Watched
from osp_core.report.figures import Sketch
from osp_core.report.plots import run_plots

EXAMPLES = 4
TITLES = {
    "expected": "Expected regret [SBTO24, Thm 7]: ΣE L − ΣS(U)",
    "high_probability": "With probability 95 %, at any time [SBTO24, Thm 8]: ΣL − ΣS(U)",
    "online_to_batch": "Online to batch, independent data [SBTO24, Thm 11]: risk of W̄ over that of U",
    "nonstationary": "Moving comparators: ΣE L − ΣS_t(U_t)",
}


@dataclass(frozen=True, eq=False)
class Outcome:
    """Totals of the runs on one space, means over the seeds, and whether the guarantees held for each.

    Attributes
    ----------
    target_loss, expected_loss : float
        ΣL of what was played, and ΣE L.
    comparator_loss, regret, bound : float or None
        ΣS(U) of the comparator, ΣE L − ΣS(U), and what it is promised to stay below.
    lemma_4, regret_bound : bool or None
        Whether E L ≤ (1 − a)·S held in every round, and regret ≤ bound after every round.
    """

    space: str
    rounds: int
    seeds: int
    target_loss: float
    expected_loss: float
    comparator_loss: float | None
    regret: float | None
    bound: float | None
    lemma_4: bool | None
    regret_bound: bool | None

    @classmethod
    def of(cls, title: str, runs: Sequence[Evidence]) -> Outcome:
        """Sum up."""
        return cls(
            title,
            min(len(run.trace) for run in runs),
            len(runs),
            float(np.mean([run.trace.target_loss.sum() for run in runs])),
            float(np.mean([run.trace.expected_loss.sum() for run in runs])),
            _mean(_final(run.hindsight.losses) if run.hindsight is not None else None for run in runs),
            _mean(_final(run.regret) for run in runs),
            _mean(run.bound.value if run.bound is not None else None for run in runs),
            _all(run.lemma_holds for run in runs),
            _all(run.regret_holds for run in runs),
        )

    @property
    def violated(self) -> bool:
        """Whether something failed that is promised."""
        return self.lemma_4 is False or self.regret_bound is False


def outcome_table(outcomes: Sequence[Outcome], links: Sequence[str] = ()) -> Table:
    """The main table: what was lost, against what, and what was promised."""
    columns = (
        "space",
        "rounds",
        "played ΣL",
        "expected ΣE L",
        "comparator ΣS(U)",
        "regret",
        "bound",
        "regret ≤ bound",
        "Lemma 4",
    )
    rows = tuple(
        (
            one.space,
            str(one.rounds),
            *map(number, (one.target_loss, one.expected_loss, one.comparator_loss, one.regret, one.bound)),
            verdict(one.regret_bound),
            verdict(one.lemma_4),
        )
        for one in outcomes
    )
    return Table(columns, rows, tuple(links))


def number(value: float | None) -> str:
    """Two decimals with a proper minus sign, or a dash."""
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def verdict(held: bool | None) -> str:
    """A check in words."""
    return "not known" if held is None else "held" if held else "VIOLATED"


def plot_parts(runs: Sequence[Evidence]) -> list[Part]:
    """The curves."""
    reasons = list(dict.fromkeys(run.reason for run in runs if run.reason))
    return [*(Text(reason) for reason in reasons), Gallery(tuple(run_plots(runs)))]


def example_parts(run: Evidence) -> list[Part]:
    """A few predictions, drawn."""
    if not run.watched:
        return []
    sketches = tuple(_example(run, one, number) for number, one in enumerate(run.watched[:EXAMPLES], start=1))
    expected = float(np.mean([one.expected_loss for one in run.watched]))
    drawn = float(np.mean([one.drawn_loss for one in run.watched]))
    return [
        Text(
            "The latest inputs under the final weights: a random play in blue, the truth in orange, what is "
            "both in green, and the regularised prediction ŷ in grey."
        ),
        Gallery(sketches, small=True),
        Text(
            f"Over {len(run.watched)} such inputs the expected loss of a play is {expected:.4f} on average; "
            f"the mean of the draws was {drawn:.4f}."
        ),
    ]


def _example(run: Evidence, one: Watched, place: int) -> Sketch:
    p = float(np.mean(one.law.p))
    right = bool((one.played == one.truth).all())
    return draw_output(
        run.predictor.space,
        Example(
            one.law.prediction.point,
            one.played,
            one.truth,
            "played the truth" if right else f"loss {one.loss:.3g}",
            f"p = {p:.2f}, expected loss {one.expected_loss:.3f}",
        ),
        f"prediction-{place}",
    )


def guarantee_parts(runs: Sequence[Evidence]) -> list[Part]:
    """Constants and bounds with their premises; where a bound is refused, the reason."""
    run = runs[0]
    seeds = f" Shown for seed {run.seed}." if len(runs) > 1 else ""
    norm = f"‖U‖ = {run.hindsight.norm:.4g}" if run.hindsight is not None else "‖U‖ = 1"
    parts: list[Part] = [Text(f"A bound is worth its premises. The comparator has {norm}.{seeds}")]
    parts += [_statement(statement) for statement in run.statements]
    return [*parts, constants(run)]


def _statement(statement: Statement) -> Items:
    title = TITLES[statement.kind]
    if statement.bound is None:
        return Items(f"{title}: no bound", (statement.reason,), folded=True)
    return Items(f"{title} ≤ {statement.bound.value:.4g}", statement.bound.premises, folded=True)


def constants(run: Evidence) -> Facts:
    """The constants that the bounds are made of."""
    predictor, space, certificate = run.predictor, run.predictor.space, run.predictor.certificate
    step = getattr(predictor.learner, "eta", None)
    facts = [
        ("surrogate gap a", "not known" if certificate.a is None else f"{certificate.a:.6g}"),
        ("b, with ‖∇S‖² ≤ b·S", f"{certificate.b:.6g}"),
        ("distance of outputs ν", _known(lambda: space.nu)),
        ("diameter D", _known(lambda: space.diameter)),
        ("strong convexity λ", _known(lambda: space.lam)),
        ("target constant γ", _known(lambda: predictor.target.gamma(space))),
        ("norm", f"ℓ{space.norm:g}"),
        ("feature bound C", f"{certificate.feature_bound:.6g}"),
        ("scale of the loss", f"{predictor.loss.scale:.6g}"),
    ]
    if isinstance(step, float):
        facts.append(("step size η", f"{step:.6g}"))
    return Facts(tuple(facts))


def configuration(run: Evidence) -> Facts:
    """What ran, in words."""
    predictor = run.predictor
    return Facts(
        (
            ("space", repr(predictor.space)),
            ("regulariser Ψ", repr(predictor.space.psi)),
            ("loss", f"Fenchel–Young, scale {predictor.loss.scale:.6g}"),
            ("target", repr(predictor.target)),
            ("decoder", type(predictor.decoder).__name__),
            ("learner", repr(predictor.learner)),
            ("weights", " × ".join(map(str, predictor.learner.weights.shape))),
        )
    )


def versions() -> Facts:
    """What it ran on."""
    return Facts(
        (
            ("version", __version__),
            ("Python", platform.python_version()),
            ("numpy", np.__version__),
            ("machine", f"{platform.system()} {platform.machine()}"),
        )
    )


def timings(named_runs: Iterable[tuple[str, Evidence]]) -> Table:
    """What took how long."""
    rows = [
        (
            name,
            str(run.seed),
            str(len(run.trace)),
            f"{run.seconds['learning']:.2f} s",
            f"{1e6 * run.seconds['learning'] / max(1, len(run.trace)):.0f} µs",
            f"{run.seconds['comparator and examples']:.2f} s",
        )
        for name, run in named_runs
    ]
    return Table(("run", "seed", "rounds", "learning", "a round", "comparator, examples"), tuple(rows))


def _known(constant: Any) -> str:
    try:
        return f"{constant():.6g}"
    except OspError:
        return "not known"


def _final(curve: Any) -> float | None:
    return None if curve is None else float(curve[-1])


def _mean(values: Iterable[float | None]) -> float | None:
    listed = list(values)
    known = [value for value in listed if value is not None]
    return float(np.mean(known)) if known and len(known) == len(listed) else None


def _all(values: Iterable[bool | None]) -> bool | None:
    listed = list(values)
    if False in listed:
        return False
    return None if None in listed else True
