"""Layers for PyTorch: the Fenchel–Young loss and the regularised prediction of any space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from osp_core.errors import MissingDependencyError
from osp_core.surrogates import fenchel_young as losses

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as error:
    raise MissingDependencyError(
        "osp_core.adapters.torch needs PyTorch: pip install 'online-structured-prediction[torch]'."
    ) from error

from osp_core.errors import Array, InvalidInputError
from osp_core.geometry.predictions import Predictions
from osp_core.spaces import OutputSpace

__all__ = ["FenchelYoungLoss", "RegularizedPrediction"]

REDUCTIONS = ("mean", "sum", "none")


class FenchelYoungLoss(torch.nn.Module):
    """scale·S(θ; y), with the gradient scale·(ŷ − y): one prediction per row, nothing is unrolled.

    Works on every space, its own backward pass included: the loss needs ŷ but not its derivative.

    Parameters
    ----------
    space : OutputSpace
        Registered or your own.
    scale : float
        A positive factor.
    reduction : {"mean", "sum", "none"}
        Over the rows.
    """

    def __init__(self, space: OutputSpace, scale: float = 1.0, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in REDUCTIONS:
            raise InvalidInputError(f"reduction must be one of {REDUCTIONS}, got {reduction!r}.")
        self.loss = losses.FenchelYoungLoss(space, scale)
        self.reduction = reduction

    def forward(self, theta: Any, y: Any) -> Any:
        """Return the loss of scores of shape (…, dim) against outputs.

        Parameters
        ----------
        theta : tensor of shape (…, dim)
        y : tensor of the same shape, or sequence
            A vertex or a label per row.
        """
        values = _FenchelYoung.apply(theta, _as_vertices(self.loss.space, y, theta), self.loss)
        if self.reduction == "none":
            return values
        return values.mean() if self.reduction == "mean" else values.sum()

    def extra_repr(self) -> str:
        return f"{self.loss!r}, reduction={self.reduction!r}"


class RegularizedPrediction(torch.nn.Module):
    """ŷ(θ) = argmax ⟨θ, y⟩ − Ψ(y) over conv(Y) as a layer, row by row.

    The backward pass is exact almost everywhere, see `OutputSpace.jacobian_product`: closed forms on the
    simplex, the hypercube and (SquaredNorm) the permutahedron; elsewhere implicit differentiation on the face
    of ŷ, which for SquaredNorm is a projection on the span of the active set; for GibbsEntropy the
    covariance, where outputs can be listed. It costs a few oracle calls and one least-squares problem a row.
    Second derivatives are not available.

    Parameters
    ----------
    space : OutputSpace
        Registered or your own.

    Raises
    ------
    UnsupportedError
        When a gradient is asked for and ŷ cannot be differentiated there.
    """

    def __init__(self, space: OutputSpace) -> None:
        super().__init__()
        if not isinstance(space, OutputSpace):
            raise InvalidInputError(f"RegularizedPrediction needs a space, got {space!r}.")
        self.space = space

    def forward(self, theta: Any) -> Any:
        """Return ŷ for scores of shape (…, dim)."""
        if theta.requires_grad:
            _check_differentiable(self.space)
        return _Predict.apply(theta, self.space)

    def decode(self, theta: Any) -> Any:
        """Return the vertices nearest to ŷ, without a gradient."""
        points = self.space.predict_many(_rows(theta, self.space)).point
        return _like(self.space.nearest_vertex_many(points), theta)

    def labels(self, theta: Any) -> list[Any]:
        """Return the label of the nearest vertex for every row."""
        return [self.space.to_label(vertex) for vertex in _rows(self.decode(theta), self.space)]

    def extra_repr(self) -> str:
        return f"{self.space!r}, psi={self.space.psi!r}"


class _FenchelYoung(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Any, vertices: Array, loss: losses.FenchelYoungLoss) -> Any:
        values, gradients = loss.values_and_gradients(_rows(theta, loss.space), vertices)
        ctx.save_for_backward(_like(gradients, theta))
        return torch.as_tensor(values, dtype=theta.dtype, device=theta.device).reshape(theta.shape[:-1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Any) -> Any:
        (gradients,) = ctx.saved_tensors
        return upstream.unsqueeze(-1) * gradients, None, None


class _Predict(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Any, space: OutputSpace) -> Any:
        rows = _rows(theta, space)
        ctx.space, ctx.rows, ctx.predictions = space, rows, space.predict_many(rows)
        return _like(ctx.predictions.point, theta)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Any) -> Any:
        directions = _rows(upstream, ctx.space)
        return _like(ctx.space.jacobian_product(ctx.rows, ctx.predictions, directions), upstream), None


def _check_differentiable(space: OutputSpace) -> None:
    """Refuse a space whose ŷ has no derivative now, not in the backward pass: ask for that of no rows."""
    nothing = np.zeros((0, space.dim))
    space.jacobian_product(nothing, Predictions.exact(nothing), nothing)


def _rows(tensor: Any, space: OutputSpace) -> Array:
    """A tensor of shape (…, dim) as a float64 matrix."""
    if not isinstance(tensor, torch.Tensor) or tensor.ndim == 0 or tensor.shape[-1] != space.dim:
        shape = tuple(tensor.shape) if isinstance(tensor, torch.Tensor) else type(tensor).__name__
        raise InvalidInputError(
            f"Scores for {space!r} must be a tensor of shape (…, {space.dim}), got {shape}."
        )
    values: Array = tensor.detach().to("cpu", torch.float64).reshape(-1, space.dim).numpy()
    return values


def _like(rows: Array, tensor: Any) -> Any:
    return torch.as_tensor(rows, dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape)


def _as_vertices(space: OutputSpace, y: Any, theta: Any) -> Array:
    _rows(theta, space)  # refuses scores of a wrong shape with a clear message
    count = theta[..., 0].numel()
    outputs: Sequence[Any]
    if isinstance(y, torch.Tensor) and tuple(y.shape) == tuple(theta.shape):
        outputs = list(_rows(y, space))
    elif isinstance(y, torch.Tensor) and y.ndim == theta.ndim - 1:
        outputs = y.reshape(-1).tolist()  # one label a row, such as a class number
    elif not isinstance(y, torch.Tensor):
        outputs = [y] if theta.ndim == 1 else list(y)
    else:
        raise InvalidInputError(
            f"Outputs must be a tensor of shape {tuple(theta.shape)}, or one label per row; got "
            f"{tuple(y.shape)}."
        )
    if len(outputs) != count:
        raise InvalidInputError(f"There are {count} rows of scores and {len(outputs)} outputs.")
    return np.array([space.as_vertex(output) for output in outputs]).reshape(count, space.dim)
