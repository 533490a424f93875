"""Target losses that fit a space: the usual one, the other named ones, and random ones with enumerated γ."""

from dataclasses import dataclass

import numpy as np

import osp_core as osp
from osp_core.errors import OspError
from osp_core.experiments.ratios import some_outputs
from osp_core.surrogates.decoders import UniformExploration
from osp_core.targets.affine import lipschitz_constant

DECODERS = (
    osp.RandomizedDecoder,
    osp.BlockwiseDecoder,
    osp.NearestDecoder,
    osp.SamplingDecoder,
    UniformExploration,
)
MOST_TRUTHS = 64


@dataclass(frozen=True)
class Judgement:
    """A target with the affine loss of every truth: row i belongs to output `columns[i]`."""

    target: osp.AffineLoss
    columns: np.ndarray
    costs: np.ndarray
    constants: np.ndarray

    def expected(self, means):
        """E L of every mean (rows) against every truth (columns)."""
        return np.maximum(0.0, means @ self.costs.T + self.constants)


def truths_of(space, rng):
    """All outputs of a small space, some of a large one."""
    return some_outputs(space, MOST_TRUTHS, rng)


def judgements_of(space, ys, rng):
    """Every target that fits the space, evaluated at the truths."""
    found = [judge(target, ys) for target in named_targets(space, rng)]
    drawn = random_affine(space, rng)
    if _has_gamma(drawn, space):  # it is enumerated
        found.append(judge(drawn, ys))
    return [*found, _decision_regret(space, ys, rng)]


def judge(target, ys):
    rounds = [target.at(y) for y in ys]
    costs, constants = np.array([one.cost for one in rounds]), np.array([one.constant for one in rounds])
    return Judgement(target, np.arange(len(ys)), costs, constants)


def named_targets(space, rng):
    """The usual target and the named ones whose premises the space meets."""
    found = {}
    try:
        usual = space.target_loss()
        found[usual.name] = usual
    except OspError:
        pass
    if space.zero_one:
        found.setdefault("hamming", osp.hamming)
        weights = rng.uniform(0.0, 2.0, space.dim)
        found["weighted"] = osp.AffineLoss.bilinear(
            -2.0 * np.diag(weights), weights, lambda y: float(weights @ y), name="weighted"
        )
    if space.zero_one and space.constant_mass and space.max_mass > 0:
        found.setdefault("mismatch", osp.mismatch)
        if space.max_mass == 1:
            found.setdefault("zero_one", osp.zero_one)
            costs = rng.exponential(size=(space.dim, space.dim))
            found["table"] = osp.table(costs - np.diag(np.diag(costs)))
    if type(space).__name__ == "Birkhoff":
        found["ndcg"] = osp.ndcg
    return [target for target in found.values() if _has_gamma(target, space)]


def decoders_of(space, target):
    """Every decoder that states a ratio for this target, with the ratio."""
    for kind in DECODERS:
        try:
            decoder = kind(space)
            ratio = decoder.ratio(target)
        except OspError:
            continue
        yield decoder, ratio


def costs_by_output(space, rng, count=60):
    """Random costs of unit size, filed under the output that is cheapest for them."""
    found = {}
    for cost in rng.standard_normal((count, space.dim)) * 10.0 ** rng.uniform(-1, 1, (count, 1)):
        found[space.lmo(cost).tobytes()] = cost
    return found


def random_affine(space, rng):
    """L(y′; y) = ⟨c(y), y′ − y⟩ with a random c(y) for which y is cheapest; 0 for outputs without one."""
    table, zero = costs_by_output(space, rng), np.zeros(space.dim)

    def cost(y):
        return table.get(np.asarray(y, dtype=np.float64).tobytes(), zero)

    return osp.AffineLoss(cost, lambda y: -float(cost(y) @ y), name="random affine")


def _decision_regret(space, ys, rng):
    """The feedback is a cost vector; γ is that of the steepest one drawn."""
    rows = {y.tobytes(): row for row, y in enumerate(ys)}
    table = {rows[key]: cost for key, cost in costs_by_output(space, rng).items() if key in rows}
    steepest = max((lipschitz_constant(space, cost) for cost in table.values()), default=0.0)
    target = osp.decision_regret(space, gamma=steepest or 1.0)
    revealed = [target.reveal(space, cost)[1] for cost in table.values()]
    costs, constants = np.array([one.cost for one in revealed]), np.array([one.constant for one in revealed])
    return Judgement(target, np.array(list(table)), costs.reshape(-1, space.dim), constants)


def _has_gamma(target, space):
    try:
        target.gamma(space)
    except OspError:
        return False
    return True
