"""The bound that holds for what a predictor really did."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from osp_core.errors import GuaranteeError, InvalidInputError, as_nonnegative, as_positive
from osp_core.guarantees import Bound

if TYPE_CHECKING:
    from osp_core.online.predictor import OnlinePredictor


def bound_of_what_ran(
    predictor: OnlinePredictor, kind: str, *, norm_U: float, delta: float, path_length: float
) -> Bound:
    """Return the learner's bound for the run so far, or say why there is none."""
    learner, certificate, seen = predictor.learner, predictor.certificate, predictor.summary()
    norm_U, delta = as_nonnegative(norm_U, "norm_U"), as_positive(delta, "delta")
    path_length = as_nonnegative(path_length, "path_length")
    kinds: dict[str, Callable[[], Bound | None]] = {
        "expected": lambda: learner.bound(certificate, seen, norm_U),
        "high_probability": lambda: learner.high_probability_bound(certificate, seen, norm_U, delta),
        "online_to_batch": lambda: learner.online_to_batch_bound(certificate, seen, norm_U),
        "nonstationary": lambda: learner.nonstationary_bound(certificate, seen, norm_U, path_length),
    }
    if kind not in kinds:
        raise InvalidInputError(f"There is no guarantee of kind {kind!r}; there are: {', '.join(kinds)}.")
    if not seen.certified:
        raise GuaranteeError(
            "A round was decoded without a certificate: ν or the nearest output is not known on "
            f"{predictor.space!r}, or a context has worse constants than it. Give nu=… and nearest_vertex, "
            "or make the predictor with the worst instance."
        )
    with np.errstate(all="ignore"):  # a bound that overflows is refused, not warned of
        bound = kinds[kind]()
    if bound is None:
        better = "PolyakOGD(diameter=…)" if kind == "nonstationary" else "OGD()"
        raise GuaranteeError(f"No theorem of kind {kind!r} is known for {learner!r}; use {better}.")
    return bound
