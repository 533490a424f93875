"""Two ways to store vertices: rows of a dense matrix, or the positions of the ones of 0/1 vectors."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from osp_core import kernels
from osp_core.errors import Array

GRID = 1e-9
"""Vertices that agree after rounding to this grid are one and the same atom."""

_DENSE_ENTRIES = 1_000_000  # matrices up to this size are returned dense: that is faster to read


class Atoms(Protocol):
    """An ordered list of vertices, with the linear algebra the methods need.

    Inner products are taken relative to `origin`, so that vertices far from zero lose no digits;
    every method compares vertices with one another, which no common origin can change.
    """

    dim: int
    origin: Array

    def __len__(self) -> int: ...

    def key(self, vertex: Array) -> bytes | None:
        """Return a key that is equal for equal vertices, or None for one that cannot be stored here."""

    def append(self, vertex: Array, key: bytes) -> None:
        """Add a vertex with its key."""

    def delete(self, index: int) -> None: ...

    def products(self, vector: Array) -> Array:
        """Return ⟨vector, vᵢ − origin⟩ for every atom."""

    def slopes(self, gradient: Array) -> Array:
        """Return the products with a gradient, which may have large entries, up to a common constant."""

    def combine(self, weights: Array) -> Array:
        """Return Σ wᵢ (vᵢ − origin)."""

    def gram(self) -> Array:
        """Return the matrix of ⟨vᵢ − origin, vⱼ − origin⟩."""

    def dense(self, index: int) -> Array:
        """Return one atom as a fresh vector."""

    def matrix(self) -> Any:
        """Return the atoms as rows, in the most compact form."""


class IndexAtoms:
    """Vertices in {0, 1}^d, kept as the sorted positions of their ones."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.origin: Array = np.zeros(dim)
        self._starts: NDArray[np.int64] = np.zeros(9, dtype=np.int64)
        self._indices: NDArray[np.int32] = np.empty(8, dtype=np.int32)
        self._count = 0

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name != "_kernels"
        }  # no copy of a module

    @cached_property
    def _kernels(self) -> Any:
        return kernels.load("osp_core.frank_wolfe")

    def __len__(self) -> int:
        return self._count

    def key(self, vertex: Array) -> bytes | None:
        ones = vertex.nonzero()[0]
        return ones.astype(np.int32).tobytes() if (vertex[ones] == 1.0).all() else None

    def append(self, vertex: Array, key: bytes) -> None:
        ones = np.frombuffer(key, dtype=np.int32)
        begin = self._starts[self._count]
        end = begin + ones.size
        self._starts = with_room(self._starts, self._count + 2)
        self._indices = with_room(self._indices, end)
        self._indices[begin:end] = ones
        self._count += 1
        self._starts[self._count] = end

    def delete(self, index: int) -> None:
        begin, end, last = self._starts[index], self._starts[index + 1], self._starts[self._count]
        self._indices[begin : last - (end - begin)] = self._indices[end:last]
        self._starts[index : self._count] = self._starts[index + 1 : self._count + 1] - (end - begin)
        self._count -= 1

    def products(self, vector: Array) -> Array:
        result: Array = self._kernels.atom_products(self._used(), self._bounds(), vector)
        return result

    def slopes(self, gradient: Array) -> Array:
        result: Array = self._kernels.atom_slopes(self._used(), self._bounds(), gradient)
        return result

    def combine(self, weights: Array) -> Array:
        result: Array = self._kernels.atom_combination(self._used(), self._bounds(), weights, self.dim)
        return result

    def gram(self) -> Array:
        rows = self.matrix()
        product = rows @ rows.T
        dense: Array = product if isinstance(product, np.ndarray) else product.toarray()
        return dense

    def dense(self, index: int) -> Array:
        vertex = np.zeros(self.dim)
        vertex[self._indices[self._starts[index] : self._starts[index + 1]]] = 1.0
        return vertex

    def matrix(self) -> Any:
        if self._count * self.dim <= _DENSE_ENTRIES:
            return np.array([self.dense(index) for index in range(self._count)])
        from scipy.sparse import csr_matrix

        used = self._used().copy()
        return csr_matrix((np.ones(used.size), used, self._bounds().copy()), shape=(self._count, self.dim))

    def _used(self) -> NDArray[np.int32]:
        return self._indices[: self._starts[self._count]]

    def _bounds(self) -> NDArray[np.int64]:
        return self._starts[: self._count + 1]


class DenseAtoms:
    """Any vertices, kept as the rows of a matrix, and once more relative to the first of them.

    Twice, because subtracting and adding the origin again would lose the last bit.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.origin: Array = np.zeros(dim)
        self._vertices: Array = np.empty((8, dim))
        self._rows: Array = np.empty((8, dim))
        self._anchored = False  # the origin stays where it is even when all atoms go
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def key(self, vertex: Array) -> bytes:
        # Adding 0.0 turns −0.0 into 0.0, whose bytes differ.
        return (np.round(vertex / GRID) + 0.0).tobytes()

    def append(self, vertex: Array, key: bytes) -> None:
        if not self._anchored:
            self.origin, self._anchored = vertex.copy(), True
        self._vertices = with_room(self._vertices, self._count + 1)
        self._rows = with_room(self._rows, self._count + 1)
        self._vertices[self._count] = vertex
        np.subtract(vertex, self.origin, out=self._rows[self._count])
        self._count += 1

    def delete(self, index: int) -> None:
        for rows in (self._vertices, self._rows):
            rows[index : self._count - 1] = rows[index + 1 : self._count]
        self._count -= 1

    def products(self, vector: Array) -> Array:
        return self._rows[: self._count] @ vector

    def slopes(self, gradient: Array) -> Array:
        return self.products(gradient)

    def combine(self, weights: Array) -> Array:
        return weights @ self._rows[: self._count]

    def gram(self) -> Array:
        rows = self._rows[: self._count]
        return rows @ rows.T

    def dense(self, index: int) -> Array:
        vertex: Array = self._vertices[index].copy()
        return vertex

    def matrix(self) -> Any:
        return self._vertices[: self._count].copy()


def is_zero_one(vertex: Array) -> bool:
    """Whether every entry is exactly 0 or 1."""
    return bool(((vertex == 0.0) | (vertex == 1.0)).all())


def with_room(buffer: Any, size: int) -> Any:
    """Return `buffer`, or a copy at least twice as long when it holds fewer than `size` rows."""
    if size <= buffer.shape[0]:
        return buffer
    larger = np.empty((max(size, 2 * buffer.shape[0]), *buffer.shape[1:]), dtype=buffer.dtype)
    larger[: buffer.shape[0]] = buffer
    return larger
