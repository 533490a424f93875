"""Which rows a run has learned, so that it goes on from those and from no others."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator

from osp_core.errors import Array
from osp_core.runs.tables import Table


class Learned:
    """A running digest (BLAKE2) of the rounds of a table.

    It is taken of the numbers that the learner gets and of the outputs that the labels name: the same rows in
    another format, with columns in another order or with other delimiters, have the same digest.
    """

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, x: Array, y: Array) -> None:
        """Take note of a round that was learned."""
        for part in (x, y):
            # −0.0 is the same number as 0.0, in other bytes; so is any number on a big-endian machine.
            self._hash.update((part + 0.0).astype("<f8", copy=False).tobytes())

    @property
    def digest(self) -> str:
        """The digest of all rounds so far, in hexadecimal."""
        return self._hash.hexdigest()

    def skip(self, rounds: Iterator[tuple[Array, Array]], count: int, digest: str, table: Table) -> None:
        """Pass over rounds that were learned before; raise DataError unless they have this digest."""
        found = 0
        for x, y in itertools.islice(rounds, count):
            self.add(x, y)
            found += 1
        if count == 0 or (found == count and self.digest == digest):
            return
        change = "they are not the same any more" if found == count else f"there are {found}"
        raise table.error(
            None,
            f"this run has learned the {count} rows at the beginning, but {change}. Restore them (rows may "
            "be added at the end), or start a run in another directory.",
        )
