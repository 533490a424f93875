"""Draw docs/figures/hypercube.svg: predictions over five labels, and the sets that one of them mixes."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osp_core as osp

LABELS = ["sun", "rain", "wind", "fog", "frost"]


def main() -> None:
    """Left: clipped scores and sigmoids; right: the threshold decomposition of the clipped ones."""
    theta = np.array([1.6, 0.8, 0.35, 0.35, -0.9])
    space = osp.make_space("hypercube", labels=LABELS)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.3), width_ratios=(1.2, 1))
    places = np.arange(space.dim)
    regularizers = {
        "clipped (squared norm)": osp.SquaredNorm(),
        "sigmoid (binary entropy)": osp.BinaryEntropy(),
    }
    for shift, (name, psi) in enumerate(regularizers.items()):
        left.bar(places + 0.36 * shift - 0.18, space.with_psi(psi).predict(theta).point, 0.34, label=name)
    left.set(title="ŷ of two regularizers", ylabel="probability of the label", xticks=places, ylim=(0, 1.25))
    left.set_xticklabels([f"{name}\nθ = {score:g}" for name, score in zip(LABELS, theta, strict=True)])
    left.legend(frameon=False, loc="upper right")
    left.spines[["top", "right"]].set_visible(False)
    mixture = space.decompose(space.predict(theta).point)
    rows = np.asarray(mixture.vertices)
    right.imshow(rows, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
    for row, (vertex, weight) in enumerate(zip(rows, mixture.weights, strict=True)):
        right.text(space.dim - 0.4, row, f"weight {weight:.2f}", va="center")
        for column, entry in enumerate(vertex):
            right.text(column, row, f"{entry:.0f}", ha="center", va="center")
    right.set(title="the sets it mixes, by one threshold", xticks=places, xticklabels=LABELS, yticks=[])
    right.tick_params(length=0)
    right.spines[:].set_visible(False)
    figure.subplots_adjust(left=0.065, right=0.89, bottom=0.16, top=0.9, wspace=0.12)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "hypercube"
    main()
