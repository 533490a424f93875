"""Draw docs/figures/simplex.svg: predictions over four classes, and where three classes are randomised."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osp_core as osp

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def main() -> None:
    """Left: softmax and sparsemax of one score vector; right: p over the triangle of three classes."""
    theta = np.array([1.2, 0.7, 0.1, -0.6])
    space = osp.make_space("simplex", classes=["cat", "dog", "owl", "emu"])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4), width_ratios=(1.2, 1))
    places = np.arange(space.dim)
    for shift, (name, psi) in enumerate(
        {
            "softmax (negative entropy)": osp.NegativeEntropy(),
            "sparsemax (squared norm)": osp.SquaredNorm(),
        }.items()
    ):
        left.bar(places + 0.36 * shift - 0.18, space.with_psi(psi).predict(theta).point, 0.34, label=name)
    left.set(title="ŷ of two regularizers", ylabel="probability", xticks=places)
    left.set_xticklabels([f"{name}\nθ = {score:g}" for name, score in zip(space.classes, theta, strict=True)])
    left.legend(frameon=False)
    left.spines[["top", "right"]].set_visible(False)
    _triangle(figure, right)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


def _triangle(figure: plt.Figure, axis: plt.Axes) -> None:
    space = osp.make_space("simplex", d=3)
    steps = 40
    points = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    nearest = space.nearest_vertex_many(points)
    p = np.minimum(0.9999, 2 * np.abs(points - nearest).sum(axis=1) / space.nu)  # contours end below 1
    shown = axis.tricontourf(*(points @ CORNERS).T, p, levels=np.linspace(0, 1, 11), cmap="Blues")
    for corner, name, place in zip(CORNERS, ("cat", "dog", "owl"), ("right", "left", "center"), strict=True):
        axis.text(corner[0], corner[1] + 0.05 * (place == "center"), f" {name} ", ha=place)
    axis.set(title="probability p of randomising, by ŷ", aspect="equal", xlim=(-0.2, 1.2), ylim=(-0.05, 1.0))
    axis.axis("off")
    figure.colorbar(shown, ax=axis, label="p", ticks=[0, 0.5, 1], shrink=0.8)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "simplex"
    main()
