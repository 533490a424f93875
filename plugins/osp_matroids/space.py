"""The bases or the independent sets of a matroid: the greedy oracle and the constants all matroids share."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osp_core.errors import Array, InvalidInputError, NotAVertexError, UnsupportedError
from osp_core.geometry.offsets import FAR, without_offsets
from osp_core.geometry.predictions import Prediction
from osp_core.regularizers import Regularizer
from osp_core.spaces import Block, ZeroOneSpace, derived
from osp_core.spaces.label_names import as_names, place_of
from osp_core.spaces.pictures import Chips, Picture
from osp_core.targets import AffineLoss, hamming, mismatch
from osp_matroids.components import UnionFind

Indices = NDArray[np.intp]

MOST_SUBSETS = 20_000  # candidates that `vertices` is willing to test


class MatroidSpace(ZeroOneSpace):
    """Bases or independent sets of a matroid on `elements`, as 0/1 vectors.

    A subclass owes `greedy`; everything else follows from it, and may be overridden where the matroid
    has something faster: `circuit`, `component_labels`, `restricted`.

    Parameters
    ----------
    elements : iterable of hashables
        Names of the ground elements, one per coordinate.
    bases : bool
        True: the outputs are the bases. False: all independent sets.
    psi, norm
        SquaredNorm(1) and ℓ2 by default.
    """

    def __init__(
        self,
        elements: Iterable[Hashable],
        *,
        bases: bool = True,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        super().__init__(psi=psi, norm=norm)
        self.elements = as_names(elements, "elements")
        self.dim = len(self.elements)
        if not self.dim:
            raise InvalidInputError("A matroid needs at least one element; this one has none.")
        self._index = {name: i for i, name in enumerate(self.elements)}
        if not isinstance(bases, bool):
            raise InvalidInputError(
                f"bases must be True (bases) or False (all independent sets), got {bases!r}."
            )
        self.bases = bases
        self.equal_norm = bases

    def __repr__(self) -> str:
        kind = "bases" if self.bases else "independent sets"
        return f"{type(self).__name__}({kind} of rank {self.rank} on {self.dim} elements)"

    # --- what a matroid is -----------------------------------------------------------------------------

    @abstractmethod
    def greedy(self, order: Indices) -> Indices:
        """Go through `order` and keep every element that leaves the kept ones independent.

        Returns the kept elements in the order in which they came.
        """

    def independent(self, chosen: Indices) -> bool:
        """Whether these elements, given by their indices, are independent."""
        return len(self.greedy(chosen)) == len(chosen)

    def circuit(self, basis: Indices, element: int) -> Indices:
        """The elements of `basis` that `element` can replace: with it, the circuit of basis ∪ {element}."""
        swapped = (np.append(np.delete(basis, place), element) for place in range(len(basis)))
        return basis[[self.independent(candidate) for candidate in swapped]]

    def closure(self, chosen: Indices) -> Indices:
        """All elements that add nothing to the rank of `chosen`, itself included."""
        inside = np.zeros(self.dim, dtype=bool)
        inside[chosen] = True
        rest = np.flatnonzero(~inside)
        basis = self.greedy(np.concatenate([chosen, rest]))
        spanned = inside.copy()
        for element in np.setdiff1d(rest, basis):
            spanned[element] = inside[self.circuit(basis, int(element))].all()
        return np.flatnonzero(spanned)

    @derived
    def loops(self) -> NDArray[np.bool_]:
        """Which elements are in no independent set."""
        sizes, ranks = self._component_sizes
        return ((sizes == 1) & (ranks == 0))[self.component_labels]

    @derived
    def first_basis(self) -> Indices:
        """The basis of lowest indices."""
        return self.greedy(np.arange(self.dim))

    @derived
    def rank(self) -> int:
        """The number of elements of a basis."""
        return len(self.first_basis)

    @derived
    def component_labels(self) -> Indices:
        """The number of the connected component of every element; loops and coloops are on their own.

        Two elements are connected when a circuit has both; fundamental circuits of one basis suffice.
        """
        groups = UnionFind(self.dim)
        basis = self.first_basis
        for element in np.setdiff1d(np.arange(self.dim), basis):
            for other in self.circuit(basis, int(element)):
                groups.join(int(element), int(other))
        return groups.labels()

    @derived
    def _component_sizes(self) -> tuple[Array, Array]:
        """The number of elements and the rank of every component."""
        labels = self.component_labels
        in_basis = np.zeros(self.dim)
        in_basis[self.first_basis] = 1.0
        return np.bincount(labels).astype(np.float64), np.bincount(labels, weights=in_basis).astype(
            np.float64
        )

    # --- oracles -----------------------------------------------------------------------------------------

    def lmo(self, cost: Array) -> Array:
        """The greedy algorithm: cheapest elements first, ties by the lower index."""
        order = np.argsort(cost, kind="stable")
        if not self.bases:
            order = order[: np.count_nonzero(cost < 0)]
        vertex = np.zeros(self.dim)
        vertex[self.greedy(order)] = 1.0
        return vertex

    def centred(self, theta: Array) -> Array:
        """Every component on its own has bases of equal mass."""
        if not self.bases or np.vdot(theta, theta) <= (FAR * self.psi.scale) ** 2:
            return theta
        return without_offsets(theta, self.component_labels)

    def kl_project(self, log_weights: Array) -> Prediction:
        """Exact, by the decomposition algorithm: at most one Euclidean projection per element."""
        from osp_matroids.entropic import entropic_prediction

        return entropic_prediction(self, log_weights)

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        if vector.shape != (self.dim,) or not ((vector == 0) | (vector == 1)).all():
            return False
        if self.bases and vector.sum() != self.rank:
            return False
        return self.independent(np.flatnonzero(vector))

    def vertices(self) -> Array:
        """All outputs, by testing every subset of the right size; for small ground sets."""
        return self._vertices

    @derived
    def _vertices(self) -> Array:
        sizes = [self.rank] if self.bases else range(self.rank + 1)
        if sum(math.comb(self.dim, size) for size in sizes) > MOST_SUBSETS:
            raise UnsupportedError(f"The outputs of {self!r} are too many to enumerate.")
        subsets = itertools.chain.from_iterable(itertools.combinations(range(self.dim), k) for k in sizes)
        rows = []
        for subset in subsets:
            chosen = np.array(subset, dtype=np.intp)
            if self.independent(chosen):
                rows.append(np.zeros(self.dim))
                rows[-1][chosen] = 1.0
        table = np.array(rows)
        table.setflags(write=False)
        return table

    # --- labels ------------------------------------------------------------------------------------------

    def from_label(self, label: Any) -> Array:
        """The vertex of a set of elements."""
        if isinstance(label, np.ndarray) and label.dtype.kind in "fiub" and label.shape == (self.dim,):
            return super().from_label(label)
        if isinstance(label, str) or not isinstance(label, Collection | np.ndarray):
            raise NotAVertexError(
                f"An output of {self!r} is a set of elements such as {{{self.elements[0]!r}}}, got {label!r}."
            )
        vertex = np.zeros(self.dim)
        for name in label:
            position = self.position(name)
            if vertex[position]:
                raise NotAVertexError(
                    f"The element {name!r} is given twice. A 0/1 vector must be a numpy array."
                )
            vertex[position] = 1.0
        if not self.is_vertex(vertex):
            raise NotAVertexError(self._why_not(vertex, label))
        return vertex

    def position(self, name: Any) -> int:
        """The coordinate of a ground element."""
        if (place := place_of(name, self._index, self.elements)) is not None:
            return place
        raise NotAVertexError(f"{name!r} is not one of the {self.dim} elements of {self!r}.")

    def to_label(self, vertex: Array) -> Any:
        return frozenset(self.elements[i] for i in np.flatnonzero(vertex))

    def draw(self, point: Array) -> Picture:
        return Chips(self.elements, point)

    def _why_not(self, vertex: Array, label: Any) -> str:
        if not self.independent(np.flatnonzero(vertex)):
            return f"{label!r} is not independent in {self!r}."
        return f"{label!r} has {int(vertex.sum())} elements; a basis of {self!r} has {self.rank}."

    # --- constants ---------------------------------------------------------------------------------------

    @derived
    def constant_mass(self) -> bool:
        return self.bases or self.rank == 0

    @derived
    def max_mass(self) -> float:
        return float(self.rank)

    @derived
    def min_mass(self) -> float:
        return float(self.rank) if self.bases else 0.0

    @derived
    def _component_diameters(self) -> Array:
        """The most entries in which two outputs differ within every component, never too few."""
        sizes, ranks = self._component_sizes
        if self.bases:
            return 2.0 * np.minimum(ranks, sizes - ranks)
        return np.where(ranks > 0, np.minimum(sizes, 2.0 * ranks), 0.0)

    @derived
    def diameter1(self) -> float:
        """Σ 2·min(r, m − r) over the components for bases, Σ min(m, 2r) for independent sets."""
        return float(self._component_diameters.sum())

    def gibbs_convexity(self, p: float) -> float:
        """4/D² on every component: a Gibbs distribution factorises over them."""
        diameters = self._component_diameters ** (2.0 / p)
        total = diameters.max() if p >= 2 else diameters.sum()
        return 4.0 / float(total) if total > 0 else np.inf

    def project_direction(self, direction: Array) -> Array:
        """Centre on every component for bases; for independent sets all but the loops is spanned."""
        labels, (sizes, ranks) = self.component_labels, self._component_sizes
        if not self.bases:
            return np.where(ranks[labels] > 0, direction, 0.0)
        # Centring twice removes what rounding leaves of a large mean.
        for _ in range(2):
            direction = direction - (np.bincount(labels, weights=direction) / sizes)[labels]
        return np.where((sizes > 1)[labels], direction, 0.0)

    def restricted(self, kept: Indices) -> MatroidSpace:
        """The matroid on some of the elements, given by their indices."""
        from osp_matroids.restriction import Restriction

        return Restriction(self, kept)

    def blocks(self) -> Sequence[Block] | None:
        """The connected components: outputs are chosen in each of them independently of the others."""
        if np.count_nonzero(self._component_diameters) < 2:
            return None
        ranks = self._component_sizes[1]
        groups: dict[Hashable, list[Indices]] = {}
        for component, rank in enumerate(ranks):
            members = np.flatnonzero(self.component_labels == component)
            # All loops are alike, and so are all coloops.
            groups.setdefault(component if len(members) > 1 else ("single", rank), []).append(members)
        return [Block(self.restricted(rows[0]), np.array(rows)) for rows in groups.values()]

    def target_loss(self) -> AffineLoss:
        """The fraction of a basis that is wrong, or the Hamming loss for independent sets."""
        return mismatch if self.bases else hamming
