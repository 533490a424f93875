"""Draw docs/figures/permutahedron.svg: the permutahedron of three items and one of seven."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osp_core as osp

# Coordinates in the plane y₁ + y₂ + y₃ = 6.
PLANE = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]).T / np.sqrt([2.0, 6.0])


def main() -> None:
    """Left: three items, scores and their prediction; right: seven items, scores against predictions."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.9), width_ratios=(1, 1.15))
    _hexagon(left)
    _seven_items(right)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


def _hexagon(axis: plt.Axes) -> None:
    space = osp.make_space("permutahedron", d=3, items=["a", "b", "c"])
    vertices = space.vertices()
    flat = vertices @ PLANE
    around = np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))
    axis.fill(*flat[around].T, facecolor="0.95", edgecolor="0.4")
    for vertex, place in zip(vertices, flat, strict=True):
        axis.plot(*place, "o", color="0.4", ms=4)
        side = "left" if place[0] > 0 else "right"
        axis.text(*(1.12 * place), " > ".join(space.to_label(vertex)), ha=side, va="center", fontsize=9)
    theta = np.array([3.5, 3.0, 0.2])
    y_hat = space.predict(theta).point
    axis.annotate("", y_hat @ PLANE, theta @ PLANE, arrowprops={"arrowstyle": "->", "color": "C0"})
    axis.plot(*(theta @ PLANE), "o", color="0.6")
    axis.text(*(theta @ PLANE + [0.12, 0.0]), "θ", color="0.4")
    axis.plot(*(y_hat @ PLANE), "s", color="C0")
    mixture = space.decompose(y_hat)
    for vertex, weight in zip(mixture.vertices, mixture.weights, strict=True):
        axis.plot(*np.array([vertex, y_hat]).dot(PLANE).T, color="C0", lw=5 * weight, alpha=0.5)
    axis.text(*(y_hat @ PLANE - [0.05, 0.35]), "ŷ", color="C0")
    axis.set(title="three items: six rankings", aspect="equal", xlim=(-2.6, 2.6), ylim=(-1.6, 2.7))
    axis.axis("off")


def _seven_items(axis: plt.Axes) -> None:
    theta = np.array([9.0, 6.4, 6.0, 5.7, 3.9, 3.5, 0.5])
    space = osp.make_space("permutahedron", d=7)
    places = np.arange(7)
    axis.plot(places, np.arange(7, 0, -1), "_", color="0.6", ms=22, label="ranks 7, …, 1")
    axis.plot(places, theta, "o", color="0.6", label="scores θ")
    axis.plot(places, space.predict(theta).point, "s-", color="C0", label="ŷ, squared norm")
    entropic = space.with_psi(osp.NegativeEntropy(2.0)).predict(theta / 2).point
    axis.plot(places, entropic, "D--", color="C1", ms=4, label="ŷ, negative entropy")
    axis.set(title="seven items, best first", xlabel="item", xticks=places)
    axis.legend(frameon=False, fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "permutahedron"
    main()
