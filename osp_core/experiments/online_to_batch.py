"""Online-to-batch conversion: the risk of the averaged weights, [SBTO24, Thm 11 and App. F.2]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from osp_core.errors import Array
from osp_core.experiments.drawing import common_legend, log_axes
from osp_core.experiments.result import Row
from osp_core.online.comparator import best_comparator
from osp_core.online.predictor import OnlinePredictor, run
from osp_core.online.streams import Stream
from osp_core.registry.registry import make_space, make_stream

N_FEATURES = 5


def rows(*, quick: bool, seed: int) -> Iterator[Row]:
    """One row per stream and T: the risk of W̄ on fresh data beside E S(Ux; y) + bound/T."""
    horizon = (25, 100) if quick else (30, 100, 300, 1000, 3000)
    seeds = range(seed, seed + (2 if quick else 8))
    space, fresh = make_space("hypercube", d=4), 300 if quick else 2000
    options: dict[str, dict[str, Any]] = {
        "separable": {"least_margin": 0.05},
        "linear_teacher": {"noise": 0.3},
    }
    for name, more in options.items():
        for T in horizon:
            results = [
                _risk(
                    make_stream(name, space=space, rounds=T + fresh, n_features=N_FEATURES, seed=one, **more),
                    T,
                )
                for one in seeds
            ]
            risk, surrogate, bound = np.mean(results, axis=0)
            yield {
                "stream": name,
                "rounds": T,
                "risk": float(risk),
                "comparator_risk": float(surrogate),
                "bound": float(bound),
                "holds": bool(risk <= surrogate + bound),
            }


def _risk(stream: Stream, T: int) -> tuple[float, float, float]:
    X, Y = stream.arrays()
    predictor = OnlinePredictor(stream.space, stream.n_features)
    run(predictor, X[:T], Y[:T])
    average, certificate = predictor.average_weights, predictor.certificate
    # A comparator must not depend on the fresh data: the construction gives one, or the data before it.
    U = stream.comparator
    if U is None:
        U = best_comparator(stream.space, X[:T], Y[:T], certificate).weights
    risk = np.mean([_expected_loss(predictor, average @ x, y) for x, y in zip(X[T:], Y[T:], strict=True)])
    values, _ = certificate.loss.values_and_gradients(X[T:] @ U.T, np.array(Y[T:]))
    bound = predictor.guarantee("online_to_batch", norm_U=float(np.linalg.norm(U)))
    return float(risk), float(values.mean()), bound.value


def _expected_loss(predictor: OnlinePredictor, theta: Array, y: Array) -> float:
    return predictor.decoder.law(predictor.space.predict(theta)).expected_loss(predictor.target, y)


def draw(figure: Any, rows: Sequence[Row]) -> None:
    """The risk and what it is promised to stay below, over T."""
    panels = figure.subplots(1, 2)
    for panel, name in zip(panels, dict.fromkeys(row["stream"] for row in rows), strict=True):
        mine = [row for row in rows if row["stream"] == name]
        T = [row["rounds"] for row in mine]
        promised = [row["comparator_risk"] + row["bound"] for row in mine]
        panel.plot(T, promised, "k--", label="promised: risk of U + bound/T")
        panel.plot(T, [row["risk"] for row in mine], "o-", label="risk of the average W̄ on fresh data")
        panel.set(title=name.replace("_", " "), xlabel="rounds T", ylabel="expected loss of one play")
        log_axes(panel)
    common_legend(figure, panels[0], 2)
