"""What a model owes: scores of an input, and the gradient in the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from osp_core.errors import Array
from osp_core.models.gradients import Gradient


class Model(ABC):
    """How an input and the weights make scores."""

    @abstractmethod
    def shape(self, dim: int) -> tuple[int, ...]:
        """The shape of the weights for a space of dimension `dim`."""

    @abstractmethod
    def read(self, x: Any, dim: int) -> Any:
        """Check an input and bring it into the form the other methods take."""

    @abstractmethod
    def size(self, x: Any) -> float:
        """The norm of a read input that the feature bound C bounds."""

    @abstractmethod
    def scores(self, weights: Array, x: Any) -> Array:
        """θ of a read input, linear in the weights."""

    @abstractmethod
    def gradient(self, score_gradient: Array, x: Any) -> Gradient:
        """The gradient in the weights, given that in the scores."""


def is_sparse(x: ArrayLike | Any) -> bool:
    """Whether an input is of scipy.sparse."""
    # Asking the type's module avoids importing scipy.sparse for dense inputs.
    return type(x).__module__.startswith("scipy.sparse")
