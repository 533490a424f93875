"""The loop over a stream: step after step, with a trace, checkpoints and the number of a bad round."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from osp_core.errors import InvalidInputError, OspError, as_count
from osp_core.online.progress import progress_bar
from osp_core.online.records import Round
from osp_core.online.streams import Stream
from osp_core.online.trace import Trace

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor

CHUNK = 1000  # rounds between two looks at the progress bar


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

    def save(rounds: int) -> None:
        if checkpoint is not None and (rounds % every == 0 or rounds == -1):
            predictor.save(checkpoint)

    total = _length(X, Y)
    if callback is None and _in_chunks(X, Y) and predictor.compiled is not None:
        chunks = _learn_chunks(predictor, X, Y, trace, every)
        thousands = -(-(total or 0) // CHUNK)
        for rounds in progress_bar(chunks, thousands, enabled=progress, description="thousands of rounds"):
            save(rounds)
    else:
        pairs = progress_bar(_pairs(predictor, X, Y), total, enabled=progress)
        for number, (x, y) in enumerate(pairs, start=1):
            record = _numbered_step(predictor, number, x, y)
            trace.append(record)
            if callback is not None:
                callback(number, record)
            save(number)
    save(-1)
    return trace


def _learn_chunks(predictor: OnlinePredictor, X: Any, Y: Any, trace: Trace, every: int) -> Iterator[int]:
    """Learn in compiled code, chunk by chunk; yield the rounds so far, each multiple of `every` too."""
    done, total = 0, min(X.shape[0], len(Y))
    while done < total:
        stop = min(total, done + CHUNK, (done // every + 1) * every)
        table = predictor.learn_many(X[done:stop], Y[done:stop])
        trace.extend(table)
        done += len(table)
        if done < stop:  # a round that is bad, or not for compiled code
            x = X[done] if isinstance(X, np.ndarray) else X[done : done + 1]
            trace.append(_numbered_step(predictor, done + 1, x, Y[done]))
            done += 1
        yield done
    if X.shape[0] != len(Y):
        raise _unequal("X" if X.shape[0] < len(Y) else "Y")


def _in_chunks(X: Any, Y: Any) -> bool:
    """Whether X and Y can be cut into chunks of rows."""
    array = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray)
    matrix = array or getattr(X, "format", None) == "csr"
    return matrix and X.ndim == 2 and isinstance(Y, list | tuple | np.ndarray)


def _numbered_step(predictor: OnlinePredictor, number: int, x: Any, y: Any) -> Round:
    try:
        return predictor.step(x, y)
    except OspError as error:
        error.args = (f"Round {number}: {error}", *error.args[1:])
        raise


def _pairs(predictor: OnlinePredictor, X: Any, Y: Iterable[Any] | None) -> Iterator[tuple[Any, Any]]:
    if Y is None:
        yield from X.against(predictor) if isinstance(X, Stream) else X
        return
    rows = (X[i : i + 1] for i in range(X.shape[0])) if hasattr(X, "tocsr") else iter(X)
    missing = object()
    for x, y in itertools.zip_longest(rows, Y, fillvalue=missing):
        if x is missing or y is missing:
            raise _unequal("X" if x is missing else "Y")
        yield x, y


def _unequal(shorter: str) -> InvalidInputError:
    longer = "Y" if shorter == "X" else "X"
    return InvalidInputError(f"{shorter} ends before {longer}; there must be one y for every x.")


def _length(X: Any, Y: Any) -> int | None:
    if not hasattr(X, "__iter__"):
        raise InvalidInputError(f"X must be an array or an iterable of inputs, got {X!r}.")
    for sized in (Y, X):
        if hasattr(sized, "__len__") or hasattr(sized, "shape"):
            return int(sized.shape[0]) if hasattr(sized, "shape") else len(sized)
    return None
