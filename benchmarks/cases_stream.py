"""Multiclass streams: one round is a prediction before learning; all contestants see the same rows.

Examples of Vowpal Wabbit are parsed beforehand, except for "strings". Its error is that of the best of three
settings. Ours is that of y*, the class a deterministic learner would name.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import Case, Fact, Row, seconds_of
from numpy.typing import NDArray

import osp_core as osp

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Peers = dict[str, Callable[[], float] | str]
CLASSES = 10
VW_SETTINGS = {
    "VW oaa, prebuilt": "--oaa 10",
    "VW csoaa, prebuilt": "--csoaa 10",
    "VW oaa logistic, prebuilt": "--oaa 10 --loss_function logistic",
}


def cases(short: bool) -> Iterator[Case]:
    """Digits, round by round and as a whole."""
    rows, labels = digits()
    for name, ours, over_vw, over_river in (("step", _step, 1.0, 20.0), ("run", _run, 3.0, 50.0)):
        yield Case(
            f"digits stream, {name}",
            len(rows),
            ours(rows, labels),
            {**_vowpal_wabbit(rows, labels), **_river(rows, labels, short)},
            lambda error: error,
            0.5,
            {**dict.fromkeys(VW_SETTINGS, over_vw), "VW strings": over_vw, "river": over_river},
            units=len(rows),
        )


def facts(rows: list[Row], short: bool) -> Iterator[Fact]:
    """Rounds per second, errors, and a thousand rounds of ranking."""
    for row in rows:
        if seconds := row.timings[0].seconds:
            yield Fact(
                row.primitive, 1.0 / seconds, "rounds/s", note="aim: 1e6" if "run" in row.primitive else ""
            )
    if rows:
        errors = {timing.who: timing.error for timing in rows[-1].timings if timing.error is not None}
        best = min((error for who, error in errors.items() if who.startswith("VW")), default=None)
        note = ", ".join(f"{who} {error:.4f}" for who, error in errors.items() if who != "ours")
        yield Fact("digits stream, online error", errors.get("ours", np.nan), "", at_most=best, note=note)
    yield Fact("1000 rounds of ranking 10 items, 64 features", ranking_seconds(), "s", at_most=0.5)


def digits() -> tuple[Array, Labels]:
    """The digits, standardised by what came before, with a constant feature, in rows of length 1."""
    from sklearn.datasets import load_digits

    from osp_core.adapters._scaling import StandardScaling

    pixels, labels = load_digits(return_X_y=True)
    scaling, rows = StandardScaling(pixels.shape[1]), []
    for row in pixels:
        scaling.observe(row)
        rows.append(scaling.row(row))
    return np.array(rows), labels.astype(np.int64)


def ranking_seconds(rounds: int = 1000) -> float:
    """Seconds for learning to rank ten items from 64 features."""
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((rounds, 64))
    inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    space = osp.make_space("birkhoff", n=10)
    scores = inputs @ rng.standard_normal((64, 100)) * 3.0
    rankings = [space.lmo(-row) for row in scores]
    return seconds_of(lambda: osp.run(osp.OnlinePredictor(space, 64, seed=0), inputs, rankings), 3)


def _predictor(n_features: int) -> osp.OnlinePredictor:
    space = osp.make_space("simplex", d=CLASSES)
    return osp.OnlinePredictor(space, n_features, learner=osp.PolyakOGD(1000.0), seed=0)


def _step(rows: Array, labels: Labels) -> Callable[[], float]:
    listed = labels.tolist()

    def stream() -> float:
        step, mistakes = _predictor(rows.shape[1]).step, 0
        for x, y in zip(rows, listed, strict=True):
            mistakes += step(x, y).nearest.item(y) == 0.0
        return float(mistakes / len(listed))

    return stream


def _run(rows: Array, labels: Labels) -> Callable[[], float]:
    # The trace of a run has no y*. It must be the trace of the same steps, whose y* are known.
    predictor = _predictor(rows.shape[1])
    records = [predictor.step(x, y) for x, y in zip(rows, labels.tolist(), strict=True)]
    expected = np.array([record.expected_loss for record in records])
    mistakes = float(np.mean([record.nearest[y] == 0.0 for record, y in zip(records, labels, strict=True)]))

    def stream() -> float:
        trace = osp.run(_predictor(rows.shape[1]), rows, labels)
        return mistakes if np.abs(trace.expected_loss - expected).max() < 1e-9 else np.inf

    return stream


def _vowpal_wabbit(rows: Array, labels: Labels) -> Peers:
    if importlib.util.find_spec("vowpalwabbit") is None:
        return dict.fromkeys(VW_SETTINGS, "not installed")
    peers: Peers = {who: _vw_prebuilt(options, rows, labels) for who, options in VW_SETTINGS.items()}
    peers["VW strings"] = _vw_strings(rows, labels)
    return peers


def _vw_prebuilt(options: str, rows: Array, labels: Labels) -> Callable[[], float]:
    from vowpalwabbit import pyvw

    workspace = pyvw.Workspace(f"{options} --quiet")
    cost_sensitive = "csoaa" in options
    kind = pyvw.LabelType.COST_SENSITIVE if cost_sensitive else pyvw.LabelType.MULTICLASS
    lines = _lines(rows, labels, cost_sensitive)
    parsed = [workspace.parse(line, kind) for line in lines]
    examples = [example[0] if isinstance(example, list) else example for example in parsed]
    truth = (labels + 1).tolist()

    def stream() -> float:
        mistakes = 0
        predict, learn = workspace.predict, workspace.learn
        for example, y in zip(examples, truth, strict=True):
            mistakes += predict(example) != y
            learn(example)
        return mistakes / len(truth)

    return stream


def _vw_strings(rows: Array, labels: Labels) -> Callable[[], float]:
    from vowpalwabbit import pyvw

    workspace = pyvw.Workspace("--oaa 10 --quiet")
    lines, truth = _lines(rows, labels, False), (labels + 1).tolist()

    def stream() -> float:
        mistakes = 0
        for line, y in zip(lines, truth, strict=True):
            mistakes += workspace.predict(line) != y
            workspace.learn(line)
        return mistakes / len(truth)

    return stream


def _lines(rows: Array, labels: Labels, cost_sensitive: bool) -> list[str]:
    features = [" ".join(f"{j}:{value:.8g}" for j, value in enumerate(row) if value) for row in rows]
    if cost_sensitive:
        costs = [" ".join(f"{c + 1}:{float(c != y)}" for c in range(CLASSES)) for y in labels]
    else:
        costs = [str(y + 1) for y in labels]
    return [f"{cost} | {text}" for cost, text in zip(costs, features, strict=True)]


def _river(rows: Array, labels: Labels, short: bool) -> Peers:
    if importlib.util.find_spec("river") is None:
        return {"river": "not installed"}
    from river import linear_model, multiclass

    count = 300 if short else len(rows)
    stream = [
        (dict(enumerate(row)), y)
        for row, y in zip(rows[:count].tolist(), labels[:count].tolist(), strict=True)
    ]
    repeats = len(rows) // count  # so that one call handles about as many rounds as those of the others

    def race(make: Callable[[], Any]) -> Callable[[], float]:
        def run() -> float:
            for _ in range(repeats):
                model, mistakes = make(), 0
                for x, y in stream:
                    mistakes += model.predict_one(x) != y
                    model.learn_one(x, y)
            return mistakes / count

        return run

    return {
        "river, softmax regression": race(linear_model.SoftmaxRegression),
        "river, one-vs-rest PA": race(lambda: multiclass.OneVsRestClassifier(linear_model.PAClassifier())),
    }
