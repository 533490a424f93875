"""Partition matroids: a given number of elements from every block."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, as_count, as_rows
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.geometry.status import Status
from osp_core.regularizers import GibbsEntropy, NegativeEntropy, Regularizer, SquaredNorm
from osp_core.spaces import Block, OutputSpace, derived
from osp_core.spaces.label_names import MOST_COORDINATES
from osp_matroids.set_families import as_capacities, as_sets
from osp_matroids.space import Indices, MatroidSpace


class PartitionMatroid(MatroidSpace):
    """Sets with `capacities[j]` elements of the j-th block: a committee with seats for every department.

    Blocks of equal size and capacity are handled together, so that thousands of small blocks cost a few
    array operations.

    Parameters
    ----------
    blocks : sequence of collections, or of int
        Disjoint blocks of elements, which may be empty; numbers are the sizes of blocks of 0, 1, 2, ….
    capacities : int or sequence of int
        How many elements of each block; one number is meant for all. A block smaller than its capacity
        is taken as a whole.
    elements : sequence, optional
        The order of the coordinates; by default block after block. Every element must be in a block.
    bases : bool
        True: exactly as many as the capacities say. False: at most as many.
    psi, norm
        SquaredNorm(1) and ℓ2 by default.
    """

    def __init__(
        self,
        blocks: Iterable[Any],
        capacities: int | Sequence[int],
        *,
        elements: Iterable[Hashable] | None = None,
        bases: bool = True,
        psi: Regularizer | None = None,
        norm: float | None = None,
    ) -> None:
        names, members = as_sets(_named_blocks(blocks), elements, "blocks")
        self.capacities = as_capacities(capacities, len(members))
        super().__init__(names, bases=bases, psi=psi, norm=norm)
        self._block_of = _block_of_every_element(members, names)
        self._sizes = np.array([len(positions) for positions in members])
        self._ranks = np.minimum(self._sizes, self.capacities)
        self._members = members

    @derived
    def _groups(self) -> list[Block]:
        """One space for all blocks of the same size and rank, with their coordinates."""
        groups: dict[tuple[int, int], list[list[int]]] = {}
        for positions, rank in zip(self._members, self._ranks.tolist(), strict=True):
            if positions:
                groups.setdefault((len(positions), rank), []).append(positions)
        return [
            Block(self._block_space(size, rank), np.array(rows, dtype=np.intp))
            for (size, rank), rows in groups.items()
        ]

    def _block_space(self, size: int, rank: int) -> OutputSpace:
        from osp_matroids.at_most import AtMost
        from osp_matroids.uniform.space import KSubsets

        return (KSubsets if self.bases else AtMost)(size, rank, psi=self.psi, norm=self.norm)

    # --- the matroid -------------------------------------------------------------------------------------

    def greedy(self, order: Indices) -> Indices:
        blocks = self._block_of[order]
        # Number the elements within their block in the given order; the first `rank` of them are kept.
        by_block = np.argsort(blocks, kind="stable")
        counts = np.bincount(blocks, minlength=len(self._ranks))
        starts = np.cumsum(counts) - counts
        places = np.empty(len(order), dtype=np.intp)
        places[by_block] = np.arange(len(order)) - np.repeat(starts, counts)
        return order[places < self._ranks[blocks]]

    @derived
    def component_labels(self) -> Indices:
        """Blocks with a choice in them; elements of the others are on their own."""
        free = (self._ranks == 0) | (self._ranks == self._sizes)
        labels = np.where(free[self._block_of], len(self._sizes) + np.arange(self.dim), self._block_of)
        return np.unique(labels, return_inverse=True)[1].astype(np.intp)

    def blocks(self) -> Sequence[Block] | None:
        """The blocks, those of equal size and capacity together."""
        return self._groups if sum(len(group.coordinates) for group in self._groups) > 1 else None

    # --- everything block by block -----------------------------------------------------------------------

    def _each(self, method: str, vector: Array, *args: Any) -> Array:
        """Call a method for batches on every group of blocks and put the answers in place."""
        answer = np.empty(self.dim)
        for group in self._groups:
            answer[group.coordinates] = getattr(group.space, method)(vector[group.coordinates], *args)
        return answer

    def _each_of_many(self, method: str, rows: Array, *args: Any) -> Array:
        answer = np.empty(rows.shape)
        for group in self._groups:
            size = group.coordinates.shape[1]
            parts = rows[:, group.coordinates]
            flat = getattr(group.space, method)(parts.reshape(-1, size), *args)
            answer[:, group.coordinates] = flat.reshape(parts.shape)
        return answer

    def lmo(self, cost: Array) -> Array:
        return self._each("lmo_many", cost)

    def lmo_many(self, costs: ArrayLike) -> Array:
        return self._each_of_many("lmo_many", as_rows(costs, self.dim, "costs"))

    def nearest_vertex(self, point: Array) -> Array:
        return self._each("nearest_vertex_many", point)

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        return self._each_of_many("nearest_vertex_many", as_rows(points, self.dim, "points"))

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """Draw from every block on its own."""
        return self._each("sample_many", point, rng)

    def sample_many(self, points: ArrayLike, rng: np.random.Generator) -> Array:
        return self._each_of_many("sample_many", as_rows(points, self.dim, "points"), rng)

    def project(self, point: Array) -> Prediction:
        return self._predict("project_many", point[np.newaxis])[0]

    def project_many(self, points: ArrayLike) -> Predictions:
        return self._predict("project_many", as_rows(points, self.dim, "points"))

    def kl_project(self, log_weights: Array) -> Prediction:
        return self._predict("kl_project_many", log_weights[np.newaxis])[0]

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        return self._predict("kl_project_many", as_rows(log_weights, self.dim, "log_weights"))

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        return self._predict("binary_kl_project_many", log_odds[np.newaxis])[0]

    def binary_kl_project_many(self, log_odds: ArrayLike) -> Predictions:
        return self._predict("binary_kl_project_many", as_rows(log_odds, self.dim, "log_odds"))

    def _predict(self, method: str, rows: Array) -> Predictions:
        """Predictions on every block; gaps add up over the blocks."""
        points, gaps = np.empty(rows.shape), np.zeros(len(rows))
        unfinished: dict[int, Status] = {}
        for group in self._groups:
            parts = rows[:, group.coordinates]
            answers = getattr(group.space, method)(parts.reshape(-1, parts.shape[2]))
            points[:, group.coordinates] = answers.point.reshape(parts.shape)
            gaps += answers.gap.reshape(parts.shape[:2]).sum(axis=1)
            for index, one in enumerate(answers.single):
                if one.status not in (Status.EXACT, Status.OPTIMAL):
                    unfinished[index // parts.shape[1]] = one.status
        if not unfinished:
            return Predictions(points, gaps)
        found = Predictions(points, gaps)
        single = [replace(found[i], status=unfinished.get(i, found[i].status)) for i in range(len(rows))]
        return Predictions.gather(single, self.dim)

    def marginals(self, theta: Array) -> Array:
        answer = np.empty(self.dim)
        for group in self._groups:
            for coordinates in group.coordinates:
                answer[coordinates] = group.space.marginals(theta[coordinates])
        return answer

    def log_partition(self, theta: Array) -> float:
        return float(
            sum(
                group.space.log_partition(theta[coordinates])
                for group in self._groups
                for coordinates in group.coordinates
            )
        )

    def decompose(self, point: Array) -> ConvexCombination:
        """Couple the decompositions of the blocks along one uniform variable."""
        placed = [(group.space, row) for group in self._groups for row in group.coordinates]
        parts = [(space.decompose(point[row]), row) for space, row in placed]
        steps = [np.minimum(np.cumsum(part.weights), 1.0) for part, _ in parts]
        for step in steps:
            step[-1] = 1.0
        cuts = np.unique(np.concatenate(steps))
        lengths = np.diff(cuts, prepend=0.0)
        cuts, lengths = cuts[lengths > 0], lengths[lengths > 0]
        atoms = np.zeros((len(cuts), self.dim), dtype=np.int8)
        for (part, row), step in zip(parts, steps, strict=True):
            atoms[:, row] = part.vertices[np.searchsorted(step, cuts, side="left")]
        return ConvexCombination(atoms, lengths)

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        teams = [["ann", "bob", "cyd"], ["dan", "eve"], ["flo"]]
        return (
            cls(teams, [2, 1, 1]),
            cls([3, 3, 2], [1, 1, 0]),
            cls(teams, [2, 1, 3], bases=False),
            cls([3, 2], 1, psi=NegativeEntropy(0.5), norm=1),
            cls([3, 2], 1, psi=NegativeEntropy(0.5), bases=False),
            cls([4, 2], [2, 1], psi=GibbsEntropy(1.0)),
            cls([3, 2], [2, 1], psi=GibbsEntropy(1.0), bases=False),
            cls([["b", "c"], [], ["a"]], 1, elements=["a", "b", "c"], psi=SquaredNorm(2.0)),
            cls([1], 0),
        )


def _named_blocks(blocks: Any) -> Any:
    """Blocks given by their sizes get the elements 0, 1, 2, … one after the other."""
    if isinstance(blocks, str) or not isinstance(blocks, Iterable) or getattr(blocks, "ndim", 1) == 0:
        raise InvalidInputError(f"blocks must be a list of blocks or of their sizes, got {blocks!r}.")
    listed = blocks.tolist() if isinstance(blocks, np.ndarray) else list(blocks)
    if not listed or not all(isinstance(block, int | np.integer) for block in listed):
        return listed
    ends = np.cumsum(
        [as_count(size, "The size of a block", least=0, most=MOST_COORDINATES) for size in listed]
    )
    return [range(end - size, end) for end, size in zip(ends.tolist(), listed, strict=True)]


def _block_of_every_element(members: list[list[int]], names: list[Hashable]) -> Indices:
    block_of = np.full(len(names), -1, dtype=np.intp)
    for number, positions in enumerate(members):
        taken = [position for position in positions if block_of[position] >= 0]
        if taken:
            raise InvalidInputError(f"{names[taken[0]]!r} is in two blocks; blocks must be disjoint.")
        block_of[positions] = number
    if (block_of < 0).any():
        raise InvalidInputError(f"{names[int(np.argmin(block_of))]!r} is in no block.")
    return block_of
