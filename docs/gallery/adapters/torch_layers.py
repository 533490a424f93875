"""Train two small networks through structured outputs with PyTorch, and write the table and the figure.

Each is compared with the two-stage way: fit the same network to the numbers behind the outputs by least
squares, then sort, or search the shortest path.

Needs torch and matplotlib. One minute.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

import osp_core as osp
from osp_core.adapters.torch import FenchelYoungLoss

HERE = Path(__file__).parent
SIDE = 5


class GridPaths(osp.ZeroOneSpace):
    """Monotone paths from the upper left to the lower right corner of a grid, as sets of edges."""

    def __init__(self, side: int) -> None:
        super().__init__()
        nodes = [(i, j) for i in range(side) for j in range(side)]
        steps = [((i, j), (i + di, j + dj)) for i, j in nodes for di, dj in ((0, 1), (1, 0))]
        self.side = side
        self.edges = [edge for edge in steps if max(edge[1]) < side]
        self.dim = len(self.edges)
        self.into: dict[Any, list[Any]] = {node: [] for node in nodes}
        for number, (tail, head) in enumerate(self.edges):
            self.into[head].append((number, tail))

    def lmo(self, cost: np.ndarray) -> np.ndarray:
        # Nodes in reading order are in topological order.
        least, last = {(0, 0): 0.0}, {}
        for node, arrivals in self.into.items():
            if arrivals:
                least[node], number, tail = min((least[tail] + cost[k], k, tail) for k, tail in arrivals)
                last[node] = number, tail
        path, node = np.zeros(self.dim), (self.side - 1, self.side - 1)
        while node != (0, 0):
            number, node = last[node]
            path[number] = 1.0
        return path


def train(network: Any, loss_of: Callable[[Any], Any], steps: int, rate: float) -> list[float]:
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(network)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def ranking() -> tuple[list[list[str]], list[float]]:
    """Rank 8 items by their features. Judges agree on the order, but each has a scale of his own."""
    torch.manual_seed(0)
    items, features, train_rows, test_rows = 8, 6, 150, 300
    space = osp.make_space("permutahedron", d=items)
    x = torch.randn(train_rows + test_rows, items, features, dtype=torch.float64)
    merit = torch.sin(2 * x[..., 0]) + x[..., 1] * x[..., 2] + x[..., 3]
    grades = merit * torch.exp(torch.randn(len(x), 1, dtype=torch.float64)) + 5 * torch.randn(len(x), 1)
    y = torch.as_tensor(space.lmo_many(-merit.numpy()))
    seen, unseen = slice(0, train_rows), slice(train_rows, None)

    def network() -> Any:
        torch.manual_seed(1)
        return torch.nn.Sequential(
            torch.nn.Linear(features, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1), torch.nn.Flatten(-2)
        ).double()

    def judge(model: Any) -> list[str]:
        scores = model(x[unseen]).detach().numpy()
        said, truth = space.lmo_many(-scores), y[unseen].numpy()
        concordance = 1.0 - np.mean(
            [space.target_loss().loss(a, b) for a, b in zip(said, truth, strict=True)]
        )
        return [f"{concordance:.4f}", f"{np.mean(said.argmax(axis=1) == truth.argmax(axis=1)):.4f}"]

    two_stage, ours = network(), network()
    train(two_stage, lambda model: ((model(x[seen]) - grades[seen]) ** 2).mean(), 400, 0.01)
    loss = FenchelYoungLoss(space)
    losses = train(ours, lambda model: loss(model(x[seen]), y[seen]), 400, 0.01)
    table = [
        ["ranking 8 items", "grades by least squares, then sort", "", *judge(two_stage)],
        [
            "ranking 8 items",
            "FenchelYoungLoss(permutahedron)",
            f"{losses[0]:.2f} → {losses[-1]:.2f}",
            *judge(ours),
        ],
    ]
    return table, losses


def shortest_paths(noise: float) -> tuple[list[list[str]], list[float]]:
    """Predict shortest paths on a grid whose edge costs are a polynomial of the features, by linear networks.

    The costs of every row, training and test, are multiplied by independent numbers in 1 ± noise.
    """
    torch.manual_seed(0)
    features, train_rows, test_rows = 5, 200, 500
    space = GridPaths(SIDE)
    x = torch.randn(train_rows + test_rows, features, dtype=torch.float64)
    mixing = torch.bernoulli(torch.full((features, space.dim), 0.5, dtype=torch.float64))
    costs = ((x @ mixing) / features**0.5 + 3.0) ** 6 / 3.5**6 + 1.0
    costs = costs * (1.0 - noise + 2 * noise * torch.rand(costs.shape, dtype=torch.float64))
    y = torch.as_tensor(space.lmo_many(costs.numpy()))
    seen, unseen = slice(0, train_rows), slice(train_rows, None)

    def judge(said: np.ndarray) -> list[str]:
        true = costs[unseen].numpy()
        paid, best = (said * true).sum(axis=1), (y[unseen].numpy() * true).sum(axis=1)
        shared = (said * y[unseen].numpy()).sum(axis=1).mean() / (2 * SIDE - 2)
        return [f"{1 - (paid - best).sum() / best.sum():.4f}", f"{shared:.4f}"]

    two_stage = torch.nn.Linear(features, space.dim, dtype=torch.float64)
    train(two_stage, lambda model: ((model(x[seen]) - costs[seen]) ** 2).mean(), 800, 0.05)
    ours = torch.nn.Linear(features, space.dim, dtype=torch.float64)
    loss = FenchelYoungLoss(space)
    losses = train(ours, lambda model: loss(model(x[seen]), y[seen]), 60, 0.1)
    table = [
        [
            f"paths on a 5×5 grid, noise {noise:g}",
            "costs by least squares, then search",
            "",
            *judge(space.lmo_many(two_stage(x[unseen]).detach().numpy())),
        ],
        [
            f"paths on a 5×5 grid, noise {noise:g}",
            "FenchelYoungLoss(a space of one function)",
            f"{losses[0]:.2f} → {losses[-1]:.2f}",
            *judge(space.lmo_many(-ours(x[unseen]).detach().numpy())),
        ],
    ]
    return table, losses


def main() -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "osp"
    from matplotlib import pyplot

    experiments = [ranking, partial(shortest_paths, 0.0), partial(shortest_paths, 0.5)]
    figure, axes = pyplot.subplots(1, len(experiments), figsize=(13, 3.2), constrained_layout=True)
    header = ["task", "training", "loss, first → last", "score", "decoded accuracy"]
    lines = ["# Networks with structured outputs", "", __doc__.split("\n\n")[1].replace("\n", " "), ""]
    lines += ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    for axis, experiment in zip(axes, experiments, strict=True):
        table, losses = experiment()
        lines += ["| " + " | ".join(row) + " |" for row in table]
        axis.plot(losses)
        axis.set(title=table[0][0], xlabel="step", ylabel="Fenchel–Young loss")
    lines += [
        "",
        "Score: concordance with the true ranking (1 − alignment loss); 1 − relative regret of the paths.",
        "Decoded accuracy: how often the best item is found; share of the edges of the best path.",
        "",
        "![loss over steps](torch_layers.svg)",
        "",
    ]
    (HERE / "torch_layers.md").write_text("\n".join(lines))
    figure.savefig(HERE / "torch_layers.svg", metadata={"Date": None})
    print("\n".join(lines))


if __name__ == "__main__":
    main()
