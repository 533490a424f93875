"""Inputs of any size, brought to norm at most 1: the theory asks for ‖x‖ ≤ C in every round.

What a round sees may depend on all inputs so far, its own included, because x_t comes before the play and is
arbitrary in every theorem. So running statistics cost no guarantee: the comparator is then a matrix that acts
on the scaled inputs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from osp_core import kernels
from osp_core.adapters import kernels_numpy
from osp_core.errors import Array, InvalidInputError, as_positive
from osp_core.models.moments import inverse_spread

LARGEST = 1e100  # squares of larger entries leave the range of float64

Undo = Callable[[], None]


class Scaling(ABC):
    """Maps inputs to rows of norm at most 1, the intercept in column 0.

    Parameters
    ----------
    n_features : int
    intercept : bool
        Whether to put a constant feature in front.
    """

    def __init__(self, n_features: int, *, intercept: bool = True) -> None:
        self.n_features, self.intercept = n_features, bool(intercept)

    @property
    def width(self) -> int:
        """The length of a scaled input."""
        return self.n_features + self.intercept

    def begin(self, X: Any) -> None:  # noqa: B027 — most scalings need no look ahead
        """See a batch before its first round."""

    def observe(self, x: Any) -> Undo:
        """See the input of a round; the answer takes it back."""
        return _nothing

    def grow(self, n_features: int) -> None:
        """Make room for more features, at the end."""
        self.n_features = n_features

    @abstractmethod
    def rows(self, X: Any) -> Any:
        """Scale a matrix of inputs, dense or sparse, row by row."""

    def row(self, x: Any) -> Any:
        """Scale one input: a vector or a sparse row."""
        return self.rows(x) if _is_sparse(x) else self.rows(x[np.newaxis])[0]

    def matrix(self, phi: Array) -> Array:
        """Scale the input of a feature model, one row per coordinate, to operator norm at most 1."""
        rows = self.rows(phi)
        return np.asarray(rows / max(1.0, float(np.linalg.norm(rows, ord=2))))


class UnitScaling(Scaling):
    """x/‖x‖; with an intercept (1, x/‖x‖)/√2."""

    def rows(self, X: Any) -> Any:
        lengths = row_norms(X)
        return _extended(_divided(X, np.where(lengths > 0, lengths, 1.0)), self.intercept)


class BoundScaling(Scaling):
    """x/C with C the largest norm seen, or `bound`; longer inputs are shrunk to norm C.

    With an intercept (1, x/C)/√2.
    """

    def __init__(self, n_features: int, *, intercept: bool = True, bound: float | None = None) -> None:
        super().__init__(n_features, intercept=intercept)
        self.fixed = bound is not None
        self.bound = 0.0 if bound is None else as_positive(bound, "feature_bound")

    def begin(self, X: Any) -> None:
        self._widen(float(row_norms(X).max(initial=0.0)))

    def observe(self, x: Any) -> Undo:
        before = self.bound
        self._widen(float(row_norms(_as_rows(x)).max(initial=0.0)))
        return lambda: setattr(self, "bound", before)

    def rows(self, X: Any) -> Any:
        lengths = np.maximum(row_norms(X), self.bound)
        return _extended(_divided(X, np.where(lengths > 0, lengths, 1.0)), self.intercept)

    def _widen(self, norm: float) -> None:
        if not self.fixed:
            self.bound = max(self.bound, norm)


class StandardScaling(Scaling):
    """(1, (x − mean)/spread) divided by its norm, with the mean and spread of the inputs seen so far.

    Features of any unit count alike, as after a StandardScaler that learns along. A feature that never
    varied is 0.
    """

    def __init__(self, n_features: int, *, intercept: bool = True) -> None:
        super().__init__(n_features, intercept=intercept)
        self.count = 0
        self.mean, self.squares, self.factors = (np.zeros(n_features) for _ in range(3))

    def observe(self, x: Any) -> Undo:
        before = self.count, self.mean, self.squares, self.factors
        compiled = kernels.load("osp_core.adapters")
        plain = isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype == np.float64 and x.flags.carray
        for row in (
            (x,) if plain else np.array(_dense(_as_rows(x)))
        ):  # one kind of array for the compiled code
            _refuse_beyond_range(compiled.largest(row))
            # New arrays, not in place: the old ones are what an undo goes back to.
            self.count += 1
            self.mean, self.squares, self.factors = compiled.observe(row, self.count, self.mean, self.squares)
        return lambda: self._restore(before)

    def _restore(self, before: tuple[int, Array, Array, Array]) -> None:
        self.count, self.mean, self.squares, self.factors = before

    def grow(self, n_features: int) -> None:
        # A feature that was never mentioned was 0 all along.
        more = (0, n_features - self.n_features)
        self.mean, self.squares, self.factors = (
            np.pad(array, more) for array in (self.mean, self.squares, self.factors)
        )
        self.n_features = n_features

    def rows(self, X: Any) -> Any:
        dense = _dense(X)
        check_size(dense)
        scaled = np.ones((len(dense), self.width))
        scaled[:, self.intercept :] = (dense - self.mean) * self.factors
        return _unit(scaled)

    def row(self, x: Any) -> Any:
        plain = isinstance(x, np.ndarray) and x.dtype == np.float64 and x.flags.carray
        dense = x if plain else _dense(x)[0] if _is_sparse(x) else np.array(x, dtype=np.float64)
        compiled = kernels.load("osp_core.adapters")
        _refuse_beyond_range(compiled.largest(dense))
        return compiled.standardise(dense, self.mean, self.factors, self.intercept)


class SparseStandardScaling(Scaling):
    """(1, x/spread) divided by its norm, with the root mean square of a feature as its spread.

    Nothing is centred, so that zeros stay zeros.
    """

    def __init__(self, n_features: int, *, intercept: bool = True) -> None:
        super().__init__(n_features, intercept=intercept)
        self.count, self.squares = 0, np.zeros(n_features)

    def observe(self, x: Any) -> Undo:
        values, columns = _entries(x)
        check_size(values)
        before = self.count, self.squares[columns].copy()
        self.count += 1
        np.add.at(self.squares, columns, values**2)
        return lambda: self._restore(before, columns)

    def _restore(self, before: tuple[int, Array], columns: Any) -> None:
        self.count = before[0]
        self.squares[columns] = before[1]

    def grow(self, n_features: int) -> None:
        self.squares = np.pad(self.squares, (0, n_features - self.n_features))
        self.n_features = n_features

    def rows(self, X: Any) -> Any:
        if not _is_sparse(X):
            check_size(X)
            scaled = np.ones((len(X), self.width))
            scaled[:, self.intercept :] = X * self._factors(slice(None))
            return _unit(scaled)
        from scipy.sparse import csr_array

        X = csr_array(X)
        check_size(X.data)
        scaled = csr_array((X.data * self._factors(X.indices), X.indices, X.indptr), shape=X.shape)
        scaled = _with_ones(scaled) if self.intercept else scaled
        lengths = row_norms(scaled)
        return _divided(scaled, np.where(lengths > 0, lengths, 1.0))

    def _factors(self, columns: Any) -> Array:
        return np.asarray(inverse_spread(self.squares[columns], max(1, self.count), 0.0))


def make_scaling(
    kind: str, n_features: int, *, intercept: bool, feature_bound: float | None, sparse: bool
) -> Scaling:
    """Return the scaling called "standard", "unit" or "bound"."""
    if kind == "bound":
        return BoundScaling(n_features, intercept=intercept, bound=feature_bound)
    if feature_bound is not None:
        raise InvalidInputError(f'feature_bound goes with scale="bound", not with scale={kind!r}.')
    kinds: dict[str, type[Scaling]] = {
        "standard": SparseStandardScaling if sparse else StandardScaling,
        "unit": UnitScaling,
    }
    if kind not in kinds:
        raise InvalidInputError(f'scale must be "standard", "unit" or "bound", got {kind!r}.')
    return kinds[kind](n_features, intercept=intercept)


def row_norms(X: Any) -> Array:
    """The Euclidean norm of every row, dense or sparse."""
    if _is_sparse(X):
        check_size(X.data)
        return np.asarray(np.sqrt(np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()))
    check_size(X)
    return row_norms_unchecked(X)


def check_size(values: Array) -> None:
    """Refuse entries that are not finite, or so large that their squares are not."""
    _refuse_beyond_range(kernels_numpy.largest(values))


def _refuse_beyond_range(largest: float) -> None:
    if not largest <= LARGEST:  # also catches NaN
        raise InvalidInputError(
            f"An input has an entry of size {largest:.3g}; they must be finite and at most {LARGEST:g}. "
            "Remove or impute such rows, or change the unit of the feature."
        )


def _unit(rows: Array) -> Array:
    lengths = row_norms_unchecked(rows)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis])


def row_norms_unchecked(rows: Array) -> Array:
    """Norms of rows that were scaled before: their entries are in range."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _extended(X: Any, intercept: bool) -> Any:
    """Put a column of ones in front of rows of norm at most 1, and halve the squares."""
    if not intercept:
        return X
    if _is_sparse(X):
        return _with_ones(X) * np.sqrt(0.5)
    return np.column_stack([np.ones(len(X)), X]) * np.sqrt(0.5)


def _with_ones(X: Any) -> Any:
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([np.ones((X.shape[0], 1)), X], format="csr"))


def _divided(X: Any, lengths: Array) -> Any:
    if not _is_sparse(X):
        return X / lengths[:, np.newaxis]
    from scipy.sparse import csr_array

    X = csr_array(X)
    data = X.data / np.repeat(lengths, np.diff(X.indptr))
    return csr_array((data, X.indices, X.indptr), shape=X.shape)


def _entries(x: Any) -> tuple[Array, Any]:
    if _is_sparse(x):
        row = x.tocsr()
        return row.data, row.indices
    return np.ravel(x), np.arange(np.size(x))


def _as_rows(x: Any) -> Any:
    return x if _is_sparse(x) or x.ndim == 2 else x[np.newaxis]


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if _is_sparse(X) else X, dtype=np.float64)


def _is_sparse(X: Any) -> bool:
    return type(X).__module__.startswith("scipy.sparse")


def _nothing() -> None:
    pass
