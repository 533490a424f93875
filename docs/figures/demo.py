"""Draw the figure of the README: the losses of ``osp demo`` below what is promised, on every space."""

from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt

from osp_core.cli.demo import play
from osp_core.cli.demo_spaces import demo_spaces
from osp_core.report.matplotlib_figures import draw_plot
from osp_core.report.plots import loss_plot

HERE = Path(__file__).parent
ROUNDS, SEEDS = 1000, 5


def main() -> None:
    """One panel per space; the legend takes the place of an eighth."""
    figure, panels = plt.subplots(2, 4, figsize=(11.0, 5.4), layout="constrained")
    for panel, (title, _, space) in zip(panels.ravel(), demo_spaces(), strict=False):
        runs = [play(title, space, ROUNDS, seed, lambda *news: None) for seed in range(SEEDS)]
        plot = loss_plot(runs)
        bare = tuple(replace(line, name="") for line in plot.lines)
        draw_plot(panel, replace(plot, title=title, y_label="total loss", lines=bare))
    curves = [line for line in panels[0, 0].get_lines() if len(line.get_xdata()) > 2]
    names = [line.name for line in plot.lines]
    panels[-1, -1].legend(curves, names, loc="center", frameon=False)
    panels[-1, -1].set_axis_off()
    figure.suptitle(
        f"Online learning on seven kinds of structure: {ROUNDS} rounds, mean and range of {SEEDS} seeds"
    )
    figure.savefig(HERE / "demo.svg", metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "demo"
    main()
