"""How often the high-probability bounds hold, [SBTO24, Thm 8] and its anytime form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.experiments.drawing import common_legend
from osp_core.experiments.result import Row
from osp_core.guarantees import deviation_rate
from osp_core.learners import OGD
from osp_core.online.comparator import best_comparator
from osp_core.online.predictor import OnlinePredictor
from osp_core.registry.registry import make_space
from osp_core.spaces import OutputSpace
from osp_core.surrogates.a_and_b import surrogate_gap
from osp_core.surrogates.surrogate_gap import SurrogateGap

DELTAS = (0.9, 0.5, 0.2, 0.05)
CLASSES, N_FEATURES = 4, 5


def rows(*, quick: bool, seed: int) -> Iterator[Row]:
    """One row per adversary, form and δ: the share of seeds for which the bound held.

    The form "deviation" is the inequality behind the anytime bound, without the slack of the regret bound:
    ΣL ≤ c·ΣE L + (K/τ)ln(1/δ) in every round.
    """
    space = make_space("simplex", d=CLASSES)
    certificate = surrogate_gap(space)
    seeds, rounds = (25, 80) if quick else (400, 400)
    for adversary in ("oblivious", "adaptive"):
        runs = [_play(space, certificate, adversary, rounds, seed + one) for one in range(seeds)]
        # The first two forms promise nothing against an adversary that sees the plays.
        forms = ("anytime", "deviation")
        for form in forms if adversary == "adaptive" else ("printed", "corrected", *forms):
            for delta in DELTAS:
                covered = float(np.mean([_held(certificate, form, delta, one) for one in runs]))
                yield {
                    "adversary": adversary,
                    "form": form,
                    "delta": delta,
                    "promised": 1 - delta,
                    "covered": covered,
                    "seeds": seeds,
                    # Three standard deviations of a share of so many seeds.
                    "holds": covered >= 1 - delta - 3 * float(np.sqrt(delta * (1 - delta) / seeds)),
                }


@dataclass(frozen=True)
class _Moment:
    """The losses up to a moment, beside the comparator that makes the bound smallest."""

    target_loss: float
    comparator_loss: float
    norm_U: float


@dataclass(frozen=True)
class _Run:
    """A run at several moments, and the greatest ΣL − c·ΣE L of any round."""

    moments: list[_Moment]
    deviation: float


def _play(space: OutputSpace, certificate: SurrogateGap, adversary: str, rounds: int, seed: int) -> _Run:
    """Play one stream: the same inputs for every seed; an adaptive adversary punishes bad luck."""
    nature = np.random.default_rng(12345)
    teacher = nature.standard_normal((space.dim, N_FEATURES))
    step = certificate.require_gap() / certificate.b
    predictor = OnlinePredictor(space, N_FEATURES, learner=OGD(step_size=step), seed=seed)
    X, Y = np.empty((rounds, N_FEATURES)), []
    losses, expected = np.zeros(rounds), np.zeros(rounds)
    for t in range(rounds):
        x = nature.standard_normal(N_FEATURES)
        X[t] = x / np.linalg.norm(x)
        scores = teacher @ X[t] + 0.5 * nature.standard_normal(space.dim)
        y = space.lmo(-scores)
        if adversary == "adaptive" and losses.sum() > expected.sum():
            # The learner was unlucky: now the second likeliest class, so that its play is a gamble.
            y = space.vertices()[np.argsort(predictor.law(X[t]).mean)[-2]]
        record = predictor.step(X[t], y)
        losses[t], expected[t] = record.target_loss, record.expected_loss
        Y.append(y)
    moments = [_moment(certificate, X[:T], Y[:T], losses[:T]) for T in (rounds // 4, rounds // 2, rounds)]
    return _Run(moments, float((np.cumsum(losses) - _factor(certificate) * np.cumsum(expected)).max()))


def _moment(certificate: SurrogateGap, X: Array, Y: list[Array], losses: Array) -> _Moment:
    comparator = best_comparator(certificate.space, X, Y, certificate, max_iter=30)
    return _Moment(float(losses.sum()), comparator.surrogate_loss, float(np.linalg.norm(comparator.weights)))


def _factor(certificate: SurrogateGap) -> float:
    """c: what half of the gap allows."""
    a = certificate.require_gap()
    return (1 - a / 2) / (1 - a)


def _held(certificate: SurrogateGap, form: Any, delta: float, run: _Run) -> bool:
    """Whether the bound held: at the end, or always for the forms that promise it."""
    if form == "deviation":
        allowed = certificate.largest_loss / deviation_rate(_factor(certificate)) * np.log(1 / delta)
        return bool(run.deviation <= allowed)
    return all(
        one.target_loss
        <= one.comparator_loss + certificate.high_probability_bound(one.norm_U, delta, form=form).value
        for one in (run.moments if form == "anytime" else run.moments[-1:])
    )


def draw(figure: Any, rows: Sequence[Row]) -> None:
    """The share of seeds covered, one group of bars per share promised."""
    axes = figure.subplots()
    forms = list(dict.fromkeys((row["adversary"], row["form"]) for row in rows))
    promises = sorted({row["promised"] for row in rows})
    width = 0.8 / len(forms)
    for index, form in enumerate(forms):
        mine = {row["promised"]: row["covered"] for row in rows if (row["adversary"], row["form"]) == form}
        places = [group + width * (index + 0.5) - 0.4 for group, p in enumerate(promises) if p in mine]
        axes.bar(places, [mine[p] for p in promises if p in mine], 0.9 * width, label=", ".join(form))
    for group, promised in enumerate(promises):
        label = "promised" if group == 0 else None
        axes.plot([group - 0.45, group + 0.45], [promised, promised], "k", lw=2, label=label)
    axes.set_xticks(range(len(promises)), [f"{promised:.0%}" for promised in promises])
    axes.set(xlabel="promised: 1 − δ", ylabel="share of the seeds in which it held", ylim=(0, 1.05))
    common_legend(figure, axes, 4)
