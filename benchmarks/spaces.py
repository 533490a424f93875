"""The primitives of every space against the peers that install.

python benchmarks/spaces.py [--quick] [--only birkhoff]
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import harness  # sets the number of threads before numpy loads

FAMILIES = ("birkhoff", "sorting", "matroids", "polytope")


def main() -> None:
    """Measure the chosen families and print one table for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer sizes, shorter measurements")
    parser.add_argument("--only", choices=FAMILIES, action="append", help="measure this family only")
    arguments = parser.parse_args()
    for family in arguments.only or FAMILIES:
        cases = importlib.import_module(f"cases_{family}").cases(arguments.quick)
        rows = []
        for row in harness.measure(cases, quick=arguments.quick):
            rows.append(row)
            print(f"{row.primitive} {row.size}: {row.ratio or 0:.2f}×", file=sys.stderr)
        print(f"\n## {family}\n\n{harness.report(rows, f'spaces_{family}')}\n")


if __name__ == "__main__":
    main()
