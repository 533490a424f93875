"""Kill ``osp run`` again and again, resume it, and compare the end with a run that was left alone.

python tests/reliability/crash.py --kills 120
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from osp_core.online.trace import FIELDS

COMMAND = [sys.executable, "-c", "from osp_core.cli import main; main()"]
COMPARED = ("rounds", "target_loss", "expected_loss", "surrogate_loss", "total_gap", "weights_sha256")


@dataclass(frozen=True)
class Scenario:
    """A run to disturb: its options without ``--out``."""

    name: str
    options: list[str]


@dataclass
class Outcome:
    """What came of the kills of one scenario."""

    scenario: str
    kills: int = 0
    resumes: int = 0
    torn: int = 0
    runs: int = 0
    lost: int = 0
    duplicated: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def identical(self):
        return not self.differences


def scenarios(folder, rounds):
    """A file and two generated streams, with a learner, a space and a decoder of their own each."""
    flowers = write_flowers(folder / "flowers.csv", rounds)
    often = "--checkpoint-every 7 --checkpoint-seconds 0.01 --seed 3"
    teacher = f"--stream linear_teacher --rounds {rounds} {often}"
    runs = {
        "csv file": f"--space simplex --data {flowers.name} --label kind {often}",
        "generated, permutahedron": f"--space permutahedron -p d=4 --learner parameter_free {teacher}",
        "generated, hypercube": "--space hypercube -p d=5 --learner polyak_ogd --learner-param diameter=4.0 "
        + teacher,
    }
    return [Scenario(name, options.split()) for name, options in runs.items()]


def write_flowers(path, rounds):
    """Rows of a linear teacher, as a CSV file."""
    rng = np.random.default_rng(0)
    teacher, names = rng.standard_normal((3, 4)), ("iris", "lily", "rose")
    rows = rng.standard_normal((rounds, 4))
    kinds = [names[best] for best in np.argmax(rows @ teacher.T, axis=1)]
    lines = [
        ",".join(f"{value:.9f}" for value in x) + f",{kind}" for x, kind in zip(rows, kinds, strict=True)
    ]
    path.write_text("\n".join(["w,x,y,z,kind", *lines]) + "\n")
    return path


def start(scenario, out):
    """The run in a process of its own."""
    return subprocess.Popen(
        [*COMMAND, "run", *scenario.options, "--out", str(out), "--resume", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=out.parent.parent,
    )


def finish(process):
    """Wait for a process; what it wrote if it failed."""
    _, errors = process.communicate()
    if process.returncode not in (0, -9):
        raise RuntimeError(f"the run ended with {process.returncode}: {errors.decode()}")
    return process.returncode == 0


def disturb(scenario, folder, kills, draw, *, reference):
    """Run a scenario until `kills` processes were killed, from the start again whenever one gets through."""
    outcome = Outcome(scenario.name)
    while outcome.kills < kills:
        out = folder / f"run-{outcome.runs}"
        outcome.runs += 1
        while True:
            process = start(scenario, out)
            outcome.resumes += any(out.glob("checkpoints/round-*.ckpt"))
            if outcome.kills < kills:
                wait(process, out, draw)
                process.kill()
            if finish(process):
                break
            outcome.kills += 1
            outcome.torn += len(list(out.glob("checkpoints/.*.tmp")))
        compare(reference, out, outcome)
    return outcome


def wait(process, out, draw):
    """Until a random moment: three times in four after the process has saved something."""
    known = {path.name for path in out.glob("checkpoints/*")}
    deadline = time.monotonic() + 60.0
    if draw.random() < 0.75:
        while process.poll() is None and time.monotonic() < deadline:
            if {path.name for path in out.glob("checkpoints/*")} - known:
                break
            time.sleep(0.002)
        time.sleep(draw.uniform(0.0, 0.6))
    else:
        time.sleep(draw.uniform(0.0, 1.5))


def compare(reference, out, outcome):
    """Add what differs between an undisturbed run and a disturbed one."""
    expected, found = (json.loads((path / "summary.json").read_text()) for path in (reference, out))
    rows = [np.fromfile(path / "trace.bin").reshape(-1, len(FIELDS)) for path in (reference, out)]
    outcome.lost += max(0, len(rows[0]) - len(rows[1]))
    outcome.duplicated += max(0, len(rows[1]) - len(rows[0]))
    outcome.differences += [f"{out}: {name}" for name in COMPARED if expected[name] != found[name]]
    if rows[0].tobytes() != rows[1].tobytes():
        outcome.differences.append(f"{out}: trace")
    last = [max((path / "checkpoints").glob("round-*.ckpt")).read_bytes() for path in (reference, out)]
    if last[0] != last[1]:
        outcome.differences.append(f"{out}: final state")


def harness(folder, kills, rounds, seed, chosen=slice(None)):
    """The outcome of every scenario, `kills` divided among them."""
    draw, outcomes = random.Random(seed), []
    picked = scenarios(folder, rounds)[chosen]
    for number, scenario in enumerate(picked):
        home = folder / str(number)
        home.mkdir()
        finish(start(scenario, home / "reference"))
        share = kills // len(picked) + (number < kills % len(picked))
        outcomes.append(disturb(scenario, home, share, draw, reference=home / "reference"))
    return outcomes


def table(outcomes):
    """The outcomes as text."""
    lines = [
        f"{'scenario':28}{'kills':>7}{'resumes':>9}{'torn':>6}{'lost':>6}{'duplicated':>12}{'identical':>11}"
    ]
    for one in outcomes:
        same = "yes" if one.identical else "NO"
        numbers = f"{one.kills:7}{one.resumes:9}{one.torn:6}{one.lost:6}{one.duplicated:12}{same:>11}"
        lines.append(f"{one.scenario:28}{numbers}")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        print(table(harness(Path(place), given.kills, given.rounds, given.seed)))
