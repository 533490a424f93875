"""Output spaces: a finite set Y of structures, known through a linear oracle.

A class with `dim` and `lmo` is enough: what it does not override is answered by the oracle (`by_oracle`), and
constants that it does not state are derived (`constants`), or an error names the one to give.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from osp_core.errors import Array, MissingConstantError, UnsupportedError
from osp_core.geometry.predictions import Prediction
from osp_core.regularizers import Regularizer, SquaredNorm
from osp_core.spaces import batches, by_oracle, constants, jacobian, twins
from osp_core.spaces.blocks import Block
from osp_core.spaces.derived import derived
from osp_core.spaces.size_parameters import SizeParameters
from osp_core.spaces.validation import check_arguments

if TYPE_CHECKING:
    from osp_core.compiled.parts import SpaceParts
    from osp_core.targets import AffineLoss


class OutputSpace(ABC):
    """A finite set Y ⊂ R^dim of outputs with the constants of [SBTO24, Assumption 1].

    Made with another `psi` or `norm` than the class states, where given. Methods get finite float64 vectors
    of length `dim`: `validation` refuses all else before they see it.
    """

    dim: int
    norm: float = 2.0  # the order p of the norm in which ν, γ, λ and the diameter hold
    psi: Regularizer = SquaredNorm(1.0)
    zero_one: bool = False  # whether every vertex is in {0, 1}^dim
    equal_norm: bool = False  # whether all vertices have the same Euclidean norm
    accuracy: float | None = None  # the gap at which iterative predictions may stop; None: machine precision
    made_with: tuple[str, dict[str, Any]] | None = None  # what `make_space` was given
    size_parameters: ClassVar[SizeParameters | None] = None  # how labels of data say how large the space is
    # State the constants you can prove, as in ``nu = 1.0``; the others are derived from the oracle.
    nu, kappa = derived(constants.nu), derived(constants.kappa)
    lam, lam2 = derived(constants.lam), derived(constants.lam2)
    diameter, diameter2 = derived(constants.diameter), derived(constants.diameter2)
    min_entry, max_entry = derived(constants.min_entry), derived(constants.max_entry)
    min_mass, max_mass = derived(constants.min_mass), derived(constants.max_mass)
    max_square, constant_mass = derived(constants.max_square), derived(constants.constant_mass)
    _box, _span = derived(constants.box), derived(constants.span)

    def __init__(self, *, psi: Regularizer | None = None, norm: float | None = None) -> None:
        if psi is not None:
            self.psi = twins.as_psi(psi)
        if norm is not None:
            self.norm = twins.as_order(norm)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_arguments(cls)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim})"

    @abstractmethod
    def lmo(self, cost: Array) -> Array:
        """Return a vertex minimising ⟨cost, y⟩; ties are broken the same way every time."""

    # All below has a default, which asks the oracle. Override what the space can do faster.
    nearest_vertex = by_oracle.nearest_vertex  # in `norm`
    nearest_is_exact = derived(by_oracle.nearest_is_exact)  # or only a candidate

    def predict(self, theta: Array, *, gap: float | None = None) -> Prediction:
        """Return ŷ(θ) = argmax ⟨θ, y⟩ − Ψ(y) over conv(Y), to this gap if one is given, [SBTO24, Prop. 3]."""
        return self.psi.predict(self if gap is None else self.accurate_to(gap), theta)

    # Capabilities: a regularizer asks for the one its prediction needs.
    project = by_oracle.project  # Euclidean
    kl_project = by_oracle.kl_project  # argmin Σ yᵢ ln yᵢ − ⟨log_weights, y⟩
    binary_kl_project = by_oracle.binary_kl_project  # the same with the entropy of every entry
    marginals = by_oracle.marginals  # E[Y] where P(y) ∝ exp⟨θ, y⟩
    log_partition = by_oracle.log_partition  # log Σ_y exp⟨θ, y⟩
    decompose = by_oracle.decompose  # a point of conv(Y) as a combination of vertices
    centred = by_oracle.centred  # scores without an offset that changes nothing
    jacobian_product = jacobian.jacobian_product  # the derivative of ŷ, times directions

    def sample_vertex(self, point: Array, rng: np.random.Generator) -> Array:
        """Draw a random vertex with mean `point`, [SBTO24, Algorithm 1, step 5]."""
        return self.decompose(point).sample(rng)

    def compiled_parts(self) -> SpaceParts | None:
        """This space for compiled rounds, see `osp_core.compiled`; None where there is no such form."""
        return None

    # Membership and labels.
    is_vertex = by_oracle.is_vertex
    contains = by_oracle.contains  # within a distance of conv(Y)
    vertices = by_oracle.vertices  # all outputs, where they are few
    as_vertex = by_oracle.as_vertex  # of a vertex or a label
    from_label = by_oracle.from_label  # from what a person writes to a vertex
    to_label = by_oracle.to_label  # and back
    draw = by_oracle.draw  # what a point looks like, for a report

    # What guarantees and rounds ask.
    paper_loss_scale: float = 1.0  # of the Fenchel–Young loss that the paper uses here

    def target_loss(self) -> AffineLoss:
        """The target loss this space is usually judged by."""
        raise MissingConstantError(
            f"{self!r} has no usual target loss; give target=AffineLoss(cost, constant)."
        )

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

    @classmethod
    def examples(cls) -> Sequence[OutputSpace]:
        """Small instances, for the conformance kit."""
        return ()

    memory, recall = by_oracle.memory, by_oracle.recall  # what later answers depend on, for checkpoints
    distance, least_distance = by_oracle.distance, by_oracle.least_distance
    nu_in, diameter_in = constants.nu_in, constants.diameter_in
    gibbs_convexity, project_direction = constants.gibbs_convexity, constants.project_direction
    with_psi, accurate_to = twins.with_psi, twins.accurate_to
    constants = property(twins.constants)
    __setattr__ = twins.settled
    lmo_many, nearest_vertex_many = batches.lmo_many, batches.nearest_vertex_many
    sample_many, predict_many = batches.sample_many, batches.predict_many
    project_many, kl_project_many = batches.project_many, batches.kl_project_many
    binary_kl_project_many = batches.binary_kl_project_many


check_arguments(OutputSpace)  # __init_subclass__ sees subclasses only
