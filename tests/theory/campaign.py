"""A hostile campaign: it tries to refute every certificate and every bound, on every space.

    PYTHONPATH=tests python -m theory.campaign [--seed N] [--shard I/N] [--only TEXT]

prints a table of what was tried and every violation found. Equal seeds try the same things.
"""

import argparse
import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass

from theory.campaign_chance import chance_spaces, examine_high_probability, examine_online_to_batch
from theory.campaign_ledger import Ledger
from theory.campaign_rounds import examine_rounds
from theory.campaign_runs import examine_run
from theory.campaign_spaces import drawn_cases, registered_cases, wrapped_cases

SEED = 20240613
# Every prediction of a polytope asks a solver, some of them for a mixed-integer program: fewer of them.
SLOW = "polytope"
LONGEST = 120  # seconds of a task, which takes one or two


@dataclass(frozen=True)
class Task:
    """One thing to try; tasks are independent of one another."""

    title: str
    run: Callable[[Ledger], None]


def full_plan(ledger):
    """Everything: rounds on every case, a run on two of five, repetitions for what holds by chance."""
    cases = [*registered_cases(), *drawn_cases(ledger, 24), *wrapped_cases(ledger)]
    tasks = [rounds_task(case, *((8, 0) if SLOW in case.title else (40, 4))) for case in cases]
    swift = [case for case in cases if SLOW not in case.title]
    tasks += [run_task(case) for number, case in enumerate(swift) if number % 5 < 2]
    tasks += [run_task(case, rounds=9) for case in cases if case.family == SLOW and " " not in case.title]
    return tasks + [task for name in chance_spaces() for task in chance_tasks(name)]


def quick_plan(ledger):
    """A little of each kind, for the everyday tests."""
    registered = {}
    for case in registered_cases(most=1):
        registered.setdefault(case.family, []).append(case)
    cases = [cases[number] for cases in registered.values() for number in (0, -1)]
    cases += [*drawn_cases(ledger, 1), *wrapped_cases(ledger, names=["hypercube", "product"], depths=[1])]
    tasks = [rounds_task(case, *((4, 0) if SLOW in case.title else (10, 1))) for case in cases]
    tasks += [run_task(case, rounds=9) for case in cases[::5] if SLOW not in case.title]
    return [*tasks, *chance_tasks("simplex", 8)]


def rounds_task(case, scores, climbs):
    return Task(f"rounds {case}", lambda ledger: examine_rounds(case, ledger, scores, climbs))


def run_task(case, rounds=36):
    return Task(f"run {case}", lambda ledger: examine_run(case, ledger, rounds=rounds))


def chance_tasks(name, repetitions=200):
    return [
        Task(f"chance {name}", lambda ledger: examine_high_probability(name, ledger, repetitions)),
        Task(f"batch {name}", lambda ledger: examine_online_to_batch(name, ledger, repetitions)),
    ]


def campaign(plan, *, seed=SEED, shard=0, shards=1, only=""):
    """Run the tasks of one shard whose title contains `only`; return the ledger."""
    ledger = Ledger(seed)
    for number, task in enumerate(plan(ledger)):
        if number % shards == shard and only in task.title:
            with _time_limit(task, ledger):
                task.run(ledger)
    return ledger


class TooLong(Exception):
    """A task did not end: some prediction does not."""


@contextlib.contextmanager
def _time_limit(task, ledger):
    """Write down a task that does not end instead of waiting for it; where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(_number, frame):
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        yield
    except TooLong:
        ledger.violate(task.title, f"does not end within {LONGEST} s")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--shard", default="0/1", help="which part of how many, 0/4 to 3/4")
    parser.add_argument("--only", default="", help="tasks whose title contains this")
    options = parser.parse_args()
    shard, shards = map(int, options.shard.split("/"))
    ledger = campaign(full_plan, seed=options.seed, shard=shard, shards=shards, only=options.only)
    print(ledger.table())
    raise SystemExit(bool(ledger.violations))


if __name__ == "__main__":
    main()
