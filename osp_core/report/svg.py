"""SVG text for figures, without any library: inline in the page, or as a file of its own."""

from __future__ import annotations

import html

from osp_core.report.axes import Axis, axes_of
from osp_core.report.figures import COLOURS, Box, Figure, Line, Plot, Shape, Sketch, Stroke, Words, printable

WIDTH, HEIGHT = 380.0, 235.0  # of the area below the legend
LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 30.0, 38.0
FONT = 12.0
LEGEND_ROW = 18.0


def figure_svg(figure: Figure) -> str:
    """Return an ``<svg>`` element; its colours are CSS classes that the page defines."""
    return _plot(figure) if isinstance(figure, Plot) else _sketch(figure)


def standalone_svg(figure: Figure) -> str:
    """Return a whole SVG file, on white."""
    picture = figure_svg(figure).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    head, tail = picture.split(">", 1)
    return f'{head} font-family="sans-serif"><style>{style_rules(0)}</style>{tail}\n'


def style_rules(theme: int) -> str:
    """The CSS of the colour roles: theme 0 is light, 1 dark."""
    return "".join(
        f".s-{role}{{stroke:{colours[theme]}}}.f-{role}{{fill:{colours[theme]}}}"
        for role, colours in COLOURS.items()
    )


def element(tag: str, content: str = "", /, **attributes: object) -> str:
    """One SVG element. Attribute names have ``_`` for ``-``; values are escaped, content is not."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def escape(text: str) -> str:
    """Text as HTML and XML have it."""
    return html.escape(printable(text))


def _text(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _canvas(figure: Figure, width: float, height: float, parts: list[str]) -> str:
    title = f"<title>{escape(figure.title)}</title>"
    return element(
        "svg",
        title + "".join(parts),
        viewBox=f"0 0 {_text(width)} {_text(height)}",
        role="img",
        class_="figure",
    )


# --- plots -------------------------------------------------------------------------------------------------


def _plot(plot: Plot) -> str:
    legend, rows = _legend(plot)
    top = rows * LEGEND_ROW + TOP
    horizontal, vertical = axes_of(plot)
    frame = _Frame(horizontal, vertical, top)
    parts = [*legend, *_grid(plot, frame)]
    for line in plot.lines:
        if line.low:
            parts.append(_band(line, frame))
    for line in plot.lines:
        parts += _curve(line, frame)
    return _canvas(plot, WIDTH, top + HEIGHT, parts)


class _Frame:
    """From values to places on the canvas."""

    def __init__(self, horizontal: Axis, vertical: Axis, top: float) -> None:
        self.horizontal, self.vertical, self.top = horizontal, vertical, top
        self.bottom = top + HEIGHT - BOTTOM

    def x(self, value: float) -> float:
        return LEFT + self.horizontal.place(value) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        place = min(1.0, max(0.0, self.vertical.place(value)))
        return self.bottom - place * (self.bottom - self.top)

    def path(self, xs: tuple[float, ...], ys: tuple[float, ...]) -> str:
        return " ".join(f"{_text(self.x(x))},{_text(self.y(y))}" for x, y in zip(xs, ys, strict=True))


def _grid(plot: Plot, frame: _Frame) -> list[str]:
    parts = []
    right = WIDTH - RIGHT
    for value, text in frame.vertical.ticks():
        y = frame.y(value)
        parts.append(element("line", x1=LEFT, x2=right, y1=y, y2=y, class_="s-faint"))
        parts.append(_words(Words(LEFT - 6.0, y, text, "muted", "end")))
    if frame.vertical.low < 0 < frame.vertical.high:
        zero = frame.y(0.0)
        parts.append(element("line", x1=LEFT, x2=right, y1=zero, y2=zero, class_="s-muted"))
    for value, text in frame.horizontal.ticks():
        x = frame.x(value)
        parts.append(element("line", x1=x, x2=x, y1=frame.bottom, y2=frame.bottom + 4.0, class_="s-muted"))
        parts.append(_words(Words(x, frame.bottom + 13.0, text, "muted")))
    parts.append(element("line", x1=LEFT, x2=right, y1=frame.bottom, y2=frame.bottom, class_="s-muted"))
    parts.append(_words(Words((LEFT + right) / 2, frame.bottom + 30.0, plot.x_label, "muted")))
    parts.append(_words(Words(4.0, frame.top - 18.0, plot.y_label, "muted", "start")))
    return parts


def _band(line: Line, frame: _Frame) -> str:
    outline = frame.path(line.x, line.high) + " " + frame.path(line.x[::-1], line.low[::-1])
    return element("polygon", points=outline, class_=f"f-{line.colour}", fill_opacity=0.18)


def _curve(line: Line, frame: _Frame) -> list[str]:
    parts = []
    if len(line.x) > 1:
        parts.append(
            element(
                "polyline",
                points=frame.path(line.x, line.y),
                class_=f"s-{line.colour}",
                fill="none",
                stroke_width=2.0,
                stroke_linejoin="round",
                stroke_dasharray="6 4" if line.dashed else None,
            )
        )
    if line.dots or len(line.x) == 1:
        parts += [
            element("circle", cx=frame.x(x), cy=frame.y(y), r=3.2, class_=f"f-{line.colour}")
            for x, y in zip(line.x, line.y, strict=True)
        ]
    return parts


def _legend(plot: Plot) -> tuple[list[str], int]:
    """Samples and names in as many rows as they need."""
    parts: list[str] = []
    x, row = 4.0, 0
    for line in plot.lines:
        if not line.name:
            continue
        width = 30.0 + 6.4 * len(line.name) + 14.0
        if x > 4.0 and x + width > WIDTH:
            x, row = 4.0, row + 1
        y = LEGEND_ROW * row + LEGEND_ROW / 2
        parts.append(
            element(
                "line",
                x1=x,
                x2=x + 24.0,
                y1=y,
                y2=y,
                class_=f"s-{line.colour}",
                stroke_width=2.5,
                stroke_dasharray="6 4" if line.dashed else None,
            )
        )
        parts.append(_words(Words(x + 30.0, y, line.name, anchor="start")))
        x += width
    return parts, row + 1 if parts else 0


# --- sketches ----------------------------------------------------------------------------------------------


def _sketch(sketch: Sketch) -> str:
    return _canvas(sketch, sketch.width, sketch.height, [_shape(shape) for shape in sketch.shapes])


def _shape(shape: Shape) -> str:
    if isinstance(shape, Words):
        return _words(shape)
    if isinstance(shape, Stroke):
        return element(
            "polyline",
            points=" ".join(f"{_text(float(x))},{_text(float(y))}" for x, y in shape.points),
            class_=f"s-{shape.colour}",
            fill="none",
            stroke_width=float(shape.width),
            stroke_linecap="butt" if shape.dashed else "round",
            stroke_dasharray="4 3" if shape.dashed else None,
            stroke_opacity=None if shape.opacity == 1 else float(shape.opacity),
        )
    return _box(shape)


def _box(box: Box) -> str:
    classes = [f"f-{box.fill}"] if box.fill else []
    classes += [f"s-{box.outline}"] if box.outline else []
    return element(
        "rect",
        x=float(box.x),
        y=float(box.y),
        width=float(box.width),
        height=float(box.height),
        rx=float(box.round),
        class_=" ".join(classes),
        fill=None if box.fill else "none",
        stroke_width=float(box.line_width) if box.outline else None,
        fill_opacity=None if box.opacity == 1 else float(box.opacity),
    )


def _words(words: Words) -> str:
    return element(
        "text",
        escape(words.text),
        x=float(words.x),
        y=float(words.y + 0.35 * words.size),  # SVG places the base line
        font_size=float(words.size),
        text_anchor=None if words.anchor == "start" else words.anchor,
        class_=f"f-{words.colour}",
    )
