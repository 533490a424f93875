"""What rankings, assignments and matchings share: outputs are 0/1 matrices with one 1 in every row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osp_birkhoff.certificates import Certified
from osp_birkhoff.decomposition import decompose_plan
from osp_birkhoff.entropic import entropic_plans
from osp_birkhoff.euclidean import euclidean_plan
from osp_birkhoff.oracles import make_oracle
from osp_birkhoff.support import Support
from osp_core.errors import Array, InvalidInputError, UnsupportedError, as_rows
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.offsets import FAR, without_offset
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.kernels import load
from osp_core.regularizers import NegativeEntropy, Regularizer
from osp_core.spaces import ZeroOneSpace
from osp_core.spaces.jacobian import implicit_product
from osp_core.targets import AffineLoss, mismatch

FEASIBLE = 1e-12
OUTSIDE = 1e-7
CHUNK = 1 << 20  # entries per batch of sweeps


class PlanSpace(ZeroOneSpace):
    """m×n matrices of 0 and 1 with one 1 in every row and at most one in every column, m ≤ n.

    A vector of the space lists the entries at `cells` in row-major order, or in any fixed order. Subclasses
    set `shape` and `cells` through `_set_cells`.

    Parameters
    ----------
    backend : {"scipy", "networkx"}
        Who solves the assignment problems; the answers are the same.
    psi : Regularizer
        NegativeEntropy(1) by default; SquaredNorm gives sparse predictions.
    norm : float
        1 by default, as in [SBTO24, Sec. 2.3].
    """

    norm = 1.0
    psi: Regularizer = NegativeEntropy(1.0)
    equal_norm = True
    constant_mass = True
    support: Support | None = None
    """The entries that outputs use, where that is not all of them."""

    def _set_cells(self, shape: tuple[int, int], cells: NDArray[np.intp] | None, backend: str) -> None:
        """Fix the matrix a vector stands for: `cells` are flat positions, None for all of them in order."""
        rows, columns = shape
        self.shape, self.backend = shape, backend
        self.cells = np.arange(rows * columns) if cells is None else cells
        self.full = cells is None
        self.dim = len(self.cells)
        self._starts = np.arange(rows) * columns
        self._coordinate = np.full(rows * columns, -1)
        self._coordinate[self.cells] = np.arange(self.dim)
        self._oracle = make_oracle(backend, (self._coordinate >= 0).reshape(shape))
        self.min_mass = self.max_mass = float(rows)

    def matrix(self, vector: Array, fill: float = 0.0) -> Array:
        """The m×n matrix of a vector, or the matrices of a batch; entries outside the space are `fill`."""
        shape = (*vector.shape[:-1], *self.shape)
        if self.full:
            return vector.reshape(shape)
        matrix = np.full((*vector.shape[:-1], self.shape[0] * self.shape[1]), fill)
        matrix[..., self.cells] = vector
        return matrix.reshape(shape)

    def vector(self, matrix: Array) -> Array:
        """The vector of an m×n matrix."""
        return matrix.ravel() if self.full else matrix.ravel()[self.cells]

    def vertex(self, columns: NDArray[np.intp]) -> Array:
        """The output that puts row i in columns[i]."""
        output, flat = np.zeros(self.dim), self._starts + columns
        output[flat if self.full else self._coordinate[flat]] = 1.0
        return output

    def columns(self, vertex: Array) -> NDArray[np.intp]:
        """The column of every row."""
        return np.asarray(self.matrix(vertex).argmax(axis=1))

    # --- oracles -------------------------------------------------------------------------------------

    def lmo(self, cost: Array) -> Array:
        return self.vertex(self._oracle.assign(self.matrix(cost, np.inf)))

    def lmo_many(self, costs: ArrayLike) -> Array:
        rows = as_rows(costs, self.dim, "costs")
        outputs = np.zeros(rows.shape)
        for output, cost in zip(outputs, rows, strict=True):
            chosen = self._oracle.assign(self.matrix(cost, np.inf))
            output[self._coordinate[self._starts + chosen]] = 1.0
        return outputs

    def nearest_vertex(self, point: Array) -> Array:
        """The assignment that collects most of `point`: with equal mass, −y costs what 1 − 2y does."""
        return self.lmo(-point) if self.norm in (1, 2) else super().nearest_vertex(point)

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        rows = as_rows(points, self.dim, "points")
        return self.lmo_many(-rows) if self.norm in (1, 2) else super().nearest_vertex_many(rows)

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        return vector.shape == (self.dim,) and bool(load("osp_birkhoff").is_plan(self.matrix(vector)))

    # --- predictions ---------------------------------------------------------------------------------

    def centred(self, theta: Array) -> Array:
        """Every row sums to 1, and every column where there are as many columns as rows."""
        if not self.full or np.vdot(theta, theta) <= (FAR * self.psi.scale) ** 2:
            return super().centred(theta)
        scores = without_offset(self.matrix(theta))
        if self.shape[0] == self.shape[1]:
            scores = without_offset(scores, axis=-2)
        return scores.reshape(theta.shape)

    def project(self, point: Array) -> Prediction:
        """Euclidean projection by semismooth Newton on the dual; exact up to rounding."""
        return self._flat(euclidean_plan(self._scores(point), self.support))

    def kl_project(self, log_weights: Array) -> Prediction:
        """Entropic projection by sweeps, then Newton on the dual; every entry of the point is positive."""
        return self._flat(entropic_plans(self._scores(log_weights[np.newaxis]), self.support)[0])

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        rows = as_rows(log_weights, self.dim, "log_weights")
        return Predictions.gather(map(self._flat, self._entropic_chunks(rows)), self.dim)

    def _entropic_chunks(self, rows: Array) -> Iterator[Certified]:
        size = max(1, CHUNK // (self.shape[0] * self.shape[1]))
        for start in range(0, len(rows), size):
            yield from entropic_plans(self._scores(rows[start : start + size]), self.support)

    def _scores(self, vectors: Array) -> Array:
        """Scores as matrices, −∞ where nothing may be; whatever can hold no mass is taken out here."""
        return self.matrix(vectors, -np.inf)

    def _flat(self, answer: Certified) -> Prediction:
        return Prediction(self.vector(answer.point), None, answer.gap, answer.status, answer.lmo_calls)

    def jacobian_product(self, thetas: Array, predictions: Predictions, directions: Array) -> Array:
        # With an entropy all entries stay positive; where every column is used, the rest are equations.
        square = self.shape[0] == self.shape[1]
        binds = not (square and isinstance(self.psi, NegativeEntropy))
        return implicit_product(self, thetas, predictions, directions, binds=binds)

    def marginals(self, theta: Array) -> Array:
        """Gibbs marginals by enumeration, for spaces small enough to list."""
        self._refuse_permanents()
        return super().marginals(theta)

    def log_partition(self, theta: Array) -> float:
        """The log of a permanent by enumeration, for spaces small enough to list."""
        self._refuse_permanents()
        return super().log_partition(theta)

    def _refuse_permanents(self) -> None:
        try:
            self.vertices()
        except UnsupportedError as error:
            raise UnsupportedError(
                f"The Gibbs distribution over {self!r} is normalised by a permanent, which is #P-hard to "
                "compute. Use psi=NegativeEntropy() or psi=SquaredNorm()."
            ) from error

    # --- combinations --------------------------------------------------------------------------------

    def decompose(self, point: Array) -> ConvexCombination:
        """Birkhoff–von Neumann decomposition, at most dim(conv Y) + 1 terms."""
        chosen, weights = decompose_plan(self._inside(point))
        flat = self._starts + chosen
        from scipy.sparse import csr_array

        bounds = np.arange(len(weights) + 1) * self.shape[0]
        ones = np.ones(flat.size, dtype=np.int8)
        atoms = csr_array((ones, self._coordinate[flat].ravel(), bounds), shape=(len(weights), self.dim))
        return ConvexCombination(atoms, weights)

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """Draw a vertex with mean `point` by cancelling cycles: no decomposition is needed."""
        rows, columns = self.shape
        kernels, matrix = load("osp_birkhoff.cycles"), self._inside(point)
        if rows < columns:
            # The spare columns make up one more row, whose sum is a whole number too.
            matrix = np.vstack([matrix, np.clip(1.0 - matrix.sum(axis=0), 0.0, 1.0)])
        kernels.round_by_cycles(matrix, rng.random(kernels.sweep_dust(matrix)))
        vertex = self.vector(np.ascontiguousarray(matrix[:rows]))
        return vertex if self.is_vertex(vertex) else self.decompose(point).sample(rng)

    def _inside(self, point: Array) -> Array:
        """The matrix of a point that is feasible to rounding, moved there if it is off by a little."""
        matrix = self.matrix(point)
        error = load("osp_birkhoff").violation(matrix)
        if error > OUTSIDE:
            raise InvalidInputError(
                f"The point is outside the convex hull of {self!r}: entries must be ≥ 0, rows sum to 1 and "
                f"columns to {'' if self.shape[0] == self.shape[1] else 'at most '}1; the largest "
                f"violation is {error:.3g}."
            )
        if error > FEASIBLE:
            matrix = self.matrix(self.project(point).point)
        return np.maximum(matrix, 0.0)

    def target_loss(self) -> AffineLoss:
        """The fraction of rows in the wrong column."""
        return mismatch

    @abstractmethod
    def vertices(self) -> Array: ...
