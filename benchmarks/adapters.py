"""Rounds per second of the native API and of the river adapter, next to river on the same streams.

One round is a prediction before learning. Contestants take turns, because ratios are what counts and the
machine may be shared: ``python benchmarks/adapters.py [repeats]``.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness  # noqa: F401 — one thread, set before numpy is imported
import numpy as np
from river import linear_model, multiclass, preprocessing
from river.datasets import ImageSegments
from sklearn.datasets import load_digits

import osp_core as osp
from osp_core.adapters import river as adapters
from osp_core.adapters._scaling import StandardScaling

RESULTS = Path(__file__).parent / "results"


def main(repeats: int = 5) -> None:
    pixels, digits = load_digits(return_X_y=True)
    streams = {
        "digits": [
            ({f"p{i}": float(v) for i, v in enumerate(row)}, int(y))
            for row, y in zip(pixels, digits, strict=True)
        ],
        "ImageSegments": list(ImageSegments()),
    }
    report = {name: measure(rounds, repeats) for name, rounds in streams.items()}
    for name, rows in report.items():
        best = max(
            (row for who, row in rows.items() if who.startswith("river ")), key=lambda row: row["accuracy"]
        )
        print(f"\n{name}: the most accurate river model makes {best['rounds_per_second']:.0f} rounds/s")
        for who, row in rows.items():
            ratio = row["rounds_per_second"] / best["rounds_per_second"]
            print(
                f"  {who:42s} {row['rounds_per_second']:9.0f} rounds/s  {ratio:5.2f}×  {row['accuracy']:.4f}"
            )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "adapters.json").write_text(json.dumps(report, indent=1) + "\n")


def measure(rounds: list[tuple[Any, Any]], repeats: int) -> dict[str, dict[str, float]]:
    """The median speed and the accuracy of every contestant, taking turns."""
    contestants: dict[str, Callable[[], float]] = {
        "OnlinePredictor.step, scaled beforehand": native(rounds),
        "OnlineClassifier of the river adapter": lambda: stream(adapters.OnlineClassifier(), rounds),
        "river StandardScaler | SoftmaxRegression": lambda: stream(
            preprocessing.StandardScaler() | linear_model.SoftmaxRegression(), rounds
        ),
        "river StandardScaler | one-vs-rest PA": lambda: stream(
            preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.PAClassifier()),
            rounds,
        ),
    }
    times: dict[str, list[float]] = {who: [] for who in contestants}
    accuracy = {who: contestant() for who, contestant in contestants.items()}  # also warms up
    for _ in range(repeats):
        for who, contestant in contestants.items():
            begin = time.process_time()
            contestant()
            times[who].append(time.process_time() - begin)
    return {
        who: {"rounds_per_second": len(rounds) / statistics.median(times[who]), "accuracy": accuracy[who]}
        for who in contestants
    }


def stream(model: Any, rounds: list[tuple[Any, Any]]) -> float:
    hits = 0
    for x, y in rounds:
        hits += model.predict_one(x) == y
        model.learn_one(x, y)
    return hits / len(rounds)


def native(rounds: list[tuple[Any, Any]]) -> Callable[[], float]:
    scaling, scaled = StandardScaling(len(rounds[0][0])), []
    for x, y in rounds:
        row = np.array(list(x.values()), dtype=np.float64)
        scaling.observe(row)
        scaled.append((scaling.row(row), y))
    space = osp.make_space("simplex", classes=sorted({y for _, y in rounds}))

    def run() -> float:
        learner = osp.PolyakOGD(1000.0)
        predictor, hits = osp.OnlinePredictor(space, len(scaled[0][0]), learner=learner, seed=0), 0
        for x, y in scaled:
            hits += predictor.step(x, y).predicted == y
        return hits / len(scaled)

    return run


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
