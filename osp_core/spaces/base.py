"""Output spaces: a finite set Y of structures, known through a linear oracle.

A class with `dim` and `lmo` is enough: everything else is derived from the oracle, or raises an error
that names the constant to give. Override what the space can do faster or sharper.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osp_core.errors import (
    LARGEST,
    Array,
    InvalidInputError,
    MissingConstantError,
    NotAVertexError,
    UnsupportedError,
    as_positive,
    as_rows,
    as_vector,
)
from osp_core.geometry.combinations import ConvexCombination
from osp_core.geometry.norms import norm_ratio
from osp_core.geometry.offsets import FAR, without_offset
from osp_core.geometry.predictions import Prediction, Predictions
from osp_core.regularizers import Regularizer, SquaredNorm
from osp_core.spaces.constants import Constants, derived, forget_cached_properties
from osp_core.spaces.pictures import Picture
from osp_core.spaces.size_parameters import SizeParameters
from osp_core.spaces.validation import check_arguments
from osp_core.targets import AffineLoss

if TYPE_CHECKING:
    from osp_core.compiled.parts import SpaceParts


@dataclass(frozen=True, eq=False)
class Block:
    """Equal factors of a product space: row i of `coordinates` holds the i-th copy of `space`."""

    space: OutputSpace
    coordinates: NDArray[np.intp]


class OutputSpace(ABC):
    """A finite set Y ⊂ R^dim of outputs with the constants of [SBTO24, Assumption 1].

    Parameters
    ----------
    psi : Regularizer, optional
        Ψ; the class attribute `psi` otherwise.
    norm : float, optional
        Order p ≥ 1 of the norm in which ν, γ, λ and the diameter hold; the class attribute otherwise.
    """

    dim: int
    norm: float = 2.0
    psi: Regularizer = SquaredNorm(1.0)
    zero_one: bool = False
    """Whether every vertex is in {0, 1}^dim."""
    equal_norm: bool = False
    """Whether all vertices have the same Euclidean norm."""
    size_parameters: ClassVar[SizeParameters | None] = None
    """How the labels of some data say how large the space is, see `osp_core.spaces.size_parameters`."""
    made_with: tuple[str, dict[str, Any]] | None = None
    """The name and parameters given to `make_space`, where the space was made so."""
    accuracy: float | None = None
    """The gap of Ψ − ⟨θ, ·⟩ at which iterative predictions may stop; None for machine precision."""

    def __init__(self, *, psi: Regularizer | None = None, norm: float | None = None) -> None:
        if psi is not None:
            if not isinstance(psi, Regularizer):
                raise InvalidInputError(f"psi must be a Regularizer such as SquaredNorm(1.0), got {psi!r}.")
            self.psi = psi
        if norm is not None:
            number = isinstance(norm, int | float | np.number) and not isinstance(norm, bool)
            if not (number and (1 <= norm <= LARGEST or norm == np.inf)):
                raise InvalidInputError(f"norm must be the order p ≥ 1 of an ℓp norm, got {norm!r}.")
            self.norm = float(norm)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_arguments(cls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim})"

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("psi", "norm") and "_constants" in self.__dict__:
            raise InvalidInputError(
                f"{name} of {self!r} cannot change once its constants are known. Use space.with_psi(…), or "
                "make the space anew."
            )
        object.__setattr__(self, name, value)

    @property
    def constants(self) -> Constants:
        """What was derived so far from the outputs, Ψ and the norm: see `derived`."""
        kept: Constants | None = self.__dict__.get("_constants")
        if kept is None:
            kept = self.__dict__["_constants"] = Constants(self.psi, self.norm)
        return kept

    def with_psi(self, psi: Regularizer) -> Self:
        """The same outputs with another regularizer: the numbers are those of a space made with it."""
        twin = copy.copy(self)
        twin.__dict__.pop("_constants", None)
        forget_cached_properties(twin)
        OutputSpace.__init__(twin, psi=psi)
        if self.made_with is not None:
            twin.made_with = (self.made_with[0], {**self.made_with[1], "psi": psi})
        return twin

    def accurate_to(self, gap: float | None) -> Self:
        """The same space whose iterative predictions may stop at this gap of Ψ − ⟨θ, ·⟩.

        An inexact prediction costs at most its gap in every guarantee, and fewer oracle calls. None asks for
        machine precision again.
        """
        accuracy = None if gap is None else as_positive(gap, "gap")
        if accuracy == self.accuracy:
            return self
        self.constants  # noqa: B018 — shared by both: none of them depends on the accuracy
        twin = copy.copy(self)
        twin.accuracy = accuracy
        return twin

    @property
    def projection_tol(self) -> float | None:
        """`accuracy` as the engine takes it for ½‖y − θ/scale‖²: relative to 1 + ½‖y‖²."""
        if self.accuracy is None:
            return None
        return self.accuracy / self.psi.scale / (1.0 + 0.5 * self.max_square)

    # --- oracles -------------------------------------------------------------------------------------

    @abstractmethod
    def lmo(self, cost: Array) -> Array:
        """Return a vertex minimising ⟨cost, y⟩; ties are broken the same way every time."""

    def nearest_vertex(self, point: Array) -> Array:
        """Return the vertex nearest to `point` in `norm`; a candidate where `nearest_is_exact` is False."""
        if self.equal_norm and self.norm == 2:
            return self.lmo(-point)
        try:
            candidates = self.vertices()
        except UnsupportedError:
            candidates = np.vstack([self.lmo(-point), self.lmo(self.lmo(-point) - point)])
        return np.array(candidates[np.argmin(self.distance(candidates, point))])

    @derived
    def nearest_is_exact(self) -> bool:
        """Whether `nearest_vertex` is never beaten; if not, the decoder certifies what it can."""
        if type(self).nearest_vertex is not OutputSpace.nearest_vertex or (
            self.equal_norm and self.norm == 2
        ):
            return True
        return _succeeds(self.vertices)

    def distance(self, points: Array, point: Array) -> Array:
        """‖points − point‖ in the norm of the space, row by row."""
        return np.asarray(np.linalg.norm(points - point, ord=self.norm, axis=-1))

    def least_distance(self, point: Array) -> float:
        """A distance from `point` that no output falls short of, cheaper than finding the nearest one."""
        return 0.0

    # --- predictions ---------------------------------------------------------------------------------

    def predict(self, theta: Array) -> Prediction:
        """Return ŷ(θ) = argmax ⟨θ, y⟩ − Ψ(y) over conv(Y), [SBTO24, Prop. 3]."""
        return self.psi.predict(self, theta)

    def centred(self, theta: Array) -> Array:
        """Return scores with the same predictions and losses, near 0 where an offset is large.

        A space whose outputs all have the same mass does not care what is added to all scores, but digits
        are lost beside a large offset. `theta` is a vector or a batch of rows; regularizers call this first.
        """
        # A large offset shows in every score, so one of them is looked at before all of them are.
        first = abs(theta.item(0)) if theta.ndim == 1 else np.abs(theta[:, 0]).max(initial=0.0)
        if first <= FAR * self.psi.scale:
            return theta
        return without_offset(theta) if self.constant_mass else theta

    def project(self, point: Array) -> Prediction:
        """Return the Euclidean projection of `point` on conv(Y); the gap is that of ½‖y − point‖²."""
        from osp_core.frank_wolfe import Quadratic, minimize

        result = minimize(self.lmo, Quadratic(point), tol=self.projection_tol)
        return Prediction(result.point, result.combination, result.gap, result.status, result.lmo_calls)

    def kl_project(self, log_weights: Array) -> Prediction:
        """Return argmin Σ yᵢ ln yᵢ − ⟨log_weights, y⟩ over conv(Y)."""
        raise UnsupportedError(
            f"{self!r} has no entropic prediction; use psi=SquaredNorm(), which every space has."
        )

    def binary_kl_project(self, log_odds: Array) -> Prediction:
        """Return argmin Σ yᵢ ln yᵢ + (1−yᵢ) ln(1−yᵢ) − ⟨log_odds, y⟩ over conv(Y)."""
        raise UnsupportedError(
            f"{self!r} has no prediction for BinaryEntropy; use psi=SquaredNorm(), which every space has."
        )

    def marginals(self, theta: Array) -> Array:
        """Return E[Y] for Y drawn with probability ∝ exp⟨θ, y⟩."""
        weights = np.exp((scores := self._enumerated_scores(theta)) - scores.max())
        return np.asarray(weights @ self.vertices() / weights.sum())

    def log_partition(self, theta: Array) -> float:
        """Return log Σ_y exp⟨θ, y⟩."""
        scores = self._enumerated_scores(theta)
        return float(scores.max() + np.log(np.exp(scores - scores.max()).sum()))

    def _enumerated_scores(self, theta: Array) -> Array:
        try:
            return np.asarray(self.vertices() @ theta)
        except UnsupportedError as error:
            raise UnsupportedError(
                f"{self!r} has no tractable Gibbs marginals; use psi=SquaredNorm(), which every space has."
            ) from error

    def jacobian_product(self, thetas: Array, predictions: Predictions, directions: Array) -> Array:
        """Return the Jacobian of ŷ at every row of `thetas`, times the same row of `directions`.

        Exact up to rounding almost everywhere; where ŷ has a kink, the derivative in an adjoining region. The
        Jacobian is symmetric. An UnsupportedError says that ŷ cannot be differentiated, for no rows as well.
        """
        from osp_core.spaces.jacobian import implicit_product

        return implicit_product(self, thetas, predictions, directions)

    def round_parts(self) -> SpaceParts | None:
        """This space for compiled rounds, see `osp_core.compiled`; None where there is no such form."""
        return None

    # --- combinations --------------------------------------------------------------------------------

    def decompose(self, point: Array) -> ConvexCombination:
        """Write a point of conv(Y) as a convex combination of vertices."""
        from osp_core.frank_wolfe import Quadratic, minimize

        size = 1.0 + float(np.abs(point).max())
        result = minimize(self.lmo, Quadratic(point), distance_tol=1e-12 * size)
        distance = float(np.linalg.norm(result.combination.mean - point))
        if distance > 1e-7 * size:
            raise InvalidInputError(
                f"The point is outside conv(Y) of {self!r}, by a distance of {distance:.3g}."
            )
        return result.combination

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """Draw a random vertex with mean `point`, [SBTO24, Algorithm 1, step 5]."""
        return self.decompose(point).sample(rng)

    # --- membership and labels -----------------------------------------------------------------------

    def is_vertex(self, y: ArrayLike) -> bool:
        """Whether `y` is one of the outputs."""
        vector = np.asarray(y, dtype=np.float64)
        if vector.shape != (self.dim,) or not np.isfinite(vector).all():
            return False
        try:
            combination = self.decompose(vector)
        except InvalidInputError:
            return False
        # An extreme point has no decomposition but itself.
        return len(combination) == 1 and bool(np.array_equal(combination.vertex(0), vector))

    def contains(self, point: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether `point` is within Euclidean distance `tol` of conv(Y)."""
        vector = as_vector(point, self.dim, "point")
        return bool(np.linalg.norm(self.project(vector).point - vector) <= tol)

    def vertices(self) -> Array:
        """Return all outputs, one a row, for spaces small enough to list."""
        raise UnsupportedError(f"The outputs of {self!r} cannot be enumerated.")

    def from_label(self, label: Any) -> Array:
        """Return the vertex of what a person writes: here, the vertex itself."""
        try:
            y = as_vector(label, self.dim, "The output")
        except InvalidInputError as error:
            raise NotAVertexError(str(error)) from error
        if not self.is_vertex(y):
            raise NotAVertexError(f"{np.array2string(y, threshold=12)} is not an output of {self!r}.")
        return y

    def to_label(self, vertex: Array) -> Any:
        """Return what a person would write for `vertex`."""
        return vertex

    def draw(self, point: Array) -> Picture | None:
        """What a point of conv(Y) looks like, for a report; None for a bar chart of its coordinates."""
        return None

    def as_vertex(self, y: Any) -> Array:
        """Return the vertex of an output given as a vertex (a numpy vector) or as a label."""
        if (
            isinstance(y, np.ndarray)
            and y.shape == (self.dim,)
            and y.dtype.kind in "fiub"
            and self.is_vertex(y)
        ):
            return y.astype(np.float64)
        return self.from_label(y)

    # --- constants -----------------------------------------------------------------------------------

    @derived
    def nu(self) -> float:
        """ν: the least distance between two outputs, [SBTO24, Assumption 1 (I)]. Too small is safe."""
        try:
            vertices = self.vertices()
        except UnsupportedError as error:
            raise MissingConstantError(
                f"ν of {self!r} is not known; give nu=…, a lower bound of the distance between two outputs "
                f"in the ℓ{self.norm:g} norm (1 for integer outputs)."
            ) from error
        pairs = (self.distance(vertices[i + 1 :], vertices[i]).min() for i in range(len(vertices) - 1))
        return float(min(pairs, default=np.inf))

    def nu_in(self, p: float) -> float:
        """A lower bound of the distance between two outputs in the ℓp norm."""
        return self.nu / norm_ratio(self.norm, p, self.dim)

    @derived
    def kappa(self) -> float:
        """κ with ‖y‖₂ ≤ κ‖y‖ in the norm of the space."""
        return norm_ratio(2.0, self.norm, self.dim)

    @derived
    def lam(self) -> float:
        """λ of Ψ with respect to `norm`."""
        return self.psi.strong_convexity(self, self.norm)

    @derived
    def lam2(self) -> float:
        """λ of Ψ with respect to ℓ2."""
        return self.psi.strong_convexity(self, 2.0)

    def gibbs_convexity(self, p: float) -> float:
        """λ of the Gibbs entropy in ℓp: 4/D² by Pinsker, sharper than the 1/max‖y‖₁² of the paper."""
        diameter = self.diameter_in(p)
        return 4.0 / diameter**2 if diameter > 0 else np.inf

    @derived
    def _box(self) -> tuple[Array, Array]:
        """The least and greatest value of every coordinate: two oracle calls each."""
        axes = np.eye(self.dim)
        low = np.array([self.lmo(axis) @ axis for axis in axes])
        high = np.array([self.lmo(-axis) @ axis for axis in axes])
        return low, high

    def diameter_in(self, p: float) -> float:
        """An upper bound of the distance between two outputs in the ℓp norm."""
        low, high = self._box
        return float(np.linalg.norm(high - low, ord=p))

    @derived
    def diameter(self) -> float:
        """The diameter of Y in `norm`, never too small."""
        return self.diameter_in(self.norm)

    @derived
    def diameter2(self) -> float:
        """The diameter of Y in ℓ2, never too small."""
        return self.diameter_in(2.0)

    @derived
    def min_entry(self) -> float:
        """The least entry of any output."""
        return float(self._box[0].min())

    @derived
    def max_entry(self) -> float:
        """The greatest entry of any output."""
        return float(self._box[1].max())

    @derived
    def min_mass(self) -> float:
        """The least sum of the entries of an output."""
        return float(self.lmo(np.ones(self.dim)).sum())

    @derived
    def max_mass(self) -> float:
        """The greatest ‖y‖₁ of an output."""
        if self.min_entry >= 0:
            return float(self.lmo(-np.ones(self.dim)).sum())
        return float(np.maximum(np.abs(self._box[0]), np.abs(self._box[1])).sum())

    @derived
    def max_square(self) -> float:
        """The greatest ‖y‖₂² of an output."""
        if self.equal_norm:
            return float(np.square(self.lmo(np.zeros(self.dim))).sum())
        return float(np.square(np.maximum(np.abs(self._box[0]), np.abs(self._box[1]))).sum())

    @derived
    def constant_mass(self) -> bool:
        """Whether all outputs have the same sum of entries."""
        most = float(self.lmo(-np.ones(self.dim)).sum())
        return bool(abs(most - self.min_mass) <= 1e-9 * (1.0 + abs(most)))

    def project_direction(self, direction: Array) -> Array:
        """Return the orthogonal projection of `direction` on span(Y − Y)."""
        return np.asarray(self._span.project(direction))

    @derived
    def _span(self) -> Any:
        from osp_core.geometry.directions import discover_span

        return discover_span(self.lmo, self.dim)

    # --- what the guarantees ask ---------------------------------------------------------------------

    def target_loss(self) -> AffineLoss:
        """The target loss this space is usually judged by."""
        raise MissingConstantError(
            f"{self!r} has no usual target loss; give target=AffineLoss(cost, constant)."
        )

    @property
    def paper_loss_scale(self) -> float:
        """Scale of the Fenchel–Young loss the paper uses on this space."""
        return 1.0

    def decoding_ratio(self, target: AffineLoss) -> float:
        """Return r with E L ≤ r·S for randomized decoding; 4γ/(λν) by [SBTO24, Lemma 4]."""
        return 4.0 * target.gamma(self) / (self.lam * self.nu)

    def gradient_ratio(self) -> float:
        """Return r with ‖ŷ − y‖₂² ≤ r·S; 2/λ₂ by [SBTO24, Prop. 3]."""
        return 2.0 / self.lam2

    def blocks(self) -> Sequence[Block] | None:
        """The factors of a product space, or None."""
        return None

    def at(self, context: Any) -> OutputSpace:
        """The space of a round whose instance is given by `context`."""
        if context is not None:
            raise UnsupportedError(f"{self!r} is the same in every round; it takes no context.")
        return self

    def memory(self) -> dict[str, NDArray[Any]]:
        """What earlier calls left behind that later answers depend on; checkpoints keep it."""
        return {}

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `memory` returned."""
        if memory:
            raise InvalidInputError(f"{self!r} remembers nothing, but was given {', '.join(sorted(memory))}.")

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        """Small instances, for the conformance kit."""
        return ()

    # --- batches -------------------------------------------------------------------------------------

    def lmo_many(self, costs: ArrayLike) -> Array:
        """Return `lmo` of every row."""
        return self._rows(self.lmo, as_rows(costs, self.dim, "costs"))

    def nearest_vertex_many(self, points: ArrayLike) -> Array:
        """Return `nearest_vertex` of every row."""
        return self._rows(self.nearest_vertex, as_rows(points, self.dim, "points"))

    def sample_many(self, points: ArrayLike, rng: np.random.Generator) -> Array:
        """Return one random vertex for every row, independently, each with the row as its mean."""
        return self._rows(lambda point: self.sample_vertex(point, rng), as_rows(points, self.dim, "points"))

    def predict_many(self, thetas: ArrayLike) -> Predictions:
        """Return `predict` of every row."""
        return self.psi.predict_many(self, as_rows(thetas, self.dim, "thetas"))

    def project_many(self, points: ArrayLike) -> Predictions:
        """Return `project` of every row."""
        return Predictions.gather(map(self.project, as_rows(points, self.dim, "points")), self.dim)

    def kl_project_many(self, log_weights: ArrayLike) -> Predictions:
        """Return `kl_project` of every row."""
        return Predictions.gather(
            map(self.kl_project, as_rows(log_weights, self.dim, "log_weights")), self.dim
        )

    def binary_kl_project_many(self, log_odds: ArrayLike) -> Predictions:
        """Return `binary_kl_project` of every row."""
        return Predictions.gather(
            map(self.binary_kl_project, as_rows(log_odds, self.dim, "log_odds")), self.dim
        )

    def _rows(self, function: Callable[[Array], Array], rows: Array) -> Array:
        return np.array([function(row) for row in rows]).reshape(len(rows), self.dim)


check_arguments(OutputSpace)  # __init_subclass__ sees subclasses only


def _succeeds(function: Callable[[], Any]) -> bool:
    try:
        function()
    except UnsupportedError:
        return False
    return True
