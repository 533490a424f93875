"""Products of spaces: several structured outputs predicted together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osp_core.errors import Array, InvalidInputError, NotAVertexError, UnsupportedError
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.norms import norm_ratio
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.geometry.status import Status
from osp_core.regularizers import Regularizer
from osp_core.spaces.base import OutputSpace
from osp_core.spaces.blocks import Block
from osp_core.spaces.derived import derived
from osp_core.spaces.zero_one import nearest_zero_one
from osp_core.targets import AffineLoss, RoundLoss


class Product(OutputSpace):
    """Y = Y₁ × … × Y_k with its vectors one after the other.

    Parameters
    ----------
    spaces : sequence of OutputSpace
        The factors. Each keeps its own Ψ; the Ψ of the product is their sum.
    psi : Regularizer, optional
        One Ψ for all coordinates instead.
    norm : float, optional
        That of the factors where they agree, ℓ2 otherwise.
    """

    def __init__(
        self, spaces: Sequence[OutputSpace], *, psi: Regularizer | None = None, norm: float | None = None
    ) -> None:
        listed = isinstance(spaces, Iterable) and getattr(spaces, "ndim", 1) != 0
        self._given = tuple(spaces) if listed else ()
        if not self._given or not all(isinstance(factor, OutputSpace) for factor in self._given):
            raise InvalidInputError(f"product needs a non-empty sequence of spaces, got {spaces!r}.")
        norms = {factor.norm for factor in self._given}
        super().__init__(
            psi=SumOfFactors() if psi is None else psi,
            norm=(norms.pop() if len(norms) == 1 else 2.0) if norm is None else norm,
        )
        self._ends = np.cumsum([factor.dim for factor in self._given])
        self.dim = int(self._ends[-1])
        self.zero_one = all(factor.zero_one for factor in self._given)
        self.equal_norm = all(factor.equal_norm for factor in self._given)

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self._given))})"

    @derived
    def factors(self) -> tuple[OutputSpace, ...]:
        """The factors, each with its own Ψ or with its part of the Ψ of the product."""
        if isinstance(self.psi, SumOfFactors):
            return self._given
        # Every regularizer is a sum over factors, so each factor can carry its part.
        return tuple(factor.with_psi(self.psi) for factor in self._given)

    def split(self, vector: Array) -> list[Array]:
        """The part of a vector (or of every row of a batch) that belongs to each factor."""
        return np.split(vector, self._ends[:-1], axis=-1)

    def _join(self, method: str, vector: Array, *args: Any) -> Array:
        parts = zip(self.factors, self.split(vector), strict=True)
        return np.concatenate([getattr(factor, method)(part, *args) for factor, part in parts])

    def memory(self) -> dict[str, Any]:
        return {
            f"{i}.{key}": value for i, one in enumerate(self.factors) for key, value in one.memory().items()
        }

    def recall(self, memory: Mapping[str, Any]) -> None:
        for i, factor in enumerate(self.factors):
            own = f"{i}."
            factor.recall({key.removeprefix(own): memory[key] for key in memory if key.startswith(own)})

    def lmo(self, cost: Array) -> Array:
        return self._join("lmo", cost)

    def nearest_vertex(self, point: Array) -> Array:
        if self._one_norm or not self.zero_one:
            return self._join("nearest_vertex", point)
        return nearest_zero_one(self.lmo, point, self.norm)

    @derived
    def nearest_is_exact(self) -> bool:
        if self._one_norm:
            return all(factor.nearest_is_exact for factor in self.factors)
        return self.zero_one and not np.isinf(self.norm)

    @derived
    def _one_norm(self) -> bool:
        """Whether all measure in the norm of the product: then the nearest parts make the nearest whole."""
        return all(factor.norm == self.norm for factor in self.factors)

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        return self._join("sample_vertex", point, rng)

    def marginals(self, theta: Array) -> Array:
        return self._join("marginals", theta)

    def project_direction(self, direction: Array) -> Array:
        return self._join("project_direction", direction)

    def log_partition(self, theta: Array) -> float:
        parts = zip(self.factors, self.split(theta), strict=True)
        return sum(factor.log_partition(part) for factor, part in parts)

    def centred(self, theta: Array) -> Array:
        parts = zip(self.factors, self.split(theta), strict=True)
        return np.concatenate([factor.centred(part) for factor, part in parts], axis=-1)

    def project(self, point: Array) -> Prediction:
        return self.predict_factors("project", point)

    def kl_project(self, log_weights: Array) -> Prediction:
        return self.predict_factors("kl_project", log_weights)

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        return self.predict_factors("binary_kl_project", log_odds)

    def predict_factors(self, method: str, vector: Array) -> Prediction:
        """Ask every factor for a prediction and put the answers one after the other: gaps add up."""
        factors: Sequence[OutputSpace] = self.factors
        if self.accuracy is not None:
            factors = [factor.accurate_to(self.accuracy / len(factors)) for factor in factors]
        parts = zip(factors, self.split(vector), strict=True)
        answers = [getattr(factor, method)(part) for factor, part in parts]
        unfinished = [
            answer.status for answer in answers if answer.status not in (Status.EXACT, Status.OPTIMAL)
        ]
        gap = sum(answer.gap for answer in answers)
        status = unfinished[0] if unfinished else (Status.OPTIMAL if gap else Status.EXACT)
        point = np.concatenate([answer.point for answer in answers])
        return Prediction(point, None, gap, status, sum(answer.lmo_calls for answer in answers))

    def jacobian_product(self, thetas: Array, predictions: Predictions, directions: Array) -> Array:
        rows = map(self.split, (thetas, predictions.point, directions))
        parts = zip(self.factors, *rows, strict=True)
        products = [f.jacobian_product(theta, Predictions.exact(y), v) for f, theta, y, v in parts]
        return np.concatenate(products, axis=1)

    def decompose(self, point: Array) -> ConvexCombination:
        """Couple the factors' decompositions along one uniform variable: at most Σ kᵢ − k + 1 terms."""
        parts = zip(self.factors, self.split(point), strict=True)
        combinations = [factor.decompose(part) for factor, part in parts]
        steps = [np.minimum(np.cumsum(combination.weights), 1.0) for combination in combinations]
        for step in steps:
            step[-1] = 1.0
        cuts = np.unique(np.concatenate(steps))
        lengths = np.diff(cuts, prepend=0.0)
        cuts, lengths = cuts[lengths > 0], lengths[lengths > 0]
        columns = [
            combination.vertices[np.searchsorted(step, cuts, side="left")]
            for combination, step in zip(combinations, steps, strict=True)
        ]
        return ConvexCombination(np.hstack(columns), lengths)

    def is_vertex(self, y: ArrayLike) -> bool:
        vector = np.asarray(y, dtype=np.float64)
        if vector.shape != (self.dim,):
            return False
        return all(f.is_vertex(part) for f, part in zip(self.factors, self.split(vector), strict=True))

    def vertices(self) -> Array:
        lists = [factor.vertices() for factor in self.factors]
        if np.prod([float(len(rows)) for rows in lists]) > 1e5:
            raise UnsupportedError(f"{self!r} has too many outputs to enumerate.")
        index = np.indices([len(rows) for rows in lists]).reshape(len(lists), -1)
        return np.hstack([rows[i] for rows, i in zip(lists, index, strict=True)])

    def from_label(self, label: Any) -> Array:
        if isinstance(label, np.ndarray) and label.shape == (self.dim,) and label.dtype.kind in "fiub":
            return super().from_label(label)
        if not isinstance(label, Sequence) or len(label) != len(self.factors):
            raise NotAVertexError(
                f"An output of {self!r} is a sequence of {len(self.factors)} labels, got {label!r}."
            )
        return np.concatenate([f.as_vertex(part) for f, part in zip(self.factors, label, strict=True)])

    def to_label(self, vertex: Array) -> Any:
        return tuple(f.to_label(part) for f, part in zip(self.factors, self.split(vertex), strict=True))

    @derived
    def nu(self) -> float:
        """Two outputs differ in at least one factor."""
        return min(factor.nu_in(self.norm) for factor in self.factors)

    def nu_in(self, p: float) -> float:
        return min(factor.nu_in(p) for factor in self.factors)

    def diameter_in(self, p: float) -> float:
        return float(np.linalg.norm([factor.diameter_in(p) for factor in self.factors], ord=p))

    def gibbs_convexity(self, p: float) -> float:
        return _sum_convexity([factor.gibbs_convexity(p) for factor in self.factors], p)

    @derived
    def _box(self) -> tuple[Array, Array]:
        low = np.array([factor.min_entry for factor in self.factors])
        high = np.array([factor.max_entry for factor in self.factors])
        return low, high

    @derived
    def max_mass(self) -> float:
        return sum(factor.max_mass for factor in self.factors)

    @derived
    def max_square(self) -> float:
        return sum(factor.max_square for factor in self.factors)

    def target_loss(self) -> AffineLoss:
        return SumLoss(self, [factor.target_loss() for factor in self.factors])

    def blocks(self) -> Sequence[Block]:
        starts = self._ends - [factor.dim for factor in self.factors]
        return [
            Block(factor, np.arange(start, start + factor.dim)[np.newaxis])
            for factor, start in zip(self.factors, starts, strict=True)
        ]

    def at(self, context: Any) -> OutputSpace:
        if context is None:
            return self
        if not isinstance(context, Sequence) or len(context) != len(self.factors):
            raise InvalidInputError(f"The context of {self!r} is one context per factor, got {context!r}.")
        factors = [factor.at(part) for factor, part in zip(self.factors, context, strict=True)]
        return Product(factors, psi=self.psi, norm=self.norm).accurate_to(self.accuracy)

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        from osp_core.spaces.vertices import Vertices

        switch, corner = Vertices([[0.0], [1.0]]), Vertices([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        return (cls([switch, corner]), cls([switch]))


@dataclass(frozen=True)
class SumOfFactors(Regularizer):
    """Ψ(y) = Σ Ψᵢ(yᵢ): every factor of a product keeps its own regularizer."""

    def predict(self, space: OutputSpace, theta: Array) -> Prediction:
        return _product(space).predict_factors("predict", theta)

    def predict_many(self, space: OutputSpace, thetas: Array) -> Predictions:
        product = _product(space)
        parts = zip(product.factors, product.split(thetas), strict=True)
        batches = [factor.predict_many(part) for factor, part in parts]
        gap = np.sum([batch.gap for batch in batches], axis=0)
        return Predictions(np.hstack([batch.point for batch in batches]), gap)

    def strong_convexity(self, space: OutputSpace, p: float) -> float:
        return _sum_convexity(
            [factor.psi.strong_convexity(factor, p) for factor in _product(space).factors], p
        )

    def loss(self, space: OutputSpace, theta: Array, y: Array, prediction: Prediction | Predictions) -> Array:
        product = _product(space)
        parts = zip(
            product.factors,
            product.split(theta),
            product.split(y),
            product.split(prediction.point),
            strict=True,
        )
        values = [
            f.psi.loss(f, scores, truth, replace(prediction, point=point))
            for f, scores, truth, point in parts
        ]
        return np.asarray(np.sum(values, axis=0))


class SumLoss(AffineLoss):
    """The sum of one target loss per factor of a product."""

    def __init__(self, space: Product, parts: Sequence[AffineLoss]) -> None:
        super().__init__(self._cost, self._constant, name="sum of " + ", ".join(part.name for part in parts))
        self.space, self.parts = space, tuple(parts)

    def _rounds(self, y: Array) -> list[RoundLoss]:
        return [part.at(one) for part, one in zip(self.parts, self.space.split(y), strict=True)]

    def _cost(self, y: Array) -> Array:
        return np.concatenate([one.cost for one in self._rounds(y)])

    def _constant(self, y: Array) -> float:
        return sum(one.constant for one in self._rounds(y))

    def gamma(self, space: OutputSpace) -> float:
        # Σ γᵢ‖vᵢ‖ ≤ ‖γ‖_q·‖v‖_p by Hölder, each γᵢ brought from its factor's norm to that of the product.
        gammas = [
            part.gamma(factor) * norm_ratio(factor.norm, space.norm, factor.dim)
            for part, factor in zip(self.parts, self.space.factors, strict=True)
        ]
        p = space.norm
        return float(
            np.linalg.norm(gammas, ord=np.inf if p == 1 else (1.0 if np.isinf(p) else p / (p - 1.0)))
        )

    def holds_by_form(self, space: OutputSpace) -> bool:
        factors = space.factors if isinstance(space, Product) else ()
        return len(factors) == len(self.parts) and min(
            part.holds_by_form(factor) for part, factor in zip(self.parts, factors, strict=True)
        )

    def on_block(self, space: OutputSpace, block: Block) -> AffineLoss | None:
        # By its place: the space of a block may be a twin of the factor.
        position = int(np.searchsorted(self.space._ends, block.coordinates[0, 0], side="right"))
        whole = block.coordinates.shape == (1, self.space.factors[position].dim)
        return self.parts[position] if whole else None


def _sum_convexity(lams: Sequence[float], p: float) -> float:
    """λ of a sum over factors in ℓp: Σ λᵢ‖vᵢ‖² ≥ λ‖v‖²."""
    # The least λᵢ for p ≥ 2; otherwise, by Cauchy–Schwarz, their harmonic sum.
    inverse = np.sum(1.0 / np.asarray(lams))  # 0 where every factor has one output, and λ = ∞
    return float(min(lams) if p >= 2 or not inverse else 1.0 / inverse)


def _product(space: OutputSpace) -> Product:
    if not isinstance(space, Product):
        raise InvalidInputError(f"SumOfFactors belongs to a product of spaces, not to {space!r}.")
    return space
