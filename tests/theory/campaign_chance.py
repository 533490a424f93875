"""Bounds that hold with high probability or on average: many repetitions, and tests that allow for chance."""

from collections import Counter

import numpy as np
from scipy.stats import binomtest
from theory.campaign_targets import costs_by_output

import osp_core as osp
from osp_core.learners import OGD, AdaptiveOGD, ParameterFree
from osp_core.registry import list_spaces

SPACES = {
    "simplex": {"d": 3},
    "hypercube": {"d": 3},
    "ordinal": {"d": 4},
    "k_subsets": {"d": 4, "k": 2},
    "permutahedron": {"d": 3},
    "birkhoff": {"n": 3},
}
LEARNERS = {
    "OGD": lambda gap: OGD(step_size=gap.require_gap() / gap.b),  # the step of Thm 8
    "AdaptiveOGD": lambda gap: AdaptiveOGD(8.0),
    "ParameterFree": lambda gap: ParameterFree(),
}
DELTAS = (0.5, 0.1)
FALSE_ALARM = 1e-6  # the chance that a true bound is called refuted
FEATURES = 3
NORM_U = 4.0


def chance_spaces():
    available = {record.name for record in list_spaces() if record.available}
    return [name for name in SPACES if name in available]


def examine_high_probability(name, ledger, repetitions=200, rounds=30):
    """ΣL ≤ ΣS(U) + bound at all times at once, [SBTO24, Thm 8], against a stream that looks at the law."""
    space, rng = osp.make_space(name, **SPACES[name]), ledger.rng("chance", name)
    gap, failures = osp.surrogate_gap(space), Counter()
    row = ledger.row(f"{name}, with δ")
    for title, make in LEARNERS.items():
        for _ in range(repetitions):
            predictor = osp.OnlinePredictor(space, FEATURES, learner=make(gap), seed=int(rng.integers(2**31)))
            losses = _played(predictor, rounds, rng)
            for delta in DELTAS:
                for kind, excess in _excesses(predictor, delta, *losses).items():
                    row.comparisons += 1
                    failures[f"{kind} of {title}", delta] += bool(excess.max() > 1e-9)
    for (kind, delta), count in failures.items():
        row.bound_share = max(row.bound_share, count / repetitions / delta)
        check_frequency(f"{name}, δ = {delta}", ledger, kind, count, repetitions, delta)


def check_frequency(case, ledger, kind, failures, repetitions, delta):
    """Refute a statement of failure probability δ that fails too often to be chance."""
    if failures and binomtest(failures, repetitions, delta, alternative="greater").pvalue < FALSE_ALARM:
        ledger.violate(case, f"{kind} fails too often", failures=failures, repetitions=repetitions)


def _played(predictor, rounds, rng):
    """The running sums of L, E L, S(0) and S(U) for a fixed U, when y has the greatest expected loss."""
    space, ys = predictor.space, predictor.space.vertices()
    U = rng.standard_normal((space.dim, FEATURES))
    U *= NORM_U / np.linalg.norm(U)
    table = []
    for _ in range(rounds):
        x = rng.standard_normal(FEATURES)
        x /= np.linalg.norm(x)
        mean = predictor.law(x).mean
        y = ys[int(np.argmax([predictor.target.at(one)(mean) for one in ys]))]
        record = predictor.step(x, y)
        surrogate = [predictor.loss.value(weights @ x, y) for weights in (0 * U, U)]
        table.append([record.target_loss, record.expected_loss, *surrogate])
    return np.cumsum(table, axis=0).T


def _excesses(predictor, delta, lost, expected, at_zero, at_U):
    """By how much each statement is broken at each time; the deviation is what the proofs use of ΣL."""
    gap = predictor.certificate
    reserve = gap.with_reserve(delta)
    factor = (1 - reserve.gap.a) / (1 - gap.a)
    zero = predictor.guarantee("high_probability", norm_U=0.0, delta=delta)
    other = predictor.guarantee("high_probability", norm_U=NORM_U, delta=delta)
    return {
        "the deviation": lost - factor * expected - reserve.cost,
        "the bound at 0": lost - zero.surrogate_factor * at_zero - float(zero.value),
        "the bound at U": lost - other.surrogate_factor * at_U - float(other.value),
    }


def examine_online_to_batch(name, ledger, repetitions=200, rounds=25):
    """The mean risk of W̄ over repetitions, on a known finite distribution, [SBTO24, Thm 11]."""
    space, rng = osp.make_space(name, **SPACES[name]), ledger.rng("batch", name)
    atoms = [cost / np.linalg.norm(cost) for cost in rng.standard_normal((6, FEATURES))]
    truths = [np.frombuffer(key) for key in list(costs_by_output(space, rng))[:6]]
    pairs = [(x, truths[number % len(truths)]) for number, x in enumerate(atoms)]
    weights = rng.dirichlet(np.ones(len(pairs)))
    gap, row = osp.surrogate_gap(space), ledger.row(f"{name}, batch")
    for title, make in LEARNERS.items():
        risks = []
        for _ in range(repetitions):
            predictor = osp.OnlinePredictor(space, FEATURES, learner=make(gap), seed=int(rng.integers(2**31)))
            for index in rng.choice(len(pairs), size=rounds, p=weights):
                predictor.step(*pairs[index])
            risks.append(weights @ _expected_losses(predictor, predictor.average_weights, pairs))
        ledger.exercised["batch repetitions"] += repetitions
        error = np.std(risks) / np.sqrt(repetitions)
        for U in (np.zeros((space.dim, FEATURES)), predictor.average_weights, *_random_weights(space, rng)):
            bound = predictor.guarantee("online_to_batch", norm_U=float(np.linalg.norm(U)))
            surrogate = weights @ [predictor.loss.value(U @ x, y) for x, y in pairs]
            promised = bound.surrogate_factor * surrogate + float(bound.value)
            row.comparisons += 1
            row.bound_share = max(row.bound_share, float(np.mean(risks)) / promised)
            if np.mean(risks) - 6 * error > promised:
                ledger.violate(f"{name}, batch", f"the risk of {title} exceeds its bound", U=U, risks=risks)


def _expected_losses(predictor, W, pairs):
    """The exact expected target loss of decoding Wx, for every atom."""
    laws = [predictor.decoder.law(predictor.space.predict(W @ x)) for x, _ in pairs]
    return np.array([law.expected_loss(predictor.target, y) for law, (_, y) in zip(laws, pairs, strict=True)])


def _random_weights(space, rng):
    """Comparators of norm at most 4, which is the radius of the ball of AdaptiveOGD."""
    for length in (0.1, 1.0, NORM_U):
        U = rng.standard_normal((space.dim, FEATURES))
        yield length * U / np.linalg.norm(U)
