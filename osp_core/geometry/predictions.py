"""Regularised predictions ŷ, each with its certificate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from osp_core.errors import Array
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.status import Status


@dataclass(frozen=True, eq=False, init=False)
class Prediction:
    """A point ŷ of conv(Y) with the Frank–Wolfe gap that certifies it.

    Attributes
    ----------
    point : array
        ŷ, always feasible.
    combination : ConvexCombination or None
        Vertices whose mean is `point`, when the algorithm that found ŷ found them too.
    gap : float
        max_v ⟨∇f(ŷ), ŷ − v⟩ for f = Ψ − ⟨θ, ·⟩; 0 for a closed form.
    status : Status
        How the computation ended.
    lmo_calls : int
        Calls of the linear oracle that were spent.
    """

    point: Array
    combination: ConvexCombination | None = None
    gap: float = 0.0
    status: Status = Status.EXACT
    lmo_calls: int = 0

    def __init__(
        self,
        point: Array,
        combination: ConvexCombination | None = None,
        gap: float = 0.0,
        status: Status = Status.EXACT,
        lmo_calls: int = 0,
    ) -> None:
        # Written out: the generated one takes a fifth of the time of a small projection.
        own = self.__dict__
        own["point"], own["combination"], own["gap"] = point, combination, gap
        own["status"], own["lmo_calls"] = status, lmo_calls


@dataclass(frozen=True, eq=False)
class Predictions:
    """A batch of predictions: `point` has one ŷ a row, `gap` one certificate a row."""

    point: Array
    gap: Array
    single: tuple[Prediction, ...] = ()
    """The predictions one by one, when they carry more than a point (combinations, status)."""

    @classmethod
    def exact(cls, points: Array) -> Predictions:
        """Points found in closed form: all gaps are 0."""
        return cls(points, np.zeros(len(points)))

    @classmethod
    def gather(cls, predictions: Iterable[Prediction], dim: int) -> Predictions:
        """Stack predictions that were made one at a time."""
        single = tuple(predictions)
        points = np.array([one.point for one in single]).reshape(len(single), dim)
        return cls(points, np.array([one.gap for one in single], dtype=np.float64), single)

    def __len__(self) -> int:
        return len(self.point)

    def __getitem__(self, index: int) -> Prediction:
        if self.single:
            return self.single[index]
        status = Status.EXACT if self.gap[index] == 0.0 else Status.OPTIMAL
        return Prediction(self.point[index], gap=float(self.gap[index]), status=status)

    def __iter__(self) -> Iterator[Prediction]:
        return (self[index] for index in range(len(self)))
