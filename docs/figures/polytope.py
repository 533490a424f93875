"""Draw docs/figures/polytope.svg: constraints, integer points, and a prediction over their hull."""

from pathlib import Path

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import osp_core as osp


def main() -> None:
    """Left: a linear set and its corners; right: the integer points of the same constraints."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
    theta = np.array([3.6, 3.2])
    for axis, integer in zip(axes, (False, True), strict=True):
        y = cp.Variable(2, integer=integer)
        constraints = [y >= 0, y <= 3.5, y[0] + y[1] <= 5.2, y[1] - y[0] <= 1.6]
        space = osp.make_space("polytope", constraints=constraints, variable=y)
        corners = np.array([[0, 0], [3.5, 0], [3.5, 1.7], [1.8, 3.4], [0, 1.6]])
        axis.fill(*corners.T, color="0.94", label="the constraints")
        angles = np.linspace(0, 2 * np.pi, 181)
        found = {tuple(space.lmo(np.array([np.cos(a), np.sin(a)]))) for a in angles}
        outputs = np.array(sorted(found, key=lambda v: np.arctan2(v[1] - 1.2, v[0] - 1.5)))
        axis.plot(
            *np.vstack([outputs, outputs[:1]]).T, "o-", color="0.35", lw=1, label="outputs and their hull"
        )
        prediction = space.predict(theta)
        mixture = prediction.combination or space.decompose(prediction.point)
        axis.plot(*theta, "*", color="C1", ms=13, label="scores θ")
        axis.plot(*np.vstack([theta, prediction.point]).T, ":", color="C1")
        axis.plot(*prediction.point, "s", color="C0", label="ŷ")
        for vertex, weight in zip(np.asarray(mixture.vertices), mixture.weights, strict=True):
            axis.plot(*vertex, "o", color="C0", ms=10, mfc="none", mew=2)
            axis.annotate(f"{weight:.2f}", vertex, (9, 4), textcoords="offset points", color="C0")
        axis.set(
            title="integer=True" if integer else "continuous", aspect="equal", xlabel="y[0]", xlim=(-0.3, 4.2)
        )
        axis.set(ylim=(-0.3, 4.1))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("y[1]")
    axes[1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "polytope"
    main()
