"""The parts of a report, as plain data, and the HTML page made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from osp_core.report.figures import Figure
from osp_core.report.style import STYLE
from osp_core.report.svg import escape, figure_svg


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Code:
    """Text to keep as it is."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Names with values."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Items:
    """A heading with a list below, folded away until asked for when `folded`."""

    heading: str
    items: tuple[str, ...]
    folded: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text; the first cell of a row links to the anchor in `links`, where there is one."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gallery:
    """Figures side by side where there is room; `small` ones need less."""

    figures: tuple[Figure, ...]
    small: bool = False


Part = Text | Code | Facts | Items | Table | Gallery


@dataclass(frozen=True)
class Section:
    """Parts below a heading that can be linked to."""

    title: str
    anchor: str
    parts: tuple[Part, ...]
    level: int = 2


@dataclass(frozen=True)
class Report:
    """A whole page."""

    title: str
    lead: str
    sections: tuple[Section, ...]

    def figures(self) -> list[tuple[str, Figure]]:
        """All plots and sketches with a file name each; the section goes before it where names repeat."""
        found = [
            (section.anchor, figure)
            for section in self.sections
            for part in section.parts
            if isinstance(part, Gallery)
            for figure in part.figures
        ]
        repeated = len({figure.name for _, figure in found}) < len(found)
        return [(f"{anchor}-{figure.name}" if repeated else figure.name, figure) for anchor, figure in found]

    def html(self) -> str:
        """The page: one file, nothing to load, no script; well-formed XML as well as HTML."""
        links = "".join(
            f'<a href="#{escape(section.anchor)}">{escape(section.title)}</a>'
            for section in self.sections
            if section.level == 2
        )
        body = "".join(_section(section) for section in self.sections)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
            # An empty icon, or the browser would ask the server for one.
            '<link rel="icon" href="data:,"/>\n'
            f"<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            f'<header id="top"><h1>{escape(self.title)}</h1><p>{escape(self.lead)}</p>'
            f"<nav>{links}</nav></header>\n<main>\n{body}</main>\n</body>\n</html>\n"
        )


def _section(section: Section) -> str:
    tag = f"h{section.level}"
    parts = "\n".join(_part(part) for part in section.parts)
    heading = f"<{tag}>{escape(section.title)}</{tag}>"
    return f'<section id="{escape(section.anchor)}">{heading}\n{parts}\n</section>\n'


def _part(part: Part) -> str:
    if isinstance(part, Gallery):
        return _gallery(part)
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Facts):
        pairs = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in part.items)
        return f"<dl>{''.join(f'<div>{pair}</div>' for pair in pairs)}</dl>"
    if isinstance(part, Items):
        listed = f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in part.items)}</ul>"
        if part.folded:
            return f"<details><summary>{escape(part.heading)}</summary>{listed}</details>"
        return f"<p>{escape(part.heading)}</p>{listed}"
    if isinstance(part, Code):
        return f"<pre>{escape(part.text)}</pre>"
    return f"<p>{escape(part.text)}</p>"


def _gallery(gallery: Gallery) -> str:
    figures = "".join(
        f"<figure><h4>{escape(figure.title)}</h4>{figure_svg(figure)}"
        f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
        for figure in gallery.figures
    )
    return f'<div class="gallery{" small" if gallery.small else ""}">{figures}</div>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    links: Sequence[str] = table.links or ("",) * len(table.rows)
    rows = "".join(
        f"<tr>{_cells(table.columns, row, link)}</tr>" for row, link in zip(table.rows, links, strict=True)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cells(columns: tuple[str, ...], row: tuple[str, ...], link: str) -> str:
    """Every cell knows its column: a phone shows them one below the other, each with its name."""
    first = f'<a href="#{escape(link)}">{escape(row[0])}</a>' if link else escape(row[0])
    pairs = zip(columns[1:], row[1:], strict=True)
    cells = (f'<td data-column="{escape(column)}">{escape(cell)}</td>' for column, cell in pairs)
    return f"<th>{first}</th>{''.join(cells)}"
