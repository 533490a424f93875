"""The loop over a stream: step after step, with a trace, checkpoints and the number of a bad round."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from osp_core.errors import InvalidInputError, OspError, as_count
from osp_core.progress import progress_bar
from osp_core.rounds import Round
from osp_core.streams import Stream
from osp_core.trace import Trace

if TYPE_CHECKING:
    from osp_core.protocol import OnlinePredictor


def run(
    predictor: OnlinePredictor,
    X: Any,
    Y: Iterable[Any] | None = None,
    *,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 1000,
    callback: Callable[[int, Round], None] | None = None,
) -> Trace:
    """Step through a stream and return its trace.

    Parameters
    ----------
    predictor : OnlinePredictor
    X : array, sparse matrix, Stream or iterable
        Inputs; or, without Y, a stream or an iterable of (x, y) pairs, which may be a generator. A stream may
        look at the predictor before it chooses y: see `Stream.against`.
    Y : iterable, optional
        Outputs, as vertices or labels.
    progress : bool
        Show a progress bar on standard error.
    checkpoint : path, optional
        Save the predictor here every `checkpoint_every` rounds and at the end, atomically.
    checkpoint_every : int
    callback : callable, optional
        Called with the number of the round (from 1) and its `Round`.

    Raises
    ------
    OspError
        When a round is bad; the message has its number, and the predictor is as it was before it.
    """
    trace, every = Trace(), as_count(checkpoint_every, "checkpoint_every")
    total = _length(X, Y)
    for number, (x, y) in enumerate(progress_bar(_pairs(predictor, X, Y), total, enabled=progress), start=1):
        try:
            record = predictor.step(x, y)
        except OspError as error:
            error.args = (f"Round {number}: {error}", *error.args[1:])
            raise
        trace.append(record)
        if callback is not None:
            callback(number, record)
        if checkpoint is not None and number % every == 0:
            predictor.save(checkpoint)
    if checkpoint is not None:
        predictor.save(checkpoint)
    return trace


def _pairs(predictor: OnlinePredictor, X: Any, Y: Iterable[Any] | None) -> Iterator[tuple[Any, Any]]:
    if Y is None:
        yield from X.against(predictor) if isinstance(X, Stream) else X
        return
    rows = (X[i : i + 1] for i in range(X.shape[0])) if hasattr(X, "tocsr") else iter(X)
    missing = object()
    for x, y in itertools.zip_longest(rows, Y, fillvalue=missing):
        if x is missing or y is missing:
            shorter, longer = ("X", "Y") if x is missing else ("Y", "X")
            raise InvalidInputError(f"{shorter} ends before {longer}; there must be one y for every x.")
        yield x, y


def _length(X: Any, Y: Any) -> int | None:
    if not hasattr(X, "__iter__"):
        raise InvalidInputError(f"X must be an array or an iterable of inputs, got {X!r}.")
    for sized in (Y, X):
        if hasattr(sized, "__len__") or hasattr(sized, "shape"):
            return int(sized.shape[0]) if hasattr(sized, "shape") else len(sized)
    return None
