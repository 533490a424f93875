"""Draw docs/figures/k_subsets.svg: predictions over ten elements, and how a subset is drawn from one."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osp_core as osp


def main() -> None:
    """Left: predictions of four regularizers; right: the line of probabilities and its ticks."""
    theta = np.array([1.9, 1.5, 1.2, 0.9, 0.8, 0.45, 0.3, 0.1, -0.4, -0.8])
    space = osp.make_space("k_subsets", d=10, k=4)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.3))
    regularizers = {
        "squared norm": osp.SquaredNorm(),
        "negative entropy": osp.NegativeEntropy(),
        "binary entropy": osp.BinaryEntropy(),
        "Gibbs": osp.GibbsEntropy(),
    }
    for shift, (name, psi) in enumerate(regularizers.items()):
        heights = space.with_psi(psi).predict(theta).point
        left.bar(np.arange(10) + 0.2 * shift - 0.3, heights, 0.2, label=name)
    left.set(title="ŷ of four regularizers: entries sum to 4", xlabel="element", xticks=range(10))
    left.legend(frameon=False, fontsize=8)
    left.spines[["top", "right"]].set_visible(False)
    _systematic(right, space.predict(theta).point, 0.65)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


def _systematic(axis: plt.Axes, point: np.ndarray, u: float) -> None:
    ends = np.cumsum(point)
    ticks = u + np.arange(4)
    for element, (end, length) in enumerate(zip(ends, point, strict=True)):
        if length == 0:
            continue
        hit = bool(((end - length <= ticks) & (ticks < end)).any())
        axis.barh(0, length, 0.5, left=end - length, color="C0" if hit else "0.9", edgecolor="white")
        axis.text(
            end - length / 2, 0, str(element), ha="center", va="center", color="white" if hit else "0.3"
        )
    for number, tick in enumerate(ticks):
        axis.annotate(
            "u" if number == 0 else f"u + {number}",
            (tick, 0.26),
            (tick, 0.75),
            ha="center",
            arrowprops={"arrowstyle": "->", "color": "C3"},
            color="C3",
        )
    axis.set(title="one uniform variable draws four elements", ylim=(-0.6, 1.1), yticks=[], xticks=range(5))
    axis.spines[["top", "right", "left"]].set_visible(False)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "k_subsets"
    main()
