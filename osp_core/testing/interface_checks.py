"""Checks of the rest of the contract: batches, labels, blocks, validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from osp_core.errors import Array, OspError
from osp_core.spaces import OutputSpace
from osp_core.surrogates.fenchel_young import FenchelYoungLoss
from osp_core.testing.oracle_checks import outside_points
from osp_core.testing.report import NotApplicable
from osp_core.testing.sample import RELATIVE, Sample, is_known, show


def check_many_equals_one(space: OutputSpace, rng: np.random.Generator) -> None:
    """The methods for batches answer as their single twins do, row by row, also for no rows at all."""
    sample = Sample.of(space, rng)
    ties = rng.integers(-1, 2, size=(4, space.dim)).astype(np.float64)
    costs = np.vstack([sample.thetas, ties, np.zeros((1, space.dim))])
    _compare("lmo", costs, space.lmo_many(costs), space.lmo)
    points = sample.hull_points
    _compare("nearest_vertex", points, space.nearest_vertex_many(points), space.nearest_vertex)
    batch, size = space.predict_many(sample.thetas), 1.0 + np.abs(sample.outputs).max()
    for i, (one, other) in enumerate(zip(sample.predictions, batch, strict=True)):
        blur = np.sqrt(one.gap / space.lam2) + np.sqrt(other.gap / space.lam2)
        error = float(np.linalg.norm(one.point - other.point))
        assert error <= blur + RELATIVE * size, (
            f"row {i} of predict_many is {show(other.point)}, but predict({show(sample.thetas[i])}) is "
            f"{show(one.point)}: {error:.3g} apart."
        )
    _check_batch_of_losses(space, sample)
    empty = np.empty((0, space.dim))
    for name in ("lmo_many", "nearest_vertex_many"):
        shape = getattr(space, name)(empty).shape
        assert shape == (0, space.dim), f"{name} of no rows has shape {shape} instead of (0, {space.dim})."
    assert space.predict_many(empty).point.shape == (0, space.dim), (
        "predict_many of no rows has the wrong shape."
    )
    assert space.sample_many(empty, rng).shape == (0, space.dim), (
        "sample_many of no rows has the wrong shape."
    )


def check_labels_round_trip(space: OutputSpace, rng: np.random.Generator) -> None:
    """`from_label` undoes `to_label`, different vertices have different labels, rubbish is refused."""
    sample = Sample.of(space, rng)
    for y in sample.labels:
        label = space.to_label(y.copy())
        back = space.from_label(label)
        assert back.tobytes() == y.tobytes(), (
            f"to_label({show(y)}) is {label!r}, but from_label({label!r}) is {show(back)}."
        )
        for form in (label, y, y.astype(np.int64) if (y == np.round(y)).all() else y):
            vertex = space.as_vertex(form)
            assert vertex.tobytes() == y.tobytes(), f"as_vertex({form!r}) is {show(vertex)}, not {show(y)}."
    for rubbish in (object(), np.full(space.dim, np.nan), np.zeros(space.dim + 1), "no such label", None):
        _check_refused("from_label", space.from_label, rubbish)
    mixture = sample.outputs.mean(axis=0)
    if not is_known(sample.outputs, mixture) and not space.is_vertex(mixture):
        _check_refused("as_vertex", space.as_vertex, mixture, where=", a mixture of outputs,")


def check_blocks(space: OutputSpace, rng: np.random.Generator) -> None:
    """`blocks()` covers every coordinate once; oracle, prediction and loss act on every block alone."""
    blocks = space.blocks()
    if not blocks:
        raise NotApplicable("the space has no blocks")
    sample = Sample.of(space, rng)
    covered = np.sort(np.concatenate([block.coordinates.ravel() for block in blocks]))
    assert np.array_equal(covered, np.arange(space.dim)), f"blocks() covers the coordinates {show(covered)}."
    for i, (theta, prediction) in enumerate(zip(sample.thetas, sample.predictions, strict=True)):
        total, y = 0.0, sample.labels[i % len(sample.labels)]
        for block in blocks:
            for at in block.coordinates:
                part = block.space.predict(theta[at])
                error = float(np.linalg.norm(part.point - prediction.point[at]))
                blur = np.sqrt(part.gap / block.space.lam2) + np.sqrt(prediction.gap / space.lam2)
                assert error <= blur + 1e-8, (
                    f"predict({show(theta)}) is {show(prediction.point[at])} on the coordinates {show(at)}, "
                    "but the block "
                    f"there predicts {show(part.point)}."
                )
                total += float(block.space.psi.loss(block.space, theta[at], y[at], part))
        loss = float(space.psi.loss(space, theta, y, prediction))
        slack = 10 * sample.loss_rounding[i] + 2 * prediction.gap
        assert abs(total - loss) <= slack + RELATIVE * total, (
            f"S(θ; y) = {loss:.10g} is not the sum over blocks, {total:.10g}, at θ = {show(theta)}, y = "
            f"{show(y)}."
        )


def check_inputs_are_validated(space: OutputSpace, rng: np.random.Generator) -> None:
    """NaN, infinities, wrong lengths and non-numbers raise an OspError, and nothing changes by it."""
    sample = Sample.of(space, rng)
    theta, point = sample.thetas[5], sample.hull_points[0]
    before = space.predict(theta).point.tobytes()
    draws = np.random.default_rng(1)
    state = draws.bit_generator.state
    for name in ("lmo", "nearest_vertex", "predict", "decompose", "contains", "project_direction"):
        for bad in _bad_vectors(point):
            _check_refused(name, getattr(space, name), bad)
    for bad in _bad_vectors(point):
        _check_refused("sample_vertex", space.sample_vertex, bad, draws)
    for name in ("lmo_many", "nearest_vertex_many", "predict_many"):
        for rows in (np.full((2, space.dim), np.nan), np.zeros((2, space.dim + 1)), point, "rows"):
            _check_refused(name, getattr(space, name), rows)
    for outside, distance in outside_points(space, sample, rng):
        where = f", a point {distance:g} or more outside conv(Y),"
        _check_refused("decompose", space.decompose, outside, where=where)
        _check_refused("sample_vertex", space.sample_vertex, outside, draws, where=where)
    assert draws.bit_generator.state == state, (
        "sample_vertex drew random numbers for a point it then refused."
    )
    assert space.predict(theta).point.tobytes() == before, (
        f"predict({show(theta)}) differs after bad input was refused: something was left half changed."
    )


def _bad_vectors(good: Array) -> tuple[Any, ...]:
    nan, infinite = good.copy(), good.copy()
    nan[-1], infinite[0] = np.nan, np.inf
    return (nan, infinite, np.append(good, 0.0), good[:-1], good[np.newaxis], "a string", None)


def _check_refused(name: str, method: Callable[..., Any], bad: Any, *args: Any, where: str = "") -> None:
    what = f"{name}({show(bad) if isinstance(bad, np.ndarray) else repr(bad)}){where}"
    try:
        answer = method(bad, *args)
    except OspError:
        return
    except Exception as error:
        raise AssertionError(
            f"{what} raised {type(error).__name__}: {error}; it must raise an OspError."
        ) from error
    raise AssertionError(f"{what} was accepted and gave {answer!r}; it must raise an OspError.")


def _compare(name: str, rows: Array, batch: Array, single: Callable[[Array], Array]) -> None:
    assert batch.shape == rows.shape, f"{name}_many has shape {batch.shape} instead of {rows.shape}."
    for row, answer in zip(rows, batch, strict=True):
        one = single(row)
        assert one.tobytes() == np.ascontiguousarray(answer).tobytes(), (
            f"{name}_many answers {show(answer)} where {name} answers {show(one)}, for {show(row)}."
        )


def _check_batch_of_losses(space: OutputSpace, sample: Sample) -> None:
    loss = FenchelYoungLoss(space)
    rows = np.arange(0, len(sample.thetas), 4)
    ys = sample.labels[rows % len(sample.labels)]
    values, gradients = loss.values_and_gradients(sample.thetas[rows], ys)
    for row, (i, y) in enumerate(zip(rows, ys, strict=True)):
        theta = sample.thetas[i]
        value, gradient = loss.at(theta, sample.predictions[i], y)
        slack = sample.loss_rounding[i] + 2 * sample.predictions[i].gap + RELATIVE * value
        assert abs(values[row] - value) <= slack, (
            f"values_and_gradients gives the loss {values[row]:.12g} where value gives {value:.12g}, for θ = "
            f"{show(theta)}."
        )
        blur = 2 * np.sqrt(sample.predictions[i].gap / space.lam2) + RELATIVE * (1.0 + np.abs(y).max())
        assert np.linalg.norm(gradients[row] - gradient) <= blur, (
            f"values_and_gradients gives the gradient {show(gradients[row])} where gradient gives "
            f"{show(gradient)}."
        )
