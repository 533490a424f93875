"""Start-up: what a fresh process waits for, by the clock; what compiling costs, and with its cache."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from harness import Case, Fact, Row

RUN = (
    "import time, numpy as np, osp_core as osp\n"
    "x = np.eye(20)[np.arange(50) % 20]; y = np.arange(50) % 10\n"
    "begin = time.perf_counter()\n"
    "osp.run(osp.OnlinePredictor(osp.make_space('simplex', d=10), 20, seed=0), x, y)\n"
    "print(time.perf_counter() - begin)"
)
PREDICT = (
    "import time, numpy as np, osp_core as osp\n"
    "space = osp.make_space('birkhoff', n=10); theta = np.zeros(100)\n"
    "begin = time.perf_counter()\n"
    "osp.RandomizedDecoder(space).decode(theta, np.random.default_rng(0))\n"
    "print(time.perf_counter() - begin)"
)


def cases(short: bool) -> Iterator[Case]:
    """Nothing to race."""
    return iter(())


def facts(rows: list[Row], short: bool) -> Iterator[Fact]:
    """Seconds of fresh processes: the fastest of a few, because others only make them slower."""
    repeats = 3 if short else 7
    bare = _seconds(["-c", "pass"], repeats)
    yield Fact("python -c pass", bare, "s")
    imported = _seconds(["-c", "import osp_core"], repeats)
    yield Fact("import osp_core", imported, "s", at_most=0.5, note="a whole process")
    help_page = _seconds(["-c", "from osp_core.cli import main; main(['--help'])"], repeats)
    yield Fact("osp --help", help_page, "s", at_most=0.5, note="a whole process")
    listed = _seconds(["-c", "import osp_core; osp_core.list_spaces()"], repeats)
    yield Fact("list_spaces()", listed, "s", note="a whole process")
    for name, program in (("run on the simplex", RUN), ("decode on Birkhoff", PREDICT)):
        with tempfile.TemporaryDirectory() as cache:
            first = _reported(program, cache)
            again = min(_reported(program, cache) for _ in range(repeats))
        yield Fact(f"first {name}, nothing compiled yet", first, "s")
        yield Fact(f"first {name}, compiled by an earlier process", again, "s")


def _seconds(arguments: list[str], repeats: int) -> float:
    samples = []
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        samples.append(time.perf_counter() - begin)
    return min(statistics.median(samples), min(samples) * 1.5)


def _reported(program: str, cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    )
    return float(done.stdout)
