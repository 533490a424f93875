"""Learn to choose routes from the costs they turn out to have, on a road network that differs every round.

python docs/examples/shortest_paths.py [--rounds N]

Every round brings another grid of streets (so the dimension changes) and features of each street. A path is
chosen; then the true costs of all streets are revealed. The loss is what the path cost more than the best
one.
"""

from __future__ import annotations

import argparse

import numpy as np
import pyepo_baseline

import osp_core as osp

N_FEATURES = 5
FEATURE_BOUND = 12.0  # operator norm of the feature matrices


class GridPaths(osp.ZeroOneSpace):
    """Paths from the upper left to the lower right corner of a grid; one entry per street."""

    def __init__(self, rows, columns):
        super().__init__()
        self.rows, self.columns = rows, columns
        self.streets = [
            ((r, c), (r + down, c + 1 - down))
            for r in range(rows)
            for c in range(columns)
            for down in (0, 1)
            if r + down < rows and c + 1 - down < columns
        ]
        self.dim = len(self.streets)
        self._known = {}

    def lmo(self, cost):
        """Dynamic programming from corner to corner."""
        value, came_by = {(0, 0): 0.0}, {}
        for number, (tail, head) in enumerate(self.streets):  # in an order that settles tails first
            through = value[tail] + cost[number]
            if head not in value or through < value[head]:
                value[head], came_by[head] = through, number
        path, corner = np.zeros(self.dim), (self.rows - 1, self.columns - 1)
        while corner != (0, 0):
            path[came_by[corner]] = 1.0
            corner = self.streets[came_by[corner]][0]
        return path

    def at(self, context):
        """The grid of a round: a pair (rows, columns)."""
        if context is None or tuple(context) == (self.rows, self.columns):
            return self
        if context not in self._known:
            self._known[context] = GridPaths(*context)
        return self._known[context]

    def project_direction(self, direction):
        return direction  # all directions: safe, and nothing has to be discovered

    @classmethod
    def examples(cls):
        return (cls(2, 2), cls(3, 2), cls(1, 3))


def rounds(number, seed, degree):
    """Grids with the features and the costs of their streets; `degree` 1 is linear, more is curved."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.0, 1.0, N_FEATURES)
    for _ in range(number):
        grid = tuple(rng.integers(2, 5, size=2).tolist())
        dim = GridPaths(*grid).dim
        features = rng.uniform(-1.0, 1.0, (dim, N_FEATURES))
        score = (features @ weights) / np.sqrt(N_FEATURES) + 2.0
        costs = score**degree * rng.uniform(0.9, 1.1, dim)
        yield grid, np.column_stack([features, np.ones(dim)]), costs / np.linalg.norm(costs)


class TwoStage:
    """The usual way: predict every cost by least squares, then solve for the predicted costs."""

    def __init__(self, n_features):
        self.gram, self.moment = 1e-3 * np.eye(n_features), np.zeros(n_features)

    def play(self, space, features):
        return space.lmo(features @ np.linalg.solve(self.gram, self.moment))

    def learn(self, space, features, costs):
        self.gram += features.T @ features
        self.moment += features.T @ costs


def compare(number=400, seed=0, degree=1):
    """Return the average regret over the second half of the rounds, of everybody who chooses a path.

    "played" is the randomised play that the guarantee is about, "greedy" the best path for the scores.
    """
    space = GridPaths(4, 4)
    ours = osp.OnlinePredictor(
        space,
        N_FEATURES + 1,
        model=osp.FeatureModel(N_FEATURES + 1),
        target=osp.decision_regret(space, gamma=1.0),
        feature_bound=FEATURE_BOUND,
        learner=osp.PolyakOGD(diameter=50.0),
        seed=seed,
    )
    rivals = {"two-stage": TwoStage(N_FEATURES + 1)}
    if not pyepo_baseline.REASON:
        rivals["PyEPO, SPO+"] = pyepo_baseline.SpoPlus(N_FEATURES + 1)
    regrets = []
    for grid, features, costs in rounds(number, seed, degree):
        instance = space.at(grid)
        best = float(costs @ instance.lmo(costs))
        greedy = instance.lmo(-(features @ ours.learner.weights))
        record = ours.step(features, costs, context=grid)
        others = [greedy, *(rival.play(instance, features) for rival in rivals.values())]
        others.append(instance.lmo(np.zeros(instance.dim)))
        regrets.append([record.expected_loss, *(float(costs @ path) - best for path in others)])
        for rival in rivals.values():
            rival.learn(instance, features, costs)
    late = np.array(regrets)[number // 2 :].mean(axis=0)
    names = ("online, played", "online, greedy", *rivals, "untrained")
    return dict(zip(names, late.tolist(), strict=True))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=1000)
    arguments = parser.parse_args()
    print(pyepo_baseline.REASON)
    for degree in (1, 4):
        print(f"costs of degree {degree}:")
        for name, regret in compare(arguments.rounds, degree=degree).items():
            print(f"  {name:22} {regret:.4f}")


if __name__ == "__main__":
    main()
