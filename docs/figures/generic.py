"""Draw docs/figures/{vertices,product,masked}.svg: spaces made of lists and of other spaces."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osp_core as osp

HERE = Path(__file__).parent


def vertices() -> plt.Figure:
    """Seven outputs in the plane, scores, ŷ, and the outputs that ŷ mixes."""
    array = np.array([[0, 0], [2, -0.4], [3, 1], [2.4, 2.3], [0.8, 2.6], [-0.5, 1.4], [1.3, 1.1]])
    space = osp.make_space("vertices", array=array)
    theta = np.array([3.4, 2.0])
    prediction = space.predict(theta)
    mixture = prediction.combination or space.decompose(prediction.point)
    figure, axis = plt.subplots(figsize=(7.4, 3.6))
    hull = array[[0, 1, 2, 3, 4, 5]]
    axis.fill(*hull.T, color="0.94", label="hull of the outputs")
    axis.plot(*array.T, "o", color="0.35", label="outputs")
    axis.plot(*theta, "*", color="C1", ms=13, label="scores θ")
    axis.plot([theta[0], prediction.point[0]], [theta[1], prediction.point[1]], ":", color="C1")
    axis.plot(*prediction.point, "s", color="C0", label="ŷ, the nearest point")
    for vertex, weight in zip(np.asarray(mixture.vertices), mixture.weights, strict=True):
        axis.plot(*vertex, "o", color="C0", ms=9, mfc="none", mew=2)
        axis.annotate(
            f"weight {weight:.2f}",
            vertex,
            (8, 8 if vertex[1] > 2 else -16),
            textcoords="offset points",
            color="C0",
        )
    axis.set(aspect="equal", xlabel="first entry", ylabel="second entry", xlim=(-1, 4.6), ylim=(-0.9, 3.2))
    axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def product() -> plt.Figure:
    """A car: a colour and extras, each with its own prediction and its own p."""
    colour = osp.make_space("simplex", classes=["red", "green", "blue"])
    extras = osp.make_space("hypercube", labels=["roof", "radio"])
    car = osp.make_space("product", spaces=[colour, extras])
    law = osp.BlockwiseDecoder(car).law(car.predict(np.array([0.9, -0.4, 2.2, 0.3, 0.9])))
    point, p = law.prediction.point, np.asarray(law.p)
    names = [*colour.classes, *extras.labels]
    blocks = {"colour: one of three": [0, 1, 2], "extras: any set": [3, 4]}
    figure, axis = plt.subplots(figsize=(6.6, 3.2))
    for number, (block, members) in enumerate(blocks.items()):
        axis.bar(members, point[members], 0.7, color=f"C{number}", label=f"{block}, p = {p[number]:.2f}")
    axis.set(title="ŷ, block by block", ylabel="ŷ", xticks=range(5), xticklabels=names, ylim=(0, 1.5))
    axis.set_yticks([0, 0.5, 1])
    axis.legend(frameon=False, loc="upper left", fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def masked() -> plt.Figure:
    """The same scores before and after a class is forbidden."""
    shop = osp.make_space("simplex", classes=["tea", "coffee", "cocoa"])
    space = osp.make_space("masked", space=shop, forbidden=[])
    theta = np.array([0.4, 1.3, -0.2])
    places = np.arange(3)
    figure, axis = plt.subplots(figsize=(6, 3))
    axis.bar(places - 0.18, space.predict(theta).point, 0.34, color="0.75", label="ŷ, all in stock")
    axis.bar(places + 0.18, space.at([1]).predict(theta).point, 0.34, color="C0", label="ŷ, no coffee today")
    axis.text(1.18, 0.02, "×", ha="center", color="C3", fontsize=16)
    axis.set(ylabel="probability", xticks=places, ylim=(0, 0.85))
    axis.set_xticklabels([f"{n}\nθ = {s:g}" for n, s in zip(shop.classes, theta, strict=True)])
    axis.legend(frameon=False, loc="upper right")
    axis.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    for draw in (vertices, product, masked):
        plt.rcParams["svg.hashsalt"] = draw.__name__
        drawn = draw()
        drawn.tight_layout()
        drawn.savefig(HERE / f"{draw.__name__}.svg", metadata={"Date": None})
