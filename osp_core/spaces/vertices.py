"""Spaces given as a list of their outputs, and spaces given as nothing but a linear oracle."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import (
    Array,
    InvalidInputError,
    NotAVertexError,
    as_rows,
)
from osp_core.regularizers import Regularizer
from osp_core.spaces.base import OutputSpace
from osp_core.spaces.derived import derived
from osp_core.spaces.label_names import as_names, place_of
from osp_core.targets import AffineLoss, hamming


class Vertices(OutputSpace):
    """An explicit list of outputs: every oracle and constant by enumeration.

    Parameters
    ----------
    array : array of shape (k, d)
        The outputs, one a row; repeated rows are merged.
    labels : sequence, optional
        What a person calls each row; the row numbers otherwise.
    extreme_only : bool
        Drop the rows that are convex combinations of the others. They are legitimate outputs, but no
        linear oracle ever returns them.
    psi, norm
        As for every space.
    """

    def __init__(
        self,
        array: ArrayLike,
        *,
        labels: Sequence[Hashable] | None = None,
        extreme_only: bool = False,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        rows = as_rows(array, None, "The array that vertices needs")
        if not rows.size:
            raise InvalidInputError(
                f"The array that vertices needs must not be empty, got shape {rows.shape}."
            )
        names = list(range(len(rows))) if labels is None else as_names(labels, "labels of vertices")
        if len(names) != len(rows):
            raise InvalidInputError(
                f"vertices needs one distinct label per row: {len(names)} labels, {len(rows)} rows."
            )
        if not isinstance(extreme_only, bool):
            raise InvalidInputError(f"extreme_only must be True or False, got {extreme_only!r}.")
        rows = rows + 0.0  # −0.0 and 0.0 are one value
        _, keep = np.unique(rows, axis=0, return_index=True)
        keep = np.sort(keep)
        if extreme_only:
            keep = keep[_extreme_rows(rows[keep])]
        self._vertices, self._labels = rows[keep], [names[i] for i in keep]
        self._vertices.setflags(write=False)
        self._row_of_label = {label: row for row, label in enumerate(self._labels)}
        self._row_of_vertex = {vertex.tobytes(): row for row, vertex in enumerate(self._vertices)}
        self.dim = rows.shape[1]
        self.zero_one = bool(((self._vertices == 0) | (self._vertices == 1)).all())

    def __repr__(self) -> str:
        return f"Vertices({len(self._vertices)} outputs, dim={self.dim})"

    def vertices(self) -> Array:
        return self._vertices

    def lmo(self, cost: Array) -> Array:
        return _best_row(self._vertices, cost)

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64) + 0.0
        return vector.shape == (self.dim,) and vector.tobytes() in self._row_of_vertex

    def from_label(self, label: Any) -> Array:
        if (row := place_of(label, self._row_of_label, self._labels)) is not None:
            return np.array(self._vertices[row])
        if isinstance(label, np.ndarray):
            return super().from_label(label)
        raise NotAVertexError(f"{label!r} is no label of {self!r}; the labels are {_abridged(self._labels)}.")

    def to_label(self, vertex: Array) -> Any:
        key = (np.asarray(vertex, dtype=np.float64) + 0.0).tobytes()
        if key not in self._row_of_vertex:
            raise NotAVertexError(f"{np.array2string(vertex, threshold=12)} is not an output of {self!r}.")
        return self._labels[self._row_of_vertex[key]]

    def diameter_in(self, p: float) -> float:
        if len(self._vertices) > 2000:  # all pairs would be too many; the box is safe
            return super().diameter_in(p)
        norms = (np.linalg.norm(self._vertices - vertex, ord=p, axis=1).max() for vertex in self._vertices)
        return float(max(norms))

    @derived
    def _box(self) -> tuple[Array, Array]:
        return self._vertices.min(axis=0), self._vertices.max(axis=0)

    def target_loss(self) -> AffineLoss:
        return hamming if self.zero_one else super().target_loss()

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        triangle = cls([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
        paths = cls([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]], labels=["upper", "lower", "mixed"])
        return (triangle, paths, cls([[2.0, 3.0]]))


def _extreme_rows(rows: Array) -> Array:
    """Indices of the rows that are no convex combination of the others."""
    from osp_core.frank_wolfe import Quadratic, minimize

    keep = list(range(len(rows)))
    for row in range(len(rows)):
        others = rows[[other for other in keep if other != row]]
        if not len(others):
            continue
        nearest = minimize(partial(_best_row, others), Quadratic(rows[row]))
        if np.linalg.norm(nearest.point - rows[row]) <= 1e-9 * (1.0 + np.abs(rows[row]).max()):
            keep.remove(row)
    return np.array(keep)


def _best_row(rows: Array, cost: Array) -> Array:
    return np.array(rows[np.argmin(rows @ cost)])


def _abridged(labels: Sequence[Hashable], most: int = 8) -> str:
    shown = ", ".join(repr(label) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown}, … ({len(labels)} in all)"
