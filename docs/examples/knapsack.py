"""Learn what to pack from the values things turn out to have; the capacity differs every round.

python docs/examples/knapsack.py [--rounds N]

The set of packings is written in cvxpy, with the capacity as a Parameter. HiGHS finds the best packing for
any values; the number of branch-and-bound runs that learning needs is printed.
"""

from __future__ import annotations

import argparse

import cvxpy as cp
import numpy as np
import pyepo_baseline
from shortest_paths import TwoStage

import osp_core as osp

N_ITEMS, N_FEATURES = 30, 5
CAPACITIES = (150.0, 200.0, 250.0)
FEATURE_BOUND = 16.0  # operator norm of the feature matrices


def packings(seed=0):
    """0/1 vectors whose items weigh no more than the capacity."""
    weights = np.random.default_rng(seed).integers(5, 40, N_ITEMS)
    capacity = cp.Parameter(name="capacity", value=CAPACITIES[-1])
    items = cp.Variable(N_ITEMS, boolean=True)
    return osp.make_space("polytope", constraints=[weights @ items <= capacity], variable=items)


def rounds(number, seed, degree):
    """Capacities with the features and the values of the items; `degree` 1 is linear, more is curved."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.0, 1.0, N_FEATURES)
    for _ in range(number):
        features = rng.uniform(-1.0, 1.0, (N_ITEMS, N_FEATURES))
        score = (features @ weights) / np.sqrt(N_FEATURES) + 2.0
        values = score**degree * rng.uniform(0.9, 1.1, N_ITEMS)
        bound = np.column_stack([features, np.ones(N_ITEMS)])
        yield {"capacity": float(rng.choice(CAPACITIES))}, bound, values / np.linalg.norm(values)


def compare(number=300, seed=0, degree=1):
    """Return the average regret over the second half of the rounds, and the solves a round of learning."""
    space = packings()
    ours = osp.OnlinePredictor(
        space,
        N_FEATURES + 1,
        model=osp.FeatureModel(N_FEATURES + 1),
        target=osp.decision_regret(space, gamma=1.0),  # costs are values with a minus
        feature_bound=FEATURE_BOUND,
        learner=osp.PolyakOGD(diameter=50.0),
        seed=seed,
    )
    rivals = {"two-stage": TwoStage(N_FEATURES + 1)}
    if not pyepo_baseline.REASON:
        rivals["PyEPO, SPO+"] = pyepo_baseline.SpoPlus(N_FEATURES + 1)
    regrets, solves = [], 0
    for context, features, values in rounds(number, seed, degree):
        instance = space.at(context)
        best = float(values @ instance.lmo(-values))
        greedy = instance.lmo(-(features @ ours.learner.weights))  # best for the scores, not randomised
        others = [rival.play(instance, features) for rival in rivals.values()]
        before = instance.solves
        record = ours.step(features, -values, context=context)
        solves += instance.solves - before
        untrained = instance.lmo(-np.ones(N_ITEMS))
        gains = [float(values @ y) for y in (greedy, *others, untrained)]
        regrets.append([record.expected_loss, *(best - gain for gain in gains)])
        for rival in rivals.values():
            rival.learn(instance, features, -values)
    late = np.array(regrets)[number // 2 :].mean(axis=0)
    names = ("online, played", "online, greedy", *rivals, "untrained")
    return dict(zip(names, late.tolist(), strict=True)) | {"branch and bound a round": solves / number}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=300)
    arguments = parser.parse_args()
    print(pyepo_baseline.REASON)
    for degree in (1, 4):
        print(f"values of degree {degree}:")
        for name, number in compare(arguments.rounds, degree=degree).items():
            print(f"  {name:26} {number:.4f}")


if __name__ == "__main__":
    main()
