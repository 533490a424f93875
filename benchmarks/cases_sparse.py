"""Sparse streams: 100 active features out of up to a million, next to the hashing of Vowpal Wabbit."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import Case, Fact, Row
from scipy.sparse import csr_matrix

import osp_core as osp

ACTIVE, CLASSES, SIZES = 100, 10, (10_000, 100_000, 1_000_000)


def cases(short: bool) -> Iterator[Case]:
    """`run` and `step` on the same rows; the weights are made outside, because that is not per round."""
    rounds = 200 if short else 1000
    for learner in ("ogd",) if short else ("ogd", "adaptive_ogd", "parameter_free", "polyak_ogd"):
        for size in (10_000, 1_000_000) if short else SIZES:
            yield _case(learner, size, rounds, "run")
    for size in (10_000, 1_000_000) if short else SIZES:
        yield _case("ogd", size, rounds, "step")


def facts(rows: list[Row], short: bool) -> Iterator[Fact]:
    """How the cost of a round grows with the number of features."""
    for primitive in dict.fromkeys(row.primitive for row in rows):
        seconds = {row.size: row.timings[0].seconds for row in rows if row.primitive == primitive}
        least, most = seconds.get(SIZES[0]), seconds.get(SIZES[-1])
        if least and most:
            yield Fact(f"{primitive}: cost at 1e6 features", most / least, "× that at 1e4", at_most=1.5)


def _case(learner: str, size: int, rounds: int, way: str) -> Case:
    rng = np.random.default_rng(size)
    columns = rng.integers(0, size, (rounds, ACTIVE))
    values = rng.standard_normal((rounds, ACTIVE))
    starts = np.arange(0, rounds * ACTIVE + 1, ACTIVE)
    matrix = csr_matrix((values.ravel(), columns.ravel(), starts), shape=(rounds, size))
    matrix.sum_duplicates()
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix.data /= np.repeat(lengths, np.diff(matrix.indptr))
    labels = rng.integers(0, CLASSES, rounds)
    parameters: dict[str, Any] = {"diameter": 20.0} if learner in ("adaptive_ogd", "polyak_ogd") else {}
    predictor = osp.OnlinePredictor(
        osp.make_space("simplex", d=CLASSES), size, learner=osp.make_learner(learner, **parameters), seed=0
    )
    listed = [matrix[i] for i in range(rounds)]

    def run() -> float:
        return float(np.mean(osp.run(predictor, matrix, labels).target_loss))

    def step() -> float:
        return float(
            np.mean([predictor.step(x, y).target_loss for x, y in zip(listed, labels.tolist(), strict=True)])
        )

    return Case(
        f"sparse {way}, simplex 10, {learner}",
        size,
        run if way == "run" else step,
        {"VW oaa, prebuilt": _vowpal_wabbit(matrix, labels)},
        lambda loss: 0.0 if 0.0 <= loss <= 1.0 else np.inf,
        0.0,
        {},
        units=rounds,
        exponent=0.0,
    )


def _vowpal_wabbit(matrix: Any, labels: Any) -> Callable[[], float] | str:
    if importlib.util.find_spec("vowpalwabbit") is None:
        return "not installed"
    from vowpalwabbit import pyvw

    # 2²² weights per class would be 335 MB; 2¹⁸ for all of them is its own choice.
    workspace = pyvw.Workspace(f"--oaa {CLASSES} --quiet")
    examples = []
    for i, y in enumerate(labels):
        row = slice(matrix.indptr[i], matrix.indptr[i + 1])
        pairs = zip(matrix.indices[row], matrix.data[row], strict=True)
        line = f"{y + 1} | " + " ".join(f"{j}:{value:.8g}" for j, value in pairs)
        examples.append(workspace.parse(line, pyvw.LabelType.MULTICLASS))
    truth = (labels + 1).tolist()

    def stream() -> float:
        mistakes = 0
        for example, y in zip(examples, truth, strict=True):
            mistakes += workspace.predict(example) != y
            workspace.learn(example)
        return mistakes / len(truth)

    return stream
