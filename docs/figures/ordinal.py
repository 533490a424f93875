"""Draw docs/figures/ordinal.svg: what scores, predictions and outputs of the ordinal space look like."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osp_core as osp

CATEGORIES = ["awful", "poor", "fair", "good", "great"]


def main() -> None:
    """Left: scores and two predictions; right: the prefixes that the Euclidean prediction mixes."""
    theta = np.array([1.4, 0.3, 0.8, -0.2])
    space = osp.make_space("ordinal", categories=CATEGORIES)
    y_hat = space.predict(theta).point
    entropic = space.with_psi(osp.BinaryEntropy()).predict(theta).point
    mixture = space.decompose(y_hat)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.3), width_ratios=(1.25, 1))
    levels = np.arange(space.dim)
    questions = [f"above\n{name}?" for name in CATEGORIES[:-1]]
    left.plot(levels, theta, "o", color="0.6", label="scores θ")
    left.step(np.arange(-0.5, 4), np.append(y_hat, y_hat[-1]), where="post", color="C0", lw=2)
    left.plot(levels, y_hat, "s", color="C0", label="ŷ, squared norm")
    left.plot(levels, entropic, "D", color="C1", label="ŷ, binary entropy", ms=5)
    left.axhspan(0, 1, color="0.95", zorder=0)
    left.set(title="scores, made monotone", xticks=levels, xticklabels=questions, xlim=(-0.6, 3.6))
    left.legend(frameon=False, fontsize=8)
    right.imshow(mixture.vertices, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
    for row, (vertex, weight) in enumerate(zip(mixture.vertices, mixture.weights, strict=True)):
        right.text(3.6, row, f"{weight:.2f} · {space.to_label(vertex)}", va="center")
        for column, entry in enumerate(vertex):
            right.text(column, row, f"{entry:.0f}", ha="center", va="center")
    right.set(title="ŷ as a mixture of outputs", xticks=[], yticks=[])
    for side in right.spines.values():
        side.set_visible(False)
    figure.subplots_adjust(left=0.065, right=0.82, bottom=0.16, top=0.9, wspace=0.08)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "ordinal"
    main()
