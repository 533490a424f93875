"""Progress bars: rich where it is installed, a plain counter otherwise, silence when nobody looks."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


def progress_bar(
    items: Iterable[Item], total: int | None, *, enabled: bool = True, description: str = "rounds"
) -> Iterable[Item]:
    """Yield the items, showing how far it is on standard error if that is a terminal."""
    if not enabled or not sys.stderr.isatty():
        return items
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        return _counted(items, total, description)
    return track(items, description=description, total=total, console=Console(stderr=True), transient=True)


def _counted(items: Iterable[Item], total: int | None, description: str) -> Iterator[Item]:
    every = max(1, (total or 100_000) // 100)
    for number, item in enumerate(items, start=1):
        yield item
        if number % every == 0:
            print(
                f"\r{description} {number}{f'/{total}' if total else ''}", end="", file=sys.stderr, flush=True
            )
    print(file=sys.stderr)


@contextmanager
def live_progress(total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that moves the bar one step and says where it is: for work made of several loops."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        with _counter(total) as advance:
            yield advance
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda text: bar.update(task, advance=1, description=text)


@contextmanager
def _counter(total: int) -> Iterator[Callable[[str], None]]:
    done, every = itertools.count(1), max(1, total // 200)

    def advance(text: str) -> None:
        number = next(done)
        if number % every == 0:
            print(f"\r{number}/{total} {text:<70}", end="", file=sys.stderr, flush=True)

    yield advance
    print(file=sys.stderr)
