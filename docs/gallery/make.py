"""Run every experiment in full and write its table and figure next to this file: about half an hour."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from osp_core import experiments


def main(names: list[str]) -> None:
    for name in names or experiments.list_experiments():
        begin = time.perf_counter()
        result = experiments.run(name)
        result.save(Path(__file__).parent)
        verdict = "everything holds" if result.holds else "SOMETHING FAILS"
        print(f"{name}: {verdict}, {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
