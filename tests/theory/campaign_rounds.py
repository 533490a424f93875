"""The certificates of a round: of Lemma 4, of the gradient, of the prediction and of the loss itself."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from theory.campaign_targets import decoders_of, judgements_of, truths_of

import osp_core as osp
from osp_core.errors import OspError, UnsupportedError
from osp_core.geometry.predictions import Predictions
from osp_core.testing.sample import psi_gradient

EPS = np.finfo(float).eps
CLIMBED = 3  # pairs of a target and a decoder that are attacked further: those nearest to their certificate


@dataclass(frozen=True)
class Table:
    """Scores with their predictions, and S + gap for every truth, with the rounding it may carry."""

    thetas: np.ndarray
    predictions: list
    upper: np.ndarray
    rounding: np.ndarray

    @property
    def points(self):
        return np.array([one.point for one in self.predictions])

    def allowed(self, ratio):
        """What ratio·(S + gap) allows, rounding included."""
        return ratio * (self.upper + self.rounding[:, np.newaxis]) * (1 + 1e-9) + 1e-12


def examine_rounds(case, ledger, scores=40, climbs=4):
    """Attack every round certificate of a space."""
    space, rng, row = case.make(), ledger.rng("rounds", case), ledger.row(case.family)
    row.regularizers.add(type(space.psi).__name__)
    ys = truths_of(space, rng)
    table = tabulate(case, ledger, space, hostile_scores(space, ys, scores, rng), ys)
    check_loss_and_gap(case, ledger, space, table, ys)
    check_gradient(case, ledger, space, table, ys)
    nearest = []
    for judgement in judgements_of(space, ys, rng):
        for decoder, ratio in decoders_of(space, judgement.target):
            ledger.exercised[type(decoder).__name__] += 1
            ledger.exercised[judgement.target.name.split()[0]] += 1
            attack = Attack(case, ledger, space, judgement, decoder, ratio, ys)
            theta, share = attack.judge(table)
            nearest.append((share, len(nearest), attack, theta))
    for share, _, attack, theta in sorted(nearest, reverse=True)[:CLIMBED]:
        attack.climb(theta, share, climbs, rng)


@dataclass(frozen=True)
class Attack:
    """One decoder and one target on one space."""

    case: object
    ledger: object
    space: osp.OutputSpace
    judgement: object
    decoder: object
    ratio: float
    ys: np.ndarray

    def judge(self, table):
        """Check E L ≤ ratio·(S + gap) of every pair; return the scores that come nearest, and how near."""
        laws = [self.decoder.law(one) for one in table.predictions]
        certified = np.array([law.certified for law in laws], dtype=bool)
        if not certified.any():
            return None, 0.0
        expected = self.judgement.expected(np.array([law.mean for law in laws]))
        columns = self.judgement.columns
        allowed, upper = table.allowed(self.ratio)[:, columns], table.upper[:, columns]
        excess = np.where(certified[:, np.newaxis], expected - allowed, -np.inf)
        row = self.ledger.row(self.case.family)
        row.evaluations += int(certified.sum()) * len(columns)
        if excess.size and excess.max() > 0:
            i, j = np.unravel_index(np.argmax(excess), excess.shape)
            self._violate(table, i, j, expected, upper)
        meaningful = certified[:, np.newaxis] & (upper > 1e4 * table.rounding[:, np.newaxis])
        shares = np.where(meaningful, expected / np.maximum(self.ratio * upper, 1e-300), 0.0)
        if not shares.size or self.ratio == 0:
            return None, 0.0
        best = int(np.argmax(shares.max(axis=1)))
        row.loss_share = max(row.loss_share, float(shares.max()))
        return table.thetas[best], float(shares.max())

    def climb(self, theta, share, climbs, rng):
        """Hill climbing on the share of the certificate, from the worst scores found."""
        spread = 0.3
        for _ in range(climbs if theta is not None else 0):
            size = np.abs(theta).max() + self.space.psi.scale
            around = theta + spread * size * rng.standard_normal((6, self.space.dim))
            best, found = self.judge(tabulate(self.case, self.ledger, self.space, around, self.ys))
            if best is not None and found > share:
                theta, share = best, found
            else:
                spread *= 0.5

    def _violate(self, table, i, j, expected, upper):
        self.ledger.violate(
            self.case,
            f"E L > ratio·(S + gap) for {type(self.decoder).__name__} and {self.judgement.target.name}",
            theta=table.thetas[i],
            y=self.ys[self.judgement.columns[j]],
            y_hat=table.predictions[i].point,
            expected_loss=expected[i, j],
            surrogate_loss_plus_gap=upper[i, j],
            ratio=self.ratio,
        )


def tabulate(case, ledger, space, thetas, ys):
    """Predict for every row and compute S + gap for all truths; scores that raise are written down."""
    kept, predictions, losses = [], [], []
    for theta in thetas:
        try:
            prediction = space.predict(theta)
            losses.append(losses_of(space, theta, prediction, ys) + prediction.gap)
        except OspError as error:
            ledger.violate(case, f"predict or loss raises {type(error).__name__}: {error}", theta=theta)
            continue
        kept.append(theta)
        predictions.append(prediction)
    size = np.abs(ys).max(initial=1.0)
    largest = np.array([np.abs(theta).max() for theta in kept])
    rounding = 4 * EPS * space.dim * size * (largest + space.psi.scale * size)
    return Table(np.array(kept), predictions, np.array(losses).reshape(len(kept), len(ys)), rounding)


def losses_of(space, theta, prediction, ys):
    """S(θ; y) of every row of `ys`, from one prediction."""
    shape = (len(ys), space.dim)
    repeated = Predictions(np.broadcast_to(prediction.point, shape), np.full(len(ys), prediction.gap))
    return np.asarray(space.psi.loss(space, np.broadcast_to(theta, shape), ys, repeated))


def check_gradient(case, ledger, space, table, ys):
    """‖ŷ − y‖₂² ≤ gradient_ratio·(S + gap), and the same with 2/λ in the norm of the space."""
    difference = table.points[:, np.newaxis] - ys
    row = ledger.row(case.family)
    for p, ratio in ((2.0, space.gradient_ratio()), (space.norm, 2.0 / space.lam)):
        squares = np.square(np.linalg.norm(difference, ord=p, axis=-1))
        row.evaluations += squares.size
        excess = squares - table.allowed(ratio)
        i, j = np.unravel_index(np.argmax(excess), excess.shape)
        if excess[i, j] > 0:
            ledger.violate(
                case,
                f"‖ŷ − y‖² > ratio·(S + gap) in ℓ{p:g}",
                theta=table.thetas[i],
                y=ys[j],
                y_hat=table.predictions[i].point,
                squared=squares[i, j],
                surrogate_loss_plus_gap=table.upper[i, j],
                ratio=ratio,
            )
        meaningful = table.upper > 1e4 * table.rounding[:, np.newaxis]
        shares = np.where(meaningful, squares / np.maximum(ratio * table.upper, 1e-300), 0.0)
        if ratio > 0:
            row.gradient_share = max(row.gradient_share, float(shares.max()))


def check_loss_and_gap(case, ledger, space, table, ys):
    """S is what its definition says, and no point of the hull beats ŷ by more than the gap."""
    rng = ledger.rng("hull", case)
    # Exact points of the hull, not other predictions, which are feasible up to rounding only.
    hull = np.vstack([ys, *(_hull_point(ys, 3 + number % 3, rng)[np.newaxis] for number in range(60))])
    for theta, prediction, upper, rounding in zip(
        table.thetas, table.predictions, table.upper, table.rounding, strict=True
    ):
        try:
            direct = direct_loss(space, theta, prediction.point, hull)
        except UnsupportedError:
            return
        gap, found = prediction.gap, {"theta": theta, "y_hat": prediction.point, "gap": prediction.gap}
        stated = upper - gap
        tolerance = 8 * rounding + 1e-12 * (1 + np.abs(stated))
        # An inexact ŷ makes S negative by up to the gap; it is stated as 0 then.
        error = np.abs(np.maximum(direct[: len(ys)], 0.0) - stated) - tolerance - gap
        if error.max() > 0:
            j = int(np.argmax(error))
            ledger.violate(
                case, "S is not ⟨θ, ŷ − y⟩ + Ψ(y) − Ψ(ŷ)", y=ys[j], direct=direct[j], S=stated[j], **found
            )
        if direct.min() < -gap - tolerance.max():
            j = int(np.argmin(direct))
            ledger.violate(case, "a point beats ŷ by more than the gap", u=hull[j], by=-direct[j], **found)


def direct_loss(space, theta, point, ys):
    """S(θ; y) of every row of `ys`, from the definition of Ψ; by enumeration for the Gibbs entropy.

    For a point y of the hull this is f(y) − f(ŷ) with f = Ψ − ⟨θ, ·⟩, or more for the Gibbs entropy.
    """
    psi = space.psi
    if isinstance(psi, osp.GibbsEntropy):
        log_z = logsumexp(space.vertices() @ theta / psi.scale)
        return psi.scale * (log_z - ys @ theta / psi.scale)
    try:
        return (point - ys) @ theta + psi.value(ys) - psi.value(point)
    except UnsupportedError:
        blocks = space.blocks()
        if not blocks:
            raise
        rows = [(block.space, at) for block in blocks for at in block.coordinates]
        return np.sum([direct_loss(one, theta[at], point[at], ys[:, at]) for one, at in rows], axis=0)


def hostile_scores(space, ys, count, rng):
    """Scores of all sizes, near ties, with an offset, and those whose ŷ is near a vertex or on a face."""
    dim, scale = space.dim, space.psi.scale
    sizes = 10.0 ** rng.uniform(-8, 8, count)
    rows = [np.zeros(dim)]
    for number, size in enumerate(sizes):
        ties = rng.integers(-1, 2, dim) * size
        kind = number % 6
        if kind == 0:
            rows.append(size * rng.standard_normal(dim))
        elif kind == 1:
            rows.append(ties + (number % 4 == 1) * 1e-9 * size * rng.standard_normal(dim))
        elif kind == 2:
            rows.append(10.0 ** rng.uniform(0, 6) + scale * rng.standard_normal(dim))
        else:
            rows.append(_scores_at(space, _hull_point(ys, kind, rng), rng))
    return np.array(rows)


def _hull_point(ys, kind, rng):
    """A point near a vertex (3), half-way between two (4), or a mixture of a few (5)."""
    few = ys[rng.integers(len(ys), size=2 if kind < 5 else rng.integers(2, 5))]
    if kind == 5:
        return rng.dirichlet(np.ones(len(few))) @ few
    step = 0.5 + 1e-9 * rng.standard_normal() if kind == 4 else 10.0 ** rng.uniform(-9, -0.3)
    return few[0] + step * (few[-1] - few[0])


def _scores_at(space, point, rng):
    """θ = ∇Ψ(point), whose prediction is that point; pushed off the hull half of the time."""
    scale = space.psi.scale
    try:
        with np.errstate(all="ignore"):
            theta = psi_gradient(space, point)
    except UnsupportedError:
        theta = scale * 10.0 ** rng.uniform(-1, 1.6) * (2 * point - 1)
    theta = np.clip(np.nan_to_num(theta), -50.0 * scale, 50.0 * scale)
    return theta + (rng.random() < 0.5) * scale * rng.standard_normal() * space.project_direction(point)
