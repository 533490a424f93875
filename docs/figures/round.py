"""Draw docs/figures/round.svg: the way of one round through the parts of the package."""

from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
PLAY, LEARN, ACCOUNT = "C0", "C1", "C2"
COLUMNS = {"left": 2.1, "middle": 5.1, "right": 8.1, "edge": 10.6}
ROWS = {"play": 5.4, "learn": 3.4, "trace": 1.6, "bound": 0.2}
HALF_WIDTH, HALF_HEIGHT = 0.95, 0.42


def round_of_learning() -> plt.Figure:
    """Above what is played, below it what is learned, at the foot what is written down and promised."""
    figure, axis = plt.subplots(figsize=(8.2, 4.6))
    play(axis)
    learn(axis)
    account(axis)
    axis.set(xlim=(-0.1, 11.4), ylim=(-0.3, 5.9), aspect="equal")
    axis.set_axis_off()
    return figure


def play(axis: plt.Axes) -> None:
    """x → θ → ŷ → law → what is played."""
    row = ROWS["play"]
    word(axis, 0.2, row, "$x_t$", PLAY)
    box(axis, "left", "play", "model", "models/", PLAY)
    box(axis, "middle", "play", "space.predict", "spaces/, regularizers/", PLAY)
    box(axis, "right", "play", "decoder.law", "surrogates/decoders/", PLAY)
    word(axis, COLUMNS["edge"], row, "played\noutput", PLAY)
    left, middle, right, edge = COLUMNS.values()
    arrow(axis, (0.45, row), (left - HALF_WIDTH, row), PLAY)
    arrow(axis, (left + HALF_WIDTH, row), (middle - HALF_WIDTH, row), PLAY, "scores θ")
    arrow(axis, (middle + HALF_WIDTH, row), (right - HALF_WIDTH, row), PLAY, "ŷ")
    arrow(axis, (right + HALF_WIDTH, row), (edge - 0.5, row), PLAY, "draw")


def learn(axis: plt.Axes) -> None:
    """y → truth → gradient → weights, from right to left."""
    row, above = ROWS["learn"], ROWS["play"]
    word(axis, COLUMNS["edge"], row, "$y_t$", LEARN)
    box(axis, "right", "learn", "target", "targets/", LEARN)
    box(axis, "middle", "learn", "surrogate loss", "surrogates/", LEARN)
    box(axis, "left", "learn", "learner", "learners/", LEARN)
    left, middle, right, edge = COLUMNS.values()
    arrow(axis, (edge - 0.3, row), (right + HALF_WIDTH, row), LEARN)
    arrow(axis, (right - HALF_WIDTH, row), (middle + HALF_WIDTH, row), LEARN, "truth")
    arrow(axis, (middle - HALF_WIDTH, row), (left + HALF_WIDTH, row), LEARN, "gradient")
    arrow(axis, (left, row + HALF_HEIGHT), (left, above - HALF_HEIGHT), LEARN, "weights $W_{t+1}$")
    arrow(axis, (middle, above - HALF_HEIGHT), (middle, row + HALF_HEIGHT), PLAY, "ŷ, computed once")
    arrow(axis, (right, above - HALF_HEIGHT), (right, row + HALF_HEIGHT), PLAY, "the law")


def account(axis: plt.Axes) -> None:
    """What is written down, and what was promised before the first round."""
    left, middle, right, edge = COLUMNS.values()
    low, lowest = ROWS["trace"], ROWS["bound"]
    below = ROWS["learn"] - HALF_HEIGHT
    wide = (right - middle) / 2 + HALF_WIDTH
    box(axis, (middle + right) / 2, "trace", "Trace", "online/", ACCOUNT, wide)
    arrow(axis, (middle, below), (middle, low + HALF_HEIGHT), ACCOUNT, "S")
    arrow(axis, (right, below), (right, low + HALF_HEIGHT), ACCOUNT, "L and E L")
    box(
        axis,
        (left + middle) / 2,
        "bound",
        "certificate, made once",
        "guarantees/, surrogates/",
        ACCOUNT,
        wide,
    )
    arrow(axis, (left, lowest + HALF_HEIGHT), (left, below), ACCOUNT, "step size η")
    word(axis, edge, low, "regret", ACCOUNT)
    word(axis, edge, (low + lowest) / 2, "≤", ACCOUNT)
    word(axis, edge, lowest, "bound", ACCOUNT)
    arrow(axis, (right + HALF_WIDTH, low), (edge - 0.55, low), ACCOUNT)
    arrow(axis, (middle + HALF_WIDTH, lowest), (edge - 0.55, lowest), ACCOUNT)


def box(
    axis: plt.Axes,
    column: str | float,
    row: str,
    name: str,
    folder: str,
    colour: str,
    half: float = HALF_WIDTH,
) -> None:
    """A part of the package, with the folder it lives in."""
    x = COLUMNS[column] if isinstance(column, str) else column
    corner = (x - half, ROWS[row] - HALF_HEIGHT)
    axis.add_patch(
        plt.Rectangle(corner, 2 * half, 2 * HALF_HEIGHT, facecolor="0.97", edgecolor=colour, linewidth=1.6)
    )
    axis.text(x, ROWS[row] + 0.14, name, ha="center", va="center", fontsize=10, weight="bold")
    axis.text(x, ROWS[row] - 0.2, folder, ha="center", va="center", fontsize=8, color="0.35")


def word(axis: plt.Axes, x: float, y: float, text: str, colour: str) -> None:
    """What goes in or comes out."""
    axis.text(x, y, text, ha="center", va="center", fontsize=11, color=colour, weight="bold")


def arrow(
    axis: plt.Axes, start: tuple[float, float], end: tuple[float, float], colour: str, label: str = ""
) -> None:
    """An arrow with its label above it, or to its right when it stands upright."""
    axis.annotate(
        "", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
    )
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    if start[0] == end[0]:
        axis.text(x + 0.12, y, label, ha="left", va="center", fontsize=9, color=colour)
    else:
        axis.text(x, y + 0.1, label, ha="center", va="bottom", fontsize=9, color=colour)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "round"
    drawn = round_of_learning()
    drawn.tight_layout()
    drawn.savefig(HERE / "round.svg", metadata={"Date": None})
