"""Reports: what every check found, all at once."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["passed", "failed", "not applicable", "expected failure", "unexpected pass"]


class ConformanceError(AssertionError):
    """At least one check failed; the message lists all that did, and `report` has everything."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


class NotApplicable(Exception):
    """A check has nothing to look at; the message says why. It is neither passed nor failed."""


@dataclass(frozen=True)
class CheckResult:
    """What one check found.

    Attributes
    ----------
    name : str
        The name of the check, without ``check_``.
    outcome : str
        "passed", "failed", "not applicable", "expected failure" or "unexpected pass".
    message : str
        The numbers of a failure, or why the check did not apply; empty for one that passed.
    seconds : float
        How long it took.
    """

    name: str
    outcome: Outcome
    message: str
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether there is nothing to repair: an expected failure that passes is to be repaired too."""
        return self.outcome not in ("failed", "unexpected pass")


@dataclass(frozen=True)
class Report:
    """The results of all checks of one subject."""

    subject: str
    results: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return all(result.ok for result in self.results)

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """The results that are not ok."""
        return tuple(result for result in self.results if not result.ok)

    @property
    def seconds(self) -> float:
        """The time all checks took."""
        return sum(result.seconds for result in self.results)

    def named(self, name: str) -> CheckResult:
        """The result of one check."""
        return next(result for result in self.results if result.name == name)

    def __str__(self) -> str:
        counts = ", ".join(
            f"{count} {outcome}"
            for outcome in ("passed", "failed", "unexpected pass", "expected failure", "not applicable")
            if (count := sum(result.outcome == outcome for result in self.results))
        )
        lines = [f"{self.subject}: {counts}"]
        for result in self.results:
            if result.message:
                text = result.message.replace("\n", "\n      ")
                lines.append(f"  {result.outcome.upper()} {result.name}\n      {text}")
        return "\n".join(lines)

    def raise_failures(self) -> None:
        """Raise one ConformanceError that lists all failures, if there is any."""
        if not self.ok:
            raise ConformanceError(self)


def examine(
    subject: str,
    checks: Sequence[tuple[str, Callable[[], None]]],
    expected_failures: Mapping[str, str] | Iterable[str] = (),
) -> Report:
    """Run named checks one after the other and report on all of them.

    Parameters
    ----------
    subject : str
        What is examined, for the first line of the report.
    checks : sequence of (name, function)
        A function passes by returning, fails by raising anything but `NotApplicable`.
    expected_failures : mapping or iterable of str
        Names of checks that are known to fail, with the reason where one is given.
    """
    reasons = _reasons(expected_failures, [name for name, _ in checks])
    return Report(subject, tuple(_run(name, check, reasons) for name, check in checks))


def _run(name: str, check: Callable[[], None], reasons: Mapping[str, str]) -> CheckResult:
    start = time.perf_counter()
    outcome: Outcome
    try:
        check()
    except NotApplicable as error:
        outcome, message = "not applicable", str(error)
    except Exception as error:  # the code under test may raise anything
        outcome, message = "failed", _describe(error)
    else:
        outcome, message = "passed", ""
    if name in reasons:
        if outcome == "failed":
            outcome, message = "expected failure", f"{reasons[name]}\n{message}"
        else:
            outcome, message = (
                "unexpected pass",
                f"this was expected to fail ({reasons[name]}), but the check says: {outcome}. "
                "Take it out of expected_failures.",
            )
    return CheckResult(name, outcome, message, time.perf_counter() - start)


def _describe(error: Exception) -> str:
    if isinstance(error, AssertionError):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({frame.filename}, line {frame.lineno})"


def _reasons(expected: Mapping[str, str] | Iterable[str], names: Sequence[str]) -> dict[str, str]:
    reasons = dict(expected) if isinstance(expected, Mapping) else dict.fromkeys(expected, "no reason given")
    reasons = {name.removeprefix("check_"): reason for name, reason in reasons.items()}
    if unknown := [name for name in reasons if name not in names]:
        raise ValueError(f"There is no check called {unknown[0]!r}; there are: {', '.join(names)}.")
    return reasons
