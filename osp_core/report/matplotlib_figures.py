"""The second renderer: the same figures through matplotlib, as files for papers and slides."""

from __future__ import annotations

from typing import Any

from osp_core.errors import MissingDependencyError
from osp_core.report.axes import axes_of
from osp_core.report.figures import COLOURS, Box, Figure, Line, Plot, Shape, Sketch, Stroke, Words, printable

ALIGNED = {"start": "left", "middle": "center", "end": "right"}


def matplotlib_figure(figure: Figure) -> Any:
    """Return a matplotlib figure, on white."""
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise MissingDependencyError(
            "Figure files need matplotlib: pip install 'online-structured-prediction[plot]'."
        ) from error
    # Not through pyplot, which would want a display and keep every figure alive.
    if isinstance(figure, Plot):
        canvas = Canvas(figsize=(5.6, 3.8), dpi=150, layout="constrained")
        draw_plot(canvas.subplots(), figure)
    else:
        canvas = Canvas(figsize=(figure.width / 72.0, (figure.height + 24.0) / 72.0), dpi=150)
        _sketch(canvas, figure)
    return canvas


def draw_plot(axes: Any, plot: Plot) -> None:
    """Draw a plot on matplotlib axes. Our own axes place the values, so that both renderers show the same."""
    horizontal, vertical = axes_of(plot)
    for line in plot.lines:
        _line(axes, line, [horizontal.place(x) for x in line.x], vertical)
    for axis, ticked, label in (
        (axes.xaxis, horizontal, plot.x_label),
        (axes.yaxis, vertical, plot.y_label),
    ):
        places = [(ticked.place(value), text) for value, text in ticked.ticks()]
        axis.set_ticks([place for place, _ in places], [text for _, text in places])
        axis.set_label_text(label)
    if vertical.low < 0 < vertical.high:
        axes.axhline(vertical.place(0.0), color=_colour("muted"), linewidth=0.8)
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), title=plot.title)
    axes.grid(axis="y", color=_colour("faint"))
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    if any(line.name for line in plot.lines):
        # Below the axis, where it hides no curve.
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False, fontsize="small")


def _line(axes: Any, line: Line, x: list[float], vertical: Any) -> None:
    low, y, high = (
        [min(1.0, max(0.0, vertical.place(value))) for value in values]
        for values in (line.low, line.y, line.high)
    )
    colour = _colour(line.colour)
    if low:
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.plot(
        x,
        y,
        color=colour,
        linestyle="--" if line.dashed else "-",
        marker="o" if line.dots or len(x) == 1 else None,
        markersize=4,
        label=line.name or "_nolegend_",
    )


def _sketch(canvas: Any, sketch: Sketch) -> None:
    axes = canvas.add_axes((0.0, 0.0, 1.0, sketch.height / (sketch.height + 24.0)))
    axes.set(xlim=(0.0, sketch.width), ylim=(sketch.height, 0.0))
    axes.set_axis_off()
    canvas.suptitle(sketch.title, fontsize=10)
    for place, shape in enumerate(sketch.shapes):
        _shape(axes, shape, place)


def _shape(axes: Any, shape: Shape, order: int) -> None:
    if isinstance(shape, Words):
        axes.text(
            shape.x,
            shape.y,
            printable(shape.text).replace("$", r"\$"),  # no formulas in other people's labels
            color=_colour(shape.colour),
            fontsize=0.85 * shape.size,
            ha=ALIGNED[shape.anchor],
            va="center",
            zorder=order,
        )
    elif isinstance(shape, Stroke):
        xs, ys = zip(*shape.points, strict=True)
        axes.plot(
            xs,
            ys,
            color=_colour(shape.colour),
            linewidth=shape.width,
            linestyle="--" if shape.dashed else "-",
            alpha=shape.opacity,
            solid_capstyle="round",
            zorder=order,
        )
    else:
        _box(axes, shape, order)


def _box(axes: Any, box: Box, order: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    # A rounding that matplotlib adds outside of the rectangle, so the rectangle is smaller by as much.
    inset = min(box.round, box.width / 2, box.height / 2)
    axes.add_patch(
        FancyBboxPatch(
            (box.x + inset, box.y + inset),
            box.width - 2 * inset,
            box.height - 2 * inset,
            boxstyle=f"round,pad={inset},rounding_size={inset}" if inset else "square,pad=0",
            facecolor=(_colour(box.fill), box.opacity) if box.fill else "none",
            edgecolor=_colour(box.outline) if box.outline else "none",
            linewidth=box.line_width,
            zorder=order,
        )
    )


def _colour(role: str) -> str:
    return COLOURS[role][0]
