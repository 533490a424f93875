"""Run every experiment in full (about half an hour) and write its data, figure and the table of its page.

With --redraw the data that are there are drawn again, and nothing is run.
"""

from __future__ import annotations

import csv
import importlib
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from osp_core import experiments
from osp_core.experiments.result import ExperimentResult

HERE = Path(__file__).parent
TABLE = re.compile(r"(?<=<!-- table -->\n\n).*?(?=\n\n<!-- end of table -->)", re.DOTALL)


def main(arguments: list[str]) -> None:
    """Make the experiments named, or all."""
    redraw = "--redraw" in arguments
    for name in [word for word in arguments if word != "--redraw"] or experiments.list_experiments():
        begin = time.perf_counter()
        result = stored(name) if redraw else experiments.run(name)
        write(result)
        verdict = "everything holds" if result.holds else "SOMETHING FAILS"
        print(f"{name}: {verdict}, {time.perf_counter() - begin:.0f} s")


def write(result: ExperimentResult) -> None:
    """Put the data and the figure here, and the table into the page, whose text stays."""
    with tempfile.TemporaryDirectory() as folder:
        for path in result.save(folder):
            if path.suffix != ".md":
                (HERE / path.name).write_bytes(path.read_bytes())
    page = HERE / f"{result.name}.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(TABLE.sub(lambda _: result.table(), text), encoding="utf-8")


def stored(name: str) -> ExperimentResult:
    """The result whose rows are in the .csv here."""
    with (HERE / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = [{key: value(cell) for key, cell in row.items() if cell != ""} for row in csv.DictReader(file)]
    draw = importlib.import_module(f"osp_core.experiments.{name}").draw
    return ExperimentResult(name, experiments.list_experiments()[name], tuple(rows), draw)


def value(cell: str) -> Any:
    """A cell as it was before it became text."""
    if cell in ("True", "False"):
        return cell == "True"
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


if __name__ == "__main__":
    import matplotlib

    matplotlib.rcParams["svg.hashsalt"] = "gallery"
    main(sys.argv[1:])
