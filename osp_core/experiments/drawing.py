"""What the figures of the experiments share: logarithmic axes with plain numbers, and one legend for all."""

from __future__ import annotations

from typing import Any


def log_axes(panel: Any, *, x: bool = True, y: bool = True) -> None:
    """Make axes logarithmic, with ticks such as 0.1, 1, 10 instead of powers."""
    if x:
        panel.set_xscale("log")
        _plain_ticks(panel.xaxis)
    if y:
        panel.set_yscale("log")
        _plain_ticks(panel.yaxis)


def common_legend(figure: Any, panel: Any, columns: int) -> None:
    """The legend of one panel, below all of them."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def _plain_ticks(axis: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_data_interval()
    few_decades = high < 30 * low  # then powers of ten alone are too few ticks
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few_decades else (1.0,)))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())
