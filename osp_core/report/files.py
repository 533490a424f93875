"""Reports and figures as files: every one is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from osp_core.errors import InvalidInputError
from osp_core.report.document import Report

_METADATA = {"svg": {"Date": None}}  # the same figure is the same file


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Replace a text file whole, making its directory where there is none."""
    target = Path(path)
    with _told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.new")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, target)
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
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in drawn:
            for ending in formats:
                target, temporary = folder / f"{name}.{ending}", folder / f".{name}.new.{ending}"
                picture.savefig(temporary, format=ending, metadata=_METADATA.get(ending))
                os.replace(temporary, target)
                written.append(target)
    return written


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say in one line what could not be written."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror or error}.") from error
