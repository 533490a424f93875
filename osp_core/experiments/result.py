"""What an experiment gives back."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osp_core.errors import MissingDependencyError
from osp_core.persistence.atomic import inside, make_directory, whole_file, write_text

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class ExperimentResult:
    """A table, and how to draw it.

    Attributes
    ----------
    name, title : str
    rows : tuple of mappings
        The table. A column `holds` says where an inequality of the theory was checked.
    draw : callable
        Draws the rows on a matplotlib figure.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    draw: Callable[[Any, Sequence[Row]], None]

    @property
    def holds(self) -> bool:
        """Whether every inequality that was checked held."""
        return all(row.get("holds", True) for row in self.rows)

    @property
    def columns(self) -> list[str]:
        """The columns of the table, in the order they first appear."""
        return list(dict.fromkeys(column for row in self.rows for column in row))

    def table(self) -> str:
        """The rows as a Markdown table."""
        columns = self.columns
        cells = [[_shown(row.get(column, "")) for column in columns] for row in self.rows]
        widths = [max(len(line[i]) for line in [columns, *cells]) for i in range(len(columns))]
        lines = [columns, ["-" * width for width in widths], *cells]
        return "\n".join(
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
            for line in lines
        )

    def figure(self) -> Any:
        """The rows as a matplotlib figure."""
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingDependencyError(
                "Figures need matplotlib: pip install 'online-structured-prediction[plot]'."
            ) from error
        # Not through pyplot, which would want a display and keep every figure alive.
        figure = Figure(figsize=(8.0, 4.5), layout="constrained")
        self.draw(figure, self.rows)
        figure.suptitle(self.title)
        return figure

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the table (.csv and .md), and the figure (.svg) where matplotlib is installed."""
        folder = Path(directory)
        make_directory(folder)
        written = [inside(folder, f"{self.name}.{ending}") for ending in ("csv", "md")]
        with whole_file(written[0]) as file:
            writer = csv.DictWriter(file, self.columns)
            writer.writeheader()
            writer.writerows(self.rows)
        write_text(written[1], f"# {self.title}\n\n{self.table()}\n")
        try:
            figure = self.figure()
        except MissingDependencyError:
            return written
        written.append(inside(folder, f"{self.name}.svg"))
        with whole_file(written[-1], "wb") as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
        return written


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
