"""Draw the pictures of the Birkhoff family: scores, predictions and random outputs."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osp_core as osp

HERE = Path(__file__).parent


def main() -> None:
    """One picture for each space of the family."""
    _birkhoff()
    _assignment()
    _matching()


def _birkhoff() -> None:
    rng = np.random.default_rng(4)
    theta = rng.standard_normal((6, 6))
    space = osp.make_space("birkhoff", n=6)
    entropic = space.predict(theta.ravel()).point
    sparse = space.with_psi(osp.SquaredNorm()).predict(theta.ravel()).point
    panels = {
        "scores θ": theta,
        "ŷ, negative entropy": entropic.reshape(6, 6),
        "ŷ, squared norm": sparse.reshape(6, 6),
        "a ranking of mean ŷ": space.sample_vertex(entropic, rng).reshape(6, 6),
    }
    figure, axes = plt.subplots(1, 4, figsize=(10.5, 3.0))
    for axis, (title, matrix) in zip(axes, panels.items(), strict=True):
        _heat(axis, title, matrix, "position", "item")
    _save(figure, "birkhoff")


def _assignment() -> None:
    rng = np.random.default_rng(1)
    theta = rng.standard_normal((4, 7))
    space = osp.make_space("assignment", m=4, n=7)
    entropic = space.predict(theta.ravel()).point
    panels = {
        "scores θ": theta,
        "ŷ, negative entropy": entropic.reshape(4, 7),
        "an assignment of mean ŷ": space.sample_vertex(entropic, rng).reshape(4, 7),
    }
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 2.3))
    for axis, (title, matrix) in zip(axes, panels.items(), strict=True):
        _heat(axis, title, matrix, "column", "row")
    _save(figure, "birkhoff_assignment")


def _heat(axis: plt.Axes, title: str, matrix: np.ndarray, across: str, down: str) -> None:
    scores = matrix.min() < 0
    axis.imshow(
        matrix, cmap="PuOr" if scores else "Blues", vmin=-2.5 if scores else 0, vmax=2.5 if scores else 1
    )
    for (i, j), value in np.ndenumerate(matrix):
        if value and not scores:
            shown = "1" if value == 1 else f"{value:.2f}".lstrip("0")
            axis.text(
                j, i, shown, ha="center", va="center", fontsize=7, color="white" if value > 0.6 else "0.2"
            )
    axis.set(title=title, xlabel=across, ylabel=down, xticks=[], yticks=[])
    axis.title.set_fontsize(10)


def _matching() -> None:
    graph = [("a", "x"), ("b", "x"), ("b", "y"), ("b", "z"), ("c", "y"), ("c", "z"), ("d", "z"), ("d", "w")]
    graph += [("c", "w")]
    space = osp.make_space("matching", graph=graph)
    point = space.predict(np.zeros(space.dim)).point
    figure, axes = plt.subplots(1, 4, figsize=(10.5, 2.6))
    panels = {"ŷ for equal scores": point}
    panels |= {f"perfect matching {k + 1}": vertex for k, vertex in enumerate(space.vertices())}
    for axis, (title, weights) in zip(axes, panels.items(), strict=True):
        for (left, right), weight in zip(graph, weights, strict=True):
            ends = [-space.left.index(left), -space.right.index(right)]
            style = (
                {"color": "C0", "linewidth": 1 + 4 * weight} if weight else {"color": "0.8", "linestyle": ":"}
            )
            axis.plot([0, 1], ends, zorder=1, **style)
        for x, names in ((0, space.left), (1, space.right)):
            for row, name in enumerate(names):
                axis.text(x, -row, name, ha="center", va="center", bbox={"boxstyle": "circle", "fc": "white"})
        axis.set(title=title, xlim=(-0.25, 1.25), ylim=(-3.5, 0.5))
        axis.title.set_fontsize(10)
        axis.axis("off")
    _save(figure, "birkhoff_matching")


def _save(figure: plt.Figure, name: str) -> None:
    figure.tight_layout()
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "birkhoff"
    main()
