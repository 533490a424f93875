"""What the campaign counts and what it finds: one row a family of spaces, and every refuted certificate."""

import zlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Row:
    """The counts of one family, and the worst share of a certificate that was used: 1 is tight."""

    evaluations: int = 0
    loss_share: float = 0.0
    gradient_share: float = 0.0
    comparisons: int = 0
    bound_share: float = 0.0
    regularizers: set = field(default_factory=set)


@dataclass
class Ledger:
    """The book of one campaign. Equal seeds make equal books, whatever the order of the cases."""

    seed: int
    rows: dict = field(default_factory=dict)
    violations: list = field(default_factory=list)
    exercised: Counter = field(default_factory=Counter)
    _kinds: set = field(default_factory=set)

    def row(self, family):
        return self.rows.setdefault(family, Row())

    def rng(self, *purpose):
        """A generator that depends on the seed and the purpose alone."""
        return np.random.default_rng([self.seed, *(zlib.crc32(str(part).encode()) for part in purpose)])

    def violate(self, case, kind, **numbers):
        """Write a refuted certificate down; the first of its kind on a case stands for all."""
        if (case, kind) in self._kinds:
            return
        self._kinds.add((case, kind))
        shown = "\n".join(f"    {name} = {_show(value)}" for name, value in numbers.items())
        self.violations.append(f"{kind}\n    on {case} (seed {self.seed})\n{shown}")

    @property
    def evaluations(self):
        return sum(row.evaluations for row in self.rows.values())

    @property
    def comparisons(self):
        return sum(row.comparisons for row in self.rows.values())

    def table(self):
        """The rows as text, with their sum."""
        lines = [_LINE.format(*_HEADER)]
        for family, row in sorted(self.rows.items()):
            shares = (f"{share:.4f}" for share in (row.loss_share, row.gradient_share))
            numbers = (row.evaluations, *shares, row.comparisons, f"{row.bound_share:.4f}")
            lines.append(_LINE.format(family, *numbers, " ".join(sorted(row.regularizers))))
        lines.append(_LINE.format("all", self.evaluations, "", "", self.comparisons, "", ""))
        used = ", ".join(f"{name} {count}" for name, count in sorted(self.exercised.items()))
        found = [f"{len(self.violations)} violations", *self.violations]
        return "\n".join([*lines, "", f"seed {self.seed}; exercised: {used}", *found])

    def assert_nothing_is_refuted(self):
        assert not self.violations, f"seed {self.seed}\n" + "\n".join(self.violations)


_HEADER = ("family", "evaluations", "E L/rS", "|ŷ−y|²/rS", "comparisons", "ΣE L/bound", "Ψ")
_LINE = "{:<22} {:>12} {:>8} {:>10} {:>12} {:>11}  {}"


def _show(value):
    """Every digit, so that a violation can be typed in again."""
    return repr(np.asarray(value).tolist())
