"""Reports and figures as files: every one is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from osp_core.persistence import atomic as files
from osp_core.persistence.atomic import make_directory, whole_file
from osp_core.report.document import Report

_METADATA = {"svg": {"Date": None}}  # the same figure is the same file


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Replace a text file whole, making its directory where there is none."""
    target = Path(path)
    make_directory(target.parent)
    files.write_text(target, text)
    return target


def write_report(report: Report, path: str | os.PathLike[str]) -> Path:
    """Write the page of a report."""
    return write_text(path, report.html())


def save_figures(
    report: Report, directory: str | os.PathLike[str], formats: Sequence[str] = ("svg", "png")
) -> list[Path]:
    """Draw all figures of a report with matplotlib, a file for each and every format."""
    from osp_core.report.matplotlib_figures import matplotlib_figure

    folder = Path(directory)
    drawn = [(name, matplotlib_figure(figure)) for name, figure in report.figures()]
    written = []
    make_directory(folder)
    for name, picture in drawn:
        for ending in formats:
            target = folder / f"{name}.{ending}"
            with whole_file(target, "wb") as file:
                picture.savefig(file, format=ending, metadata=_METADATA.get(ending))
            written.append(target)
    return written
